import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decompressed } from '../../../ingest/upload/decompress.ts';
import { takeInEvents } from '../../../ingest/upload/event-intake.ts';
import { IntakeError } from '../../../ingest/upload/intake-report.ts';
import type { EventStore } from '../../../store/event-store.ts';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { HOUR, inChunks, NOW, RULES, rawEvent } from '../event/raw-events.ts';

const newStore = () => storeIn(temporaryFolder(), { now: () => NOW });
const event = (logId: string, more = {}) => rawEvent({ logId, ...more });

const takeIn = (store: EventStore, text: string | Buffer, chunkBytes = 64 * 1024, more = {}) =>
  takeInEvents(inChunks(Buffer.from(text), chunkBytes), { store, source: 'http', ...RULES, ...more });

async function storedIds(store: EventStore): Promise<string[]> {
  const window = { fromMs: NOW - 72 * HOUR, toMs: NOW + HOUR };
  const plan = { zones: [7], window, where: { kind: 'everything' }, page: { index: 0, size: 500 }, output: { kind: 'rows' } } as const;
  const result = await store.search(plan);
  return (await rowsOf(result)).map(({ logId }) => logId);
}

async function contentOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

test('any number of NULs before a line is dropped before its length is counted', async () => {
  const store = await newStore();
  const nuls = Buffer.alloc(3 * 1024 * 1024);
  const body = Buffer.concat([Buffer.from(`${event('a')}\n`), nuls, Buffer.from(`${event('b')}\nno event\n`), nuls]);
  const report = await takeIn(store, body, 100_000);
  expect(report).toMatchObject({ accepted: 2, rejected: [{ index: 2, line: 3 }] });
  expect(await storedIds(store)).toEqual(['a', 'b']);
});

describe('events are taken in from', () => {
  test.each<[what: string, text: string]>([
    ['lines', `${event('a')}\n${event('b')}\n`],
    ['lines without a newline at the end', `${event('a')}\n${event('b')}`],
    ['lines of CRLF, with a byte order mark and blank lines', `\ufeff${event('a')}\r\n\r\n  \t\n${event('b')}\r\n\n`],
    ['lines after NULs', `\0\0\0${event('a')}\n\0\0\ufeff${event('b')}\r\n\0\n\0 \n\0`],
    ['an array after NULs', `\0\n\0\0[${event('a')},${event('b')}]`],
    ['an array', `[${event('a')},${event('b')}]`],
    ['an array over many lines', `\ufeff \n[\n  ${event('a').replaceAll(',', ',\n')}\n  ,\r\n ${event('b')}\n]\n`],
  ])('%s', async (_what, text) => {
    for (const chunkBytes of [1, 7, 1_000_000]) {
      const store = await newStore();
      expect(await takeIn(store, text, chunkBytes)).toEqual({
        accepted: 2,
        duplicates: 0,
        expired: 0,
        repaired: 0,
        rejected: [],
        rejectedCount: 0,
      });
      expect(await storedIds(store)).toEqual(['a', 'b']);
    }
  });

  test.each<[what: string, text: string]>([
    ['nothing', ''],
    ['blank lines', '\n\r\n \n'],
    ['an empty array', ' [ ] '],
  ])('%s, which are none', async (_what, text) => {
    const store = await newStore();
    expect(await takeIn(store, text)).toEqual({ accepted: 0, duplicates: 0, expired: 0, repaired: 0, rejected: [], rejectedCount: 0 });
  });
});

test.each([
  ['lines behind blank lines', ['\n\n', ' \r\n', 'broken\n'], 4],
  ['an array behind blank lines', ['\n', '\n[\n', '1]'], 4],
])('the line of a rejected event is that of the whole input, however it is cut: %s', async (_what, chunks, line) => {
  for (const input of [chunks, [chunks.join('')]]) {
    const store = await newStore();
    const options = { ...RULES, store, source: 'http' } as const;
    const report = await takeInEvents(Readable.from(input.map((chunk) => Buffer.from(chunk))), options);
    expect(report.rejected.map((rejected) => rejected.line)).toEqual([line]);
  }
});

