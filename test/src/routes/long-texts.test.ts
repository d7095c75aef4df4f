import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../../query/event-fields.ts';
import { derived } from '../../fixtures/derived.ts';
import { tuningsOf } from '../../fixtures/test-store.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const STORED = 65_536;

/** A text of each field that is longer than what is stored of it. Its stored part is the same where the text ends otherwise. */
const WHOLE = Object.fromEntries(
  [...DIMENSIONS, 'ruleName'].map((name) => [name, name === 'asn' ? '7'.repeat(70_000) : `${name}?É${'🦆x'.repeat(14_000)}end`]),
);
const STORED_TEXTS = Object.fromEntries(
  Object.entries(WHOLE).map(([name, text]) => [
    name,
    Buffer.from(text)
      .subarray(0, STORED)
      .toString()
      .replace(/\ufffd+$/, ''),
  ]),
);

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  const lines = [
    eventLine({ logId: 'own', ...WHOLE, log: { ua: 'taken', a: 1 } }),
    eventLine({ logId: 'whole', ...WHOLE, log: undefined }),
    eventLine({ logId: 'short', ip: '192.0.2.1', ua: 'short', log: {} }),
  ];
  expect((await ingest(app, lines.join(''))).body).toMatchObject({ accepted: 3, repaired: 0, rejectedCount: 0 });
});

afterAll(() => app.stop());

async function found(rest: Readonly<Record<string, unknown>>): Promise<string[]> {
  const { body } = await search(app, lastHour(rest));
  return body.rows.map(({ logId }: { logId: string }) => logId).sort();
}

describe.each(tuningsOf(['unflushed', 'flushed']))('texts that are longer than 64 KiB, %s', (state) => {
  beforeAll(async () => {
    if (state === 'flushed') await app.store.settle('flush');
  });

  test('are answered by their first bytes in fields, and whole in the log', async () => {
    const { body } = await search(app, lastHour({ filters: [{ field: 'ip', op: 'wildcard', value: ['ip*'] }] }));
    const rows = new Map(body.rows.map((row: { logId: string }) => [row.logId, row]));
    expect(rows.get('own')).toMatchObject({ fields: STORED_TEXTS, log: { ...WHOLE, ua: 'taken', a: 1 } });
    expect(rows.get('whole')).toMatchObject({ fields: STORED_TEXTS, log: { logId: 'whole', ...WHOLE } });
    expect(rows.size).toBe(2);
  });

  test.each(DIMENSIONS)('are found in %s by all of the text, by its stored part and by none that is shorter', async (field) => {
    const [whole = '', stored = ''] = [WHOLE[field], STORED_TEXTS[field]];
    for (const [op, value, ids] of [
      ['eq', whole, ['own', 'whole']],
      ['in', stored, ['own', 'whole']],
      ['eq', `${stored}🦆`, ['own', 'whole']],
      ['eq', Array.from(stored).slice(0, -1).join(''), []],
      ['contains', Array.from(whole).slice(0, 100).join(''), ['own', 'whole']],
      ['wildcard', '*end', []],
    ] as const) {
      expect([op, await found({ filters: [{ field, op, value: [value] }] })]).toEqual([op, [...ids]]);
    }
    expect(await found({ filters: [{ field, op: 'wildcard', value: [`${field === 'asn' ? '' : field}*`] }] })).toEqual(['own', 'whole']);
  });

  test('are groups by their stored part', async () => {
    const { body } = await search(app, lastHour({ groupBy: ['url'] }));
    expect(body.groups.map(({ key, count }: { key: object; count: number }) => [key, count])).toEqual([
      [{ url: STORED_TEXTS['url'] }, 2],
      [{ url: eventUrl() }, 1],
    ]);
  });

  test('come out of the feed as events that are the same when they are sent in again', async () => {
    const { text } = await ask(app, '/shield/event-logs/7/feed?limit=10');
    const lines = text.trim().split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line)).find(({ logId }) => logId === 'own')).toMatchObject({
      ...STORED_TEXTS,
      log: { url: WHOLE['url'] },
    });
    expect((await ingest(app, lines.join('\n'))).body).toMatchObject({ accepted: 3, duplicates: derived.duplicates(3), rejectedCount: 0 });
  });
});

/** The url of the event that has none of its own here. */
function eventUrl(): string {
  return JSON.parse(eventLine()).url ?? '';
}

test('are counted', async () => {
  const { text } = await ask(app, '/metrics');
  expect(text).toContain(`shieldlog_cut_texts_total{source="http"} ${2 * Object.keys(WHOLE).length}\n`);
});
