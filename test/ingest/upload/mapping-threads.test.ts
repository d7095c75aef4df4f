import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { LARGEST_SHARED_BYTES } from '../../../ingest/event/chunk-pool.ts';
import { LongPiece } from '../../../ingest/event/partial-event.ts';
import { RecordMapper } from '../../../ingest/mapping/record-mapper.ts';
import { MAX_REJECTED } from '../../../ingest/upload/intake-report.ts';
import { mappedLetterOf } from '../../../ingest/upload/mapped-messages.ts';
import {
  MAPPED,
  MAPPED_PIECE_BYTES,
  type MappedPiece,
  PIECE_OUTCOMES,
  type RecordBatch,
  rejectionOf,
} from '../../../ingest/upload/mapped-pieces.ts';
import { LARGEST_RECORD_MB, MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { ThreadEnded } from '../../../work/worker-pool.ts';
import { mappingOf } from '../mapping/mapped.ts';
import { ENDS_THREAD, FILLS_HEAP } from './ending-worker.ts';

const MIB = 1024 * 1024;
const MAPPING = mappingOf(`
timestamp: {path: t, time: unix}
ua: {first: [{path: gz, decode: [base64, gzip]}, {path: js, decode: json}, 'list[a=x].b', a]}
url: {text: 'x{a}{?b}'}
items: {path: records, decode: [base64, gzip]}
leaveOut: {path: out, table: {yes: 'true', '*': 'false'}}
`);
const threads = new MappingThreads(new Map([['own', { mapping: MAPPING, file: '', text: '', isPreset: false }]]), LARGEST_RECORD_MB);

afterAll(() => threads.close());

function batchOf(records: readonly string[]): RecordBatch {
  const all = records.map((text) => Buffer.from(text));
  let end = 0;
  const ends = Uint32Array.from(all, ({ length }) => (end += length));
  const bytes = threads.chunks.take(end);
  for (const [index, record] of all.entries()) bytes.set(record, ends[index - 1] ?? 0);
  return { mapping: 'own', zones: { given: 7, fallback: null, opened: 'all' }, bytes, ends };
}

/** How many outcomes there are of each kind. */
async function mapped(records: readonly string[]): Promise<Record<keyof typeof MAPPED, number>> {
  const counts = { event: 0, rejected: 0, leftOut: 0 };
  using underWay = await threads.begin(batchOf(records));
  for (let piece = await underWay.next(); piece !== null; piece = await underWay.next()) {
    for (const [kind, number] of Object.entries(MAPPED)) {
      counts[kind as keyof typeof MAPPED] += piece.kinds.filter((one) => one === number).length;
    }
    // Who takes them in goes no further.
    if (counts.rejected > MAX_REJECTED) break;
  }
  return counts;
}

/** A list of so many bytes. */
const filled = (item: string, bytes = MIB - 1_000): string =>
  `[${Array(Math.floor(bytes / (item.length + 1)))
    .fill(item)
    .join()}]`;
const packed = (text: string): string => JSON.stringify(gzipSync(text).toString('base64'));
const record = (members: string): string => `{"t":1795838661558.25${members}}`;
const MILLION = 'x'.repeat(MIB - 1_000);

describe('the worst records are mapped within half of the heap of a thread', () => {
  test.each<[string, string, Partial<Awaited<ReturnType<typeof mapped>>>]>([
    ['empty lists', record(`,"list":${filled('[]')}`), { event: 1 }],
    ['empty objects', record(`,"list":${filled('{}')}`), { event: 1 }],
    ['numbers that lose digits', record(`,"a":12345678901234567890,"list":${filled('1.0')}`), { event: 1 }],
    ['objects to be looked through', record(`,"list":${filled('{"a":"y"}')}`), { event: 1 }],
    ['names', record(`,"list":{${Array.from({ length: 80_000 }, (_, index) => `"n${index}":1`).join()}}`), { event: 1 }],
    ['a million lists inside one another', record(`,"list":${'['.repeat(500_000)}${']'.repeat(500_000)}`), { event: 1 }],
    ['one text', record(`,"a":"${MILLION}"`), { rejected: 1 }],
    ['JSON in a text', record(`,"js":${JSON.stringify(filled('[]', 900_000))}`), { rejected: 1 }],
    ['a text that unpacks to more than is allowed', record(`,"gz":${packed('x'.repeat(20 * MIB))}`), { rejected: 1 }],
    ['items that are none', `{"records":${filled('1')}}`, { rejected: 2 * MAX_REJECTED }],
    [
      'items that unpack to lists',
      `{"records":${filled(packed(record(`,"list":${filled('[]', 900_000)}`)), 6_000)}${' '.repeat(MIB / 4)}}`,
      { rejected: 0 },
    ],
    ['items that unpack to texts', `{"records":${filled(packed(record(`,"a":"${MILLION}"`)), 60_000)}}`, { leftOut: 0 }],
  ])('of %s', async (_, text, expected) => {
    expect(await mapped([text])).toMatchObject(expected);
  });
});

test('a batch waits for a thread no longer than is said, and those that wait on come to their turn', async () => {
  const held = [];
  while (threads.hasRoom) held.push(await threads.begin(batchOf([small])));
  const waiting = [undefined, 60_000].map((waitMs) => threads.begin(batchOf([small]), undefined, waitMs));
  await expect(threads.begin(batchOf([small]), undefined, 20)).rejects.toThrow('no thread was free for the records for 20 ms');
  const left = threads.begin(batchOf([small]), AbortSignal.timeout(20), 60_000);
  await expect(left).rejects.toMatchObject({ name: 'TimeoutError' });
  for (const one of held) one[Symbol.dispose]();
  for (const one of await Promise.all(waiting)) one[Symbol.dispose]();
  expect(threads.hasRoom).toBe(true);
});

/** What becomes of records, in words, by the mapper alone. */
function expectedOf(records: readonly string[]): readonly string[] {
  const mapper = new RecordMapper(MAPPING, { given: 7, fallback: null, opens: () => true });
  const found: string[] = [];
  for (const [index, text] of records.entries()) {
    mapper.map(Buffer.from(text), (one) => {
      const what =
        one.kind === 'rejected' ? `${one.reason} ${digestOf(one.record)}` : one.kind === 'event' ? digestOf(one.event) : one.kind;
      found.push(`${index} ${what}`);
    });
  }
  return found;
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const small = record(',"a":"small"');
const envelope = (...items: readonly string[]): string => `{"records":[${items.join()}]}`;
const sized = (bytes: number, index = 0): string => record(`,"b":"${index}${'b'.repeat(bytes)}"`);

const RECORDS: readonly (readonly [what: string, records: readonly string[]])[] = [
  ['few records', [small, '{}', small]],
  ['one that is longer than the memory for few', [small, sized(200_000), small]],
  ['the longest record', [sized(MIB - 100), small]],
  ['very many records', Array<string>(4_000).fill(sized(100))],
  [
    'an envelope whose items are repeated in their events',
    [small, envelope(...Array.from({ length: 20 }, (_, index) => sized(50_000, index))), small],
  ],
  ['envelopes that unpack to much', Array<string>(8).fill(envelope(...Array<string>(8).fill(packed(sized(200_000)))))],
  [
    'an envelope that unpacks to as much as it may',
    [`${envelope(...Array<string>(16).fill(packed(sized(900_000))))}${' '.repeat(MIB / 4)}`],
  ],
  ['an envelope of very many events', [envelope(...Array.from({ length: 60_000 }, (_, index) => record(`,"n":${index}`)))]],
  ['an envelope of very many letters', [small, envelope(...Array.from({ length: 40_000 }, (_, index) => `{"n":${index}}`)), small]],
  ['an envelope of long letters', [envelope(...Array.from({ length: 30 }, (_, index) => `{"n":"${index}${'n'.repeat(30_000)}"}`))]],
  ['no record at all', [envelope(), '']],
  ['very many records that are left out', Array<string>(110_000).fill('{"out":"yes"}')],
];

/** The outcomes of a piece, in the words of `expectedOf`. */
function outcomesOf(piece: MappedPiece): readonly string[] {
  return Array.from(piece.kinds, (kind, outcome) => {
    const line = piece.lines.subarray(piece.lineEnds[outcome - 1] ?? 0, (piece.lineEnds[outcome] ?? 0) - 1);
    const { reason, bytes } = kind === MAPPED.rejected ? rejectionOf(piece, outcome) : { reason: '', bytes: new Uint8Array() };
    const what = kind === MAPPED.event ? digestOf(line) : kind === MAPPED.rejected ? `${reason} ${digestOf(bytes)}` : 'leftOut';
    return `${piece.records[outcome]} ${what}`;
  });
}

describe('records come in pieces of bounded memory, each outcome once and in its order', () => {
  test.each(RECORDS)('of %s', async (_, records) => {
    const found: string[] = [];
    using underWay = await threads.begin(batchOf(records));
    for (let piece = await underWay.next(); piece !== null; piece = await underWay.next()) {
      expect(piece.lines.length).toBeLessThanOrEqual(LARGEST_SHARED_BYTES);
      expect(piece.letters.length).toBeLessThan(2 * MAPPED_PIECE_BYTES);
      expect(piece.kinds.length).toBeLessThan(2 * PIECE_OUTCOMES);
      found.push(...outcomesOf(piece));
    }
    expect(found).toEqual(expectedOf(records));
  });
});

describe('a body is taken apart, and its records are mapped in the same task, and in others where they are many', () => {
  const how = { mapping: 'own', zones: { given: 7, fallback: null, opened: 'all' } } as const;
  /** A body of lines, with a NUL behind it. */
  const bodyOf = (records: readonly string[]): Uint8Array<ArrayBuffer> => new TextEncoder().encode(`${records.join('\n')}\0`);
  /** The body of a mapping, which is not broken. */
  async function opened(records: readonly string[], signal?: AbortSignal) {
    const taken = await threads.takeApart('hec lines', bodyOf(records), how, signal);
    if (taken.kind === 'fault' || taken.underWay === null) throw new Error('nothing is mapped');
    return { ...taken, underWay: taken.underWay };
  }

  test.each([...RECORDS, ['more than go into the memory of a task', Array<string>(12_000).fill(sized(1_000))] as const])(
    'of %s',
    async (_, some) => {
      const records = some.map((text) => text.trim()).filter((text) => text !== '');
      const { count, underWay } = await opened(records);
      using pieces = underWay;
      const found: string[] = [];
      for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) {
        expect(piece.lines.length).toBeLessThanOrEqual(LARGEST_SHARED_BYTES);
        found.push(...outcomesOf(piece));
      }
      expect([count, found]).toEqual([records.length, expectedOf(records)]);
    },
  );

  test('the letter of a record that is longer than any event has its start, its length and its hash', async () => {
    const long = 'x'.repeat(3 * MIB);
    using pieces = (await opened([small, long])).underWay;
    const piece = await pieces.next();
    const letter = piece === null ? null : mappedLetterOf(piece, 1);
    if (!(letter instanceof LongPiece)) throw new Error('the letter is whole');
    const { start, sizeBytes, sha256 } = letter;
    expect([start.length, sizeBytes, Buffer.from(sha256).toString('hex')]).toEqual([64 * 1024, 3 * MIB, digestOf(Buffer.from(long))]);
  });

  test('as often as there is memory for it: what is not disposed keeps others waiting', async () => {
    const taken = [];
    while (threads.hasRoom) taken.push(await opened([small]));
    expect(taken.length).toBeGreaterThan(1);
    await expect(opened([small], AbortSignal.timeout(50))).rejects.toThrow(/timeout/);
    for (const { underWay } of taken) underWay[Symbol.dispose]();
    expect(threads.hasRoom).toBe(true);
  });

  test('of a broken one, and where a thread ends, all memory is given back', async () => {
    const ending = new MappingThreads(threads.mappings, LARGEST_RECORD_MB, new URL('./ending-worker.ts', import.meta.url));
    onTestFinished(() => ending.close());
    for (let time = 0; time < 10; time++) {
      const body = bodyOf([small, ENDS_THREAD, sized(100_000)]);
      await expect(ending.takeApart('hec lines', body, how)).rejects.toThrow(ThreadEnded);
      expect(await ending.takeApart('hec events', bodyOf(['[', sized(100_000)]), how)).toMatchObject({ kind: 'fault' });
    }
    const { underWay } = (await ending.takeApart('hec lines', bodyOf([sized(100_000)]), how)) as Awaited<ReturnType<typeof opened>>;
    using pieces = underWay;
    expect((await pieces.next())?.kinds).toEqual(Uint8Array.of(MAPPED.event));
  });

  test('of one for which a thread has too little memory nothing more is read, because it would be so each time', async () => {
    const filling = new MappingThreads(threads.mappings, 32, new URL('./ending-worker.ts', import.meta.url));
    onTestFinished(() => filling.close());
    const tooMuch = 'its records take more memory than a thread may have for them';
    const records = [small, FILLS_HEAP, sized(100_000)];
    await expect(filling.takeApart('hec lines', bodyOf(records), how)).rejects.toThrow(tooMuch);
    await expect(filling.takeApart('hec lines', bodyOf(records))).rejects.toThrow(tooMuch);
    using underWay = await filling.begin(batchOf(records));
    await expect(underWay.next()).rejects.toThrow(tooMuch);
    using others = await filling.begin(batchOf([sized(100_000)]));
    expect((await others.next())?.kinds).toEqual(Uint8Array.of(MAPPED.event));
  });

  test('in as many rooms as are given back at once, also where one that waits for them has just left', async () => {
    const held = [];
    while (threads.hasRoom) held.push(await threads.begin(batchOf([small])));
    const leaving = new AbortController();
    const left = threads.begin(batchOf([small]), leaving.signal);
    const waiting = held.map(() => threads.begin(batchOf([small])));
    leaving.abort(new Error('it has left'));
    for (const one of held) one[Symbol.dispose]();
    await expect(left).rejects.toThrow('it has left');
    for (const one of await Promise.all(waiting)) one[Symbol.dispose]();
    expect(threads.hasRoom).toBe(true);
  });

  test('on a thread where it may unpack to much more, however small it is', async () => {
    const body = new TextEncoder().encode(`{"records":[{"data":"${gzipSync('\n'.repeat(8 * MIB)).toString('base64')}"}]}\0`);
    expect(await threads.takeApart('firehose', body)).toMatchObject({ kind: 'records', count: 0 });
    expect(body.length, 'what went to a thread is not here').toBe(0);
  });

  test('of our own form nothing is mapped, and nobody waits', async () => {
    const taken = await threads.takeApart('hec lines', bodyOf([small, small]));
    expect(taken).toMatchObject({ kind: 'records', count: 2, underWay: null, rest: { count: 2 } });
  });
});