test('rejected events are listed with their indexes and kept, the ones beside them are stored', async () => {
  const store = await newStore();
  const lines = [
    event('a'),
    'broken',
    '',
    event('b', { shieldZoneId: 'x' }),
    event('old', { timestamp: NOW - 80 * HOUR }),
    event('c'),
    '[]',
  ];
  const report = await takeIn(store, lines.join('\n'));
  expect(report).toMatchObject({ accepted: 2, expired: 1, rejectedCount: 3 });
  expect(report.rejected.map(({ index, reason }) => [index, reason.slice(0, 20)])).toEqual([
    [1, 'the event is not JSO'],
    [2, 'shieldZoneId is "x":'],
    [5, 'the event is []: a J'],
  ]);
  expect(await storedIds(store)).toEqual(['a', 'c']);
  const letters = await store.listDeadLetters({ zones: 'all', limit: 10 });
  expect(letters.map(({ bytes, source }) => [Buffer.from(bytes).toString(), source])).toEqual([
    ['broken', 'http'],
    [lines[3], 'http'],
    ['[]', 'http'],
  ]);
});

test('the elements of an array that are no events are rejected one by one', async () => {
  const store = await newStore();
  const report = await takeIn(store, `[1, ${event('a')}, "],[", , ${event('b')}, {"x":[}], ] and more`, 5);
  expect(report).toMatchObject({ accepted: 2, rejectedCount: 6 });
  expect(report.rejected.map(({ index }) => index)).toEqual([0, 2, 3, 5, 6, 7]);
});

test('an input sent twice is stored once, also where the events have no ids', async () => {
  const store = await newStore();
  const text = Array.from({ length: 50 }, (_, index) => rawEvent({ logId: undefined, url: `/${index}` })).join('\n');
  await takeIn(store, text);
  await takeIn(store, text);
  await takeIn(store, `[${text.replaceAll('\n', ' , ')}]`);
  expect(await storedIds(store)).toHaveLength(50);
});

test('an event of 3 MB and one too long for the memory keep their start, length and hash, however they are cut', async () => {
  const store = await newStore();
  const large = event('large', { log: { filling: 'é'.repeat(1_500_000) } });
  for (const chunkBytes of [64 * 1024, 5_000_000, 999_983]) {
    expect(await takeIn(store, `${event('a')}\n${large}\n${event('b')}`, chunkBytes)).toMatchObject({ accepted: 2, rejectedCount: 1 });
  }
  await takeIn(store, `[${event('a')}, ${large}  ,${event('b')}]`);
  const [letter, ofArray, ...others] = await store.listDeadLetters({ zones: 'all', limit: 9 });
  const bytes = Buffer.from(large);
  expect(others).toEqual([]);
  expect(letter).toMatchObject({
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    isWhole: false,
    zoneId: null,
    reason: `the event has ${bytes.length} bytes: at most 1048576 are allowed`,
  });
  expect(ofArray?.sizeBytes).toBe(bytes.length + 2);
  const kept = Buffer.from(letter?.bytes ?? []);
  expect(kept.equals(bytes.subarray(0, kept.length))).toBe(true);
  expect([kept.length > 65_530, kept.length <= 65_536, kept.toString().includes('\ufffd')]).toEqual([true, true, false]);
  expect(await storedIds(store)).toEqual(['a', 'b']);

  async function* long() {
    yield Buffer.from(`${event('c')}\n{"a":"`);
    for (let sent = 0; sent < 200; sent++) yield Buffer.alloc(1024 * 1024, 'x');
    yield Buffer.from(`\n${event('d')}`);
  }
  const report = await takeInEvents(long(), { store, source: 'file', ...RULES });
  expect(report).toMatchObject({ accepted: 2, rejected: [{ line: 2, reason: expect.stringContaining('the event has 209715206 bytes') }] });
});

