import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { startDemoFile } from '../../../ingest/demo/demo-file.ts';
import { MAX_REJECTED } from '../../../ingest/upload/intake-report.ts';
import { MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { type EventStore, silentLogger } from '../../../store/event-store.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { type AnsweredRow, rowsOf } from '../../fixtures/answered-rows.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { HOUR, NOW } from '../event/raw-events.ts';
import { mappingOf } from '../mapping/mapped.ts';

const RETENTION_MS = 72 * HOUR;
const DAY = 24 * HOUR;
/** The newest record of most logs here. */
const THEN = NOW - 9 * DAY - 3 * HOUR;
const TEXT = 'timestamp: {path: t, time: unix}\nid: [id]\nzone: {path: site, table: {shop: 7}}\nua: id\nitems: records\nleaveOut: skip';
const threads = new MappingThreads(new Map([['own', { mapping: mappingOf(TEXT), file: '', text: TEXT, isPreset: false }]]));
const MAPPED = { retentionMs: RETENTION_MS, threads, mapping: 'own' };

afterAll(() => threads.close());

interface Told {
  readonly texts: string[];
  readonly details: Record<string, unknown>[];
}

/** Takes a file in, and resolves with what it tells. */
async function takenIn(store: EventStore, file: string, now: () => number = () => NOW): Promise<Told> {
  const told: Told = { texts: [], details: [] };
  const tell = (details: object, text: string): void => {
    told.texts.push(text.replaceAll(file, 'FILE'));
    told.details.push(details as Record<string, unknown>);
  };
  const feed = startDemoFile({
    ...{ ...MAPPED, store, now, file },
    logger: { info: tell, warn: tell, error: tell },
  });
  await feed.filled.catch(() => undefined);
  await feed.stop();
  return told;
}

function fileOf(content: string | Uint8Array): string {
  const file = join(temporaryFolder(), 'waf.log');
  writeFileSync(file, content);
  return file;
}

const newStore = () => storeIn(temporaryFolder(), { now: () => NOW });

/** A record that is so many milliseconds older than the newest. */
function record(id: string, olderMs = 0, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ id, t: THEN - olderMs, ...more });
}

interface Row {
  readonly zone: number;
  readonly id: string;
  readonly timeMs: number;
}

async function rowsIn(store: EventStore): Promise<readonly AnsweredRow[]> {
  const result = await store.search({
    zones: 'all',
    window: { fromMs: NOW - RETENTION_MS, toMs: NOW + RETENTION_MS },
    where: { kind: 'everything' },
    page: { index: 0, size: 500 },
    output: { kind: 'rows' },
  });
  return await rowsOf(result);
}

/** The oldest first, then by id. */
async function eventsOf(store: EventStore): Promise<readonly Row[]> {
  const rows = (await rowsIn(store)).map(({ zoneId, logId, timestamp }) => ({ zone: zoneId, id: logId, timeMs: timestamp }));
  return rows.toSorted((one, other) => one.timeMs - other.timeMs || (one.id < other.id ? -1 : 1));
}

/** An event that is so much older than the present. */
const row = (id: string, olderMs = 0, zone = 1): Row => ({ zone, id, timeMs: NOW - olderMs });

const TWO = [record('old', HOUR), record('new')];
const TWO_ROWS = [row('old', HOUR), row('new')];

