import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { MAPPED, type RecordBatch } from '../../../ingest/upload/mapped-pieces.ts';
import { LARGEST_RECORD_MB, MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { mappingOf } from '../mapping/mapped.ts';

const MIB = 1024 * 1024;
const MAPPING = mappingOf(`
timestamp: {path: t, time: unix}
ua: {first: [{path: gz, decode: [base64, gzip]}, {path: js, decode: json}, 'list[a=x].b', a]}
url: {text: 'x{a}{?b}'}
items: {path: records, decode: [base64, gzip]}
`);
const threads = new MappingThreads(new Map([['own', { mapping: MAPPING, file: '', text: '', isPreset: false }]]), LARGEST_RECORD_MB);

afterAll(() => threads.close());

function batchOf(records: readonly string[]): RecordBatch {
  const all = records.map((text) => Buffer.from(text));
  let end = 0;
  const ends = Uint32Array.from(all, ({ length }) => (end += length));
  const bytes = threads.chunks.take(end);
  for (const [index, record] of all.entries()) bytes.set(record, ends[index - 1] ?? 0);
  return { mapping: 'own', zones: { given: 7, fallback: null, opened: 'all' }, bytes, ends, from: 0 };
}

/** How many outcomes there are of each kind, and in how many pieces they came. */
async function mapped(records: readonly string[]): Promise<Record<keyof typeof MAPPED | 'pieces', number>> {
  const counts = { event: 0, rejected: 0, leftOut: 0, pieces: 0 };
  using underWay = await threads.begin(batchOf(records));
  for (let piece = await underWay.next(); piece !== null; piece = await underWay.next()) {
    counts.pieces += 1;
    for (const [kind, number] of Object.entries(MAPPED)) {
      counts[kind as keyof typeof MAPPED] += piece.kinds.filter((one) => one === number).length;
    }
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
    ['one text', record(`,"a":"${MILLION}"`), { event: 1 }],
    ['JSON in a text', record(`,"js":${JSON.stringify(filled('[]', 900_000))}`), { rejected: 1 }],
    ['a text that unpacks to more than is allowed', record(`,"gz":${packed('x'.repeat(20 * MIB))}`), { rejected: 1 }],
    ['items that are none', `{"records":${filled('1')}}`, { rejected: 10_001 }],
    ['items that unpack to lists', `{"records":${filled(packed(record(`,"list":${filled('[]', 900_000)}`)), 6_000)}}`, { rejected: 0 }],
    ['items that unpack to texts', `{"records":${filled(packed(record(`,"a":"${MILLION}"`)), 60_000)}}`, { leftOut: 0 }],
  ])('of %s', async (_, text, expected) => {
    expect(await mapped([text])).toMatchObject(expected);
  });
});

test('a batch of envelopes that unpack to much comes in pieces', async () => {
  const envelope = `{"records":${filled(packed(record(`,"a":"${'x'.repeat(200_000)}"`)), 3_000)}}`;
  const { event, pieces } = await mapped(Array<string>(8).fill(envelope));
  expect(event).toBeGreaterThan(30);
  expect(pieces).toBe(8);
});