test('blanks are no event however many they are, and an event of the greatest length is one wherever the line is cut', async () => {
  const store = await newStore();
  const rest = event('x', { log: { filling: '' } }).length;
  const greatest = event('x', { log: { filling: 'x'.repeat(1024 * 1024 - rest) } });
  const blanks = ' '.repeat(1_500_000);
  for (const text of [`${blanks}\r\n${greatest}\r\n${blanks}`, `[${blanks}\n${greatest},${blanks}${event('y')}]${blanks}`]) {
    expect(await takeIn(store, text)).toMatchObject({ rejectedCount: 0 });
  }
  expect(await storedIds(store)).toEqual(['x', 'y']);
});

test.each([
  ['lines', (count: number) => 'x\n'.repeat(count), 10_002],
  ['an array', (count: number) => `[${'1,\n'.repeat(count)}1`, 10_002],
])('an input with more than 10,000 rejected events ends there and says so, in %s', async (what, textOf, line) => {
  const good = event('a');
  const text = what === 'lines' ? `${good}\n${textOf(200_000)}` : textOf(200_000).replace('[', `[${good},\n`);
  const store = await newStore();
  const stopped = takeIn(store, text);
  await expect(stopped).rejects.toMatchObject({ code: 'too_many_rejected', report: { accepted: 1, rejectedCount: 10_000 } });
  await expect(stopped).rejects.toThrow(
    new RegExp(`^line ${line}: more than 10000 events would be rejected.*before that 1 events were stored`),
  );
  expect(await storedIds(store)).toEqual(['a']);
  const exactly = await takeIn(store, `${good}\n${'x\n'.repeat(10_000)}`);
  expect([exactly.rejectedCount, exactly.rejected.length]).toEqual([10_000, 1000]);
});

test('an input that is longer than allowed ends there and says so, and what came before stays', async () => {
  const store = await newStore();
  const text = `${event('a')}\n${' \n'.repeat(5_000)}${event('b')}\n`;
  const stopped = takeIn(store, text, 1_000, { maxBytes: text.length - 1 });
  await expect(stopped).rejects.toMatchObject({ code: 'input_too_long', report: { accepted: 1 } });
  await expect(stopped).rejects.toThrow(/^line \d+: the input is longer than \d+ bytes/);
  expect(await storedIds(store)).toEqual(['a']);
  expect(await takeIn(store, text, 1_000, { maxBytes: text.length })).toMatchObject({ accepted: 2 });
});

test('others have their turn while millions of blank and expired lines are worked through', async () => {
  const store = await newStore();
  const old = `${event('old', { timestamp: NOW - 80 * HOUR })}\n`;
  for (const text of ['\n'.repeat(4_000_000), old.repeat(60_000)]) {
    let turns = 0;
    let ended = false;
    const count = (): void => {
      turns += 1;
      if (!ended) setImmediate(count);
    };
    setImmediate(count);
    await takeIn(store, text, 16 * 1024 * 1024);
    ended = true;
    expect(turns).toBeGreaterThan(5);
  }
});

test('only the first 1000 rejections are listed, all are counted and kept', async () => {
  const store = await newStore();
  const report = await takeIn(
    store,
    'x'
      .repeat(1500)
      .split('')
      .map((x, index) => `${x}${index}`)
      .join('\n'),
  );
  expect(report.rejectedCount).toBe(1500);
  expect(report.rejected).toHaveLength(1000);
  expect((await store.stats()).deadLetters).toBe(1500);
});

