import { setTimeout as ticks } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CheckLine } from '../../../store/event-store.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
  await ingest(app, eventLine());
});

afterEach(() => app.stop());

/** The store's next check waits at its beginning. */
function holdNextCheck() {
  const { store } = app;
  const check = store.check.bind(store);
  const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  store.check = async function* () {
    store.check = check;
    began.resolve();
    await end.promise;
    yield* check();
  };
  return { began: began.promise, end: end.resolve };
}

const kindsOf = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).kind);

test('a check ends with its summary, and another one may follow', async () => {
  for (let round = 0; round < 2; round += 1) {
    const { status, headers, text } = await ask(app, '/check');
    expect([status, headers.get('content-type'), kindsOf(text).at(-1)]).toEqual([200, 'application/x-ndjson', 'summary']);
  }
});

test('a second check is refused while one is under way, and the first is not disturbed', async () => {
  const { began, end } = holdNextCheck();
  const first = ask(app, '/check');
  await began;
  const { status, body } = await ask(app, '/check');
  expect([status, body.errorKey, body.detail]).toEqual([
    409,
    'check.refused',
    'another check is under way; begin this one when it has ended',
  ]);
  end();
  expect(kindsOf((await first).text).at(-1)).toBe('summary');
});

/** The store's next check tells of these bytes, and then fails. */
function failNextCheck(lines: readonly CheckLine[]): void {
  const { store } = app;
  const check = store.check.bind(store);
  store.check = async function* () {
    store.check = check;
    yield* lines;
    // What there is by now is sent.
    await ticks();
    throw new Error('a defect');
  };
}

test.each([
  [
    'fails before its first line',
    async () => {
      failNextCheck([]);
      expect((await ask(app, '/check')).status).toBe(500);
    },
  ],
  [
    'fails behind it',
    async () => {
      failNextCheck([{ kind: 'progress', bytes: 1, totalBytes: 2 }]);
      await expect(ask(app, '/check')).rejects.toThrow();
      await expect.poll(() => app.log.some(({ msg }) => msg === 'a check broke off')).toBe(true);
    },
  ],
  [
    'is left by its caller',
    async () => {
      const { began, end } = holdNextCheck();
      const leaving = new AbortController();
      const left = fetch(`${app.url}/check`, { signal: leaving.signal });
      await began;
      leaving.abort();
      await expect(left).rejects.toThrow();
      end();
    },
  ],
])('a check that %s keeps no other from being made', async (_name, fail) => {
  await fail();
  await expect.poll(async () => (await ask(app, '/check')).status).toBe(200);
});
