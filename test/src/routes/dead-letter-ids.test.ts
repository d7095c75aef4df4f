import { expect, onTestFinished, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { type Answer, ask, ingest, type RunningApp, startApp } from '../running-app.ts';

/** A program with these messages as dead letters, and their ids. */
async function appWithLetters(...messages: readonly string[]): Promise<{ readonly app: RunningApp; readonly ids: readonly string[] }> {
  const app = await startApp();
  onTestFinished(() => app.stop());
  await ingest(app, messages.map((message) => `${message}\n`).join(''));
  const { body } = await ask(app, '/ingest/dead-letters');
  return { app, ids: body.deadLetters.map(({ id }: { id: string }) => JSON.stringify(id)) };
}

function post(app: RunningApp, change: 'replay' | 'discard', ids: readonly (string | undefined)[]): Promise<Answer> {
  const body = `{"ids":[${ids.join(',')}]}`;
  return ask(app, `/ingest/dead-letters/${change}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

test('an id is a text, by which a letter is listed after another, replayed and discarded', async () => {
  const { app, ids } = await appWithLetters('one', 'two', 'three');
  const idsOf = (letters: readonly { readonly id: string }[]) => letters.map(({ id }) => JSON.stringify(id));
  const { body } = await ask(app, `/ingest/dead-letters?afterId=${JSON.parse(ids[0] ?? '')}&limit=1`);
  expect([body.deadLetters[0].text, JSON.stringify(body.nextAfterId)]).toEqual(['two', ids[1]]);
  expect(body.nextAfterId).toMatch(derived.letterIds.form);
  expect((await post(app, 'replay', [ids[1], ids[1]])).body).toEqual({ replayed: 0, stillRejected: 1, notReplayable: 0 });
  expect((await post(app, 'discard', [ids[2], ids[0], ids[2]])).body).toEqual({ discarded: 2 });
  expect(idsOf((await ask(app, '/ingest/dead-letters')).body.deadLetters)).toEqual([ids[1]]);
});

const WRONG = [...derived.letterIds.wrong, '""', '"x"', '" 1"', '"1.0"', '"-1"', 'true', 'null', '{}', '0.5'];

test.each(WRONG)('%s names no letter', async (id) => {
  const { app } = await appWithLetters('one');
  const shown = id === '{}' ? 'an object' : id;
  const message = `must be the id of a dead letter, ${app.store.deadLetterIds.allowed}, not ${shown}`;
  for (const change of ['replay', 'discard'] as const) {
    const { status, body } = await post(app, change, [JSON.stringify(derived.letterIds.unknown), id]);
    expect([status, body.errorKey, body.errors]).toEqual([400, 'request.invalid', [{ field: 'ids[1]', message }]]);
  }
  if (id.startsWith('"')) {
    const { status, body } = await ask(app, `/ingest/dead-letters?afterId=${encodeURIComponent(JSON.parse(id))}`);
    expect([status, body.errors]).toEqual([400, [{ field: 'afterId', message }]]);
  }
  expect((await ask(app, '/ingest/dead-letters')).body.deadLetters).toHaveLength(1);
});