describe('an input that breaks off keeps what came before and says so:', () => {
  const lines = Buffer.from(Array.from({ length: 4000 }, (_, index) => `${event(`e${index}`, { url: `/${index * 7919}` })}\n`).join(''));
  const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

  test.each([
    ['gzip', half(gzipSync(lines)), /the gzip data is damaged or cut off \(unexpected end of file\)/],
    ['gzip', Buffer.concat([gzipSync(lines), Buffer.from('more')]), /the gzip data is damaged or cut off \(incorrect header check\)/],
    ['zstd', half(zstdCompressSync(lines)), /the zstd data is damaged or cut off/],
    [
      'zstd',
      Buffer.concat([zstdCompressSync(`${event('first')}\n`), half(zstdCompressSync(lines))]),
      /the zstd data is damaged or cut off/,
    ],
    [
      'identity',
      Buffer.concat([Buffer.from('['), Buffer.from(`${event('x')},${event('y')}, {"log`)]),
      /the input ends inside a JSON array, in element 2/,
    ],
  ] as const)('%s, case %#', async (encoding, bytes, message) => {
    const store = await newStore();
    const error = await takeInEvents(decompressed(inChunks(bytes, 999), encoding), { store, source: 'file', ...RULES }).catch(
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(IntakeError);
    expect(error.message).toMatch(message);
    expect(error.report.accepted).toBeGreaterThan(0);
    expect(await store.stats()).toMatchObject({ events: error.report.accepted, deadLetters: 0 });
  });

  test('a source that fails is the cause', async () => {
    async function* failing() {
      yield Buffer.from(`${event('a')}\n${event('b')}`);
      throw new Error('the socket is gone');
    }
    const store = await newStore();
    const stopped = takeInEvents(failing(), { store, source: 'http', ...RULES });
    await expect(stopped).rejects.toMatchObject({
      code: 'source_failed',
      report: { accepted: 1 },
      cause: { message: 'the socket is gone' },
    });
    expect(await storedIds(store)).toEqual(['a']);
  });
});

test('files of several gzip members or zstd frames are read to their end, in chunks of any size', async () => {
  const parts = ['one\n', 'two\n', 'three\n'].map((text) => Buffer.from(text.repeat(1000)));
  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    const file = Buffer.concat(parts.map((part) => compress(part)));
    for (const size of [1, 10, 33, 100_000]) {
      expect((await contentOf(decompressed(inChunks(file, size), encoding))).equals(Buffer.concat(parts))).toBe(true);
    }
  }
});

test('what a slow input has brought is searchable before it ends', async () => {
  const store = await newStore();
  async function* slow() {
    yield Buffer.from(`${event('a')}\n`);
    await expect.poll(() => storedIds(store)).toEqual(['a']);
    yield Buffer.from(event('b'));
  }
  expect(await takeInEvents(slow(), { store, source: 'http', ...RULES })).toMatchObject({ accepted: 2 });
  expect(await storedIds(store)).toEqual(['a', 'b']);
});

test('an aborted intake ends with the reason', async () => {
  const store = await newStore();
  const reason = new Error('the client hung up');
  const aborting = new AbortController();
  async function* hangsUp() {
    yield Buffer.from(`${event('a')}\n`);
    aborting.abort(reason);
    yield Buffer.from(`${event('b')}\n`);
  }
  await expect(takeInEvents(hangsUp(), { store, source: 'http', ...RULES, signal: aborting.signal })).rejects.toBe(reason);
});

test('the error of an append is handed on', async () => {
  const store = await newStore();
  await store.close();
  await expect(takeIn(store, event('a'))).rejects.toMatchObject({ name: 'StoreError', code: 'closed' });
});

test('a last event without an end of line is converted in a turn that is shared, as those before it are', async () => {
  let begun = 0;
  class CountedTurns extends MainThreadTurns {
    override begin() {
      begun += 1;
      return super.begin();
    }
  }
  const report = await takeIn(await newStore(), `${event('a')}\n${event('b')}`, 64 * 1024, { turns: new CountedTurns() });
  expect([report.accepted, begun]).toEqual([2, 2]);
});
