import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wafRecord } from '../../../../bench/events/waf-record.ts';
import { ask, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';

let app: RunningApp;
let sent = 0;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

/** So many records of the last minutes, each once. */
function newRecords(count: number): readonly string[] {
  sent += count;
  return Array.from({ length: count }, (_, index) => wafRecord(sent - index, Date.now() - 60_000 - (index % 1_000)).toString());
}

const LETTER = '{"no":"time"}';

const DOORS = {
  '/services/collector/event': {
    bodyOf: (records: readonly string[]) => records.map((one) => `{"event":${one}}`).join(''),
    type: 'text/plain',
  },
  '/services/collector/raw': { bodyOf: (records: readonly string[]) => records.join('\n'), type: 'text/plain' },
  '/_bulk': {
    bodyOf: (records: readonly string[]) => records.map((one) => `{"index":{"_index":"waf"}}\n${one}\n`).join(''),
    type: 'application/x-ndjson',
  },
  '/ingest/firehose': {
    bodyOf: (records: readonly string[]) =>
      JSON.stringify({ records: records.map((one) => ({ data: Buffer.from(one).toString('base64') })) }),
    type: 'application/json',
  },
} as const;

type Path = keyof typeof DOORS;

async function send(path: Path, records: readonly string[]): Promise<number> {
  const { bodyOf, type } = DOORS[path];
  const init = { method: 'POST', headers: { 'content-type': type }, body: bodyOf(records) };
  return (await ask(app, `${path}?mapping=aws-waf&zone=7`, init)).status;
}

const stored = async (): Promise<number> => (await search(app, lastHour({ pageSize: 1 }))).body.total;

describe.each(Object.keys(DOORS) as Path[])('%s takes records of a mapping', (path) => {
  // In place; in one task on a thread; a first piece and the others behind it.
  test.each([1, 500, 6_000])('%i of them, each once', async (count) => {
    const records = newRecords(count);
    const before = await stored();
    expect([await send(path, records), await send(path, records)]).toEqual([200, 200]);
    expect((await stored()) - before).toBe(count);
  });

  test('with letters among them wherever these stand', async () => {
    const records = newRecords(5_000);
    const before = await stored();
    const withLetters = records.flatMap((one, index) => (index % 1_000 === 0 ? [LETTER, one] : [one]));
    expect(await send(path, [...withLetters, LETTER])).toBe(200);
    expect((await stored()) - before).toBe(5_000);
  });
});

test('many large bodies at the same time are all taken in', async () => {
  const before = await stored();
  const bodies = Array.from({ length: 8 }, () => newRecords(2_500));
  expect(new Set(await Promise.all(bodies.map((records) => send('/services/collector/raw', records))))).toEqual(new Set([200]));
  expect((await stored()) - before).toBe(20_000);
});

test('a record that is longer than any event is a letter with its start, beside the others', async () => {
  const before = await stored();
  expect(await send('/services/collector/raw', [...newRecords(10), 'x'.repeat(3 * 1024 * 1024), ...newRecords(10)])).toBe(200);
  expect((await stored()) - before).toBe(20);
  const { body } = await ask(app, '/ingest/dead-letters?limit=1000');
  const long = body.deadLetters.filter(({ replayable }: { readonly replayable: boolean }) => !replayable);
  expect(long).toMatchObject([
    { mapping: 'aws-waf', text: 'x'.repeat(64 * 1024), reason: 'the record has 3145728 bytes: at most 1048576 are allowed' },
  ]);
});