describe('a demo file', () => {
  test.each<[string, string | Uint8Array]>([
    ['lines', TWO.join('\n')],
    ['an array', `[${TWO.join(',\n')}]`],
    ['an envelope over several lines', `{"records":[\n${TWO.join(',\n')}]}`],
    ['lines, packed by gzip', gzipSync(TWO.join('\n'))],
    ['lines, packed by zstd', zstdCompressSync(TWO.join('\n'))],
    ['the newest record first', TWO.toReversed().join('\n')],
  ])('of %s is moved so that its newest record is now', async (_, content) => {
    const store = await newStore();
    const { texts } = await takenIn(store, fileOf(content));
    expect(await eventsOf(store)).toEqual(TWO_ROWS);
    expect(texts).toEqual([
      'the records of FILE: accepted 2 (0 stored already), expired 0, rejected 0, left out 0; all times were moved ahead by 9 d 3 h',
    ]);
  });

  test.each<[string, number, string]>([
    ['from the future', -2 * HOUR - 60_000, 'moved back by 2 h 1 min'],
    ['of now', 0, 'moved ahead by 0 s'],
    ['of a moment ago', 1_234, 'moved ahead by 1 s 234 ms'],
  ])('%s is moved, too', async (_, olderMs, amount) => {
    const store = await newStore();
    const { texts, details } = await takenIn(store, fileOf(JSON.stringify({ id: 'a', t: NOW - olderMs })));
    expect(await eventsOf(store)).toEqual([row('a')]);
    expect([details[0]?.['movedByMs'], texts[0]]).toEqual([olderMs, expect.stringContaining(amount)]);
  });

  test('leaves the logs as they are, and takes zone 1 where the mapping has none', async () => {
    const store = await newStore();
    const text = `{ "id":"a","t":${THEN},  "site":"shop" }`;
    await takenIn(store, fileOf(`${text}\n${record('b')}`));
    expect(await eventsOf(store)).toEqual([row('a', 0, 7), row('b')]);
    expect((await rowsIn(store)).map(({ logJson }) => logJson)).toContain(text);
  });

  test('has its counts told, and the first three reasons, of which it says each once', async () => {
    const store = await newStore();
    const rejected = ['{"id":1}', '{"id":2}', record('t', 0, { t: 'x' }), record('t', 0, { t: 'y' }), record('t', 0, { t: 'z' })];
    const others = [record('left', 0, { skip: true }), record('expired', 80 * HOUR), record('new'), record('new')];
    const { texts, details } = await takenIn(store, fileOf([...rejected, ...others].join('\n')));
    expect(texts).toEqual([
      'the records of FILE: accepted 2 (1 stored already), expired 1, rejected 5, left out 1; all times were moved ahead by 9 d 3 h',
      'a record of FILE was rejected: timestamp is absent: the record has no time where the mapping looks for it',
      'a record of FILE was rejected: timestamp is "x": a time in the form unix (1795678975) is required',
      'a record of FILE was rejected: timestamp is "y": a time in the form unix (1795678975) is required',
    ]);
    expect(details[0]).toMatchObject({ accepted: 2, duplicates: 1, expired: 1, rejectedCount: 5, leftOut: 1, movedByMs: NOW - THEN });
    const letters = await store.listDeadLetters({ zones: 'all', limit: 10 });
    expect(letters.map(({ bytes, source, mapping, zoneId }) => [Buffer.from(bytes).toString(), source, mapping, zoneId])).toEqual(
      rejected.map((bytes) => [bytes, 'file', 'own', 1]),
    );
  });

  test.each<[string, string | Uint8Array, readonly Row[], string]>([
    ['empty', '', [], 'none of them is an event'],
    ['without an event', '{"id":1}', [], 'none of them is an event'],
    ['that ends in an array', `[${TWO[0]},${TWO[1]},{"t":`, TWO_ROWS, 'FILE was not read to its end: the input ends inside a JSON array'],
    ['of damaged gzip', gzipSync('').subarray(0, 12), [], 'FILE was not read to its end: the gzip data is damaged or cut off'],
  ])('%s is taken in as far as it goes', async (_, content, events, told) => {
    const store = await newStore();
    const { texts } = await takenIn(store, fileOf(content));
    expect([await eventsOf(store), texts.join('\n')]).toEqual([events, expect.stringContaining(told)]);
  });

  test('of another product is given up behind the records that an upload may have rejected', async () => {
    const store = await newStore();
    const others = Array.from({ length: MAX_REJECTED + 1 }, (_, n) => `{"n":${n}}\n`).join('');
    const { texts } = await takenIn(store, fileOf(others + record('a')));
    const told = `FILE was not read to its end: line ${MAX_REJECTED + 1}: more than ${MAX_REJECTED} records would be rejected`;
    expect(texts.at(-1)).toContain(told);
    expect([(await store.stats()).events, (await store.stats()).deadLetters]).toEqual([0, MAX_REJECTED]);
  });

  test('that is written to is taken in as it was at first', async () => {
    const store = await newStore();
    const file = fileOf(`${TWO.join('\n')}\n`);
    await takenIn(store, file, () => {
      appendFileSync(file, `${record('later', -HOUR)}\n`);
      return NOW;
    });
    expect(await eventsOf(store)).toEqual(TWO_ROWS);
  });
});

describe('a second start', () => {
  test('moves by the same amount, so that each record is there once, also those that were appended', async () => {
    const store = await newStore();
    const file = fileOf(`${TWO.join('\n')}\n`);
    await takenIn(store, file, () => NOW - HOUR);
    appendFileSync(file, `${record('later', -HOUR / 2)}\n`);
    const { texts } = await takenIn(store, file);
    expect(await eventsOf(store)).toEqual([row('old', 2 * HOUR), row('new', HOUR), row('later', HOUR / 2)]);
    expect(texts[0]).toContain('accepted 3 (2 stored already)');
  });

  test.each<[string, number]>([
    ['would be past the retention', 200 * HOUR],
    ['would be in the future', -HOUR],
  ])('moves by another amount where the newest record %s', async (_, olderMs) => {
    const store = await newStore();
    const file = fileOf(record('first'));
    await takenIn(store, file);
    writeFileSync(file, record('second', olderMs));
    await takenIn(store, file);
    expect(await eventsOf(store)).toEqual([row('first'), row('second')]);
  });

  test('of another file does not count the amount of the first', async () => {
    const store = await newStore();
    await takenIn(store, fileOf(record('first')));
    await takenIn(store, fileOf(record('second', HOUR)));
    expect(await eventsOf(store)).toEqual([row('first'), row('second')]);
  });

  test('has what a start that was stopped did not take in', async () => {
    const store = await newStore();
    const file = fileOf(Array.from({ length: 300 }, (_, index) => record(`${index}`.padStart(3, '0'), index)).join('\n'));
    const feed = startDemoFile({ ...MAPPED, store, now: () => NOW, logger: silentLogger, file });
    await feed.stop();
    await takenIn(store, file);
    expect(await eventsOf(store)).toHaveLength(300);
  });
});

test('a store that refuses the events of a demo file is told', async () => {
  const refused = new Error('the disk is full');
  const store = alteredStore(await newStore(), { append: async () => Promise.reject(refused) });
  const { texts, details } = await takenIn(store, fileOf(TWO.join('\n')));
  expect([texts, details]).toEqual([['the demo file could not be taken in'], [{ err: refused }]]);
});
