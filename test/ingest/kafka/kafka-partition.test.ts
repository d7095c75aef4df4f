import { describe, expect, it } from 'vitest';
import type { PartitionRecords } from '../../../ingest/event/batch-builder.ts';
import {
  type FetchedBatch,
  mappedParts,
  type PartitionCursor,
  partitionCursor,
  startOffset,
  takeBatch,
} from '../../../ingest/kafka/kafka-partition.ts';
import { faultMessage, oneRecord } from '../../../ingest/kafka/record-set.ts';
import type { MappedMessages, MessageCopies } from '../../../ingest/upload/mapped-messages.ts';

function batch(fetchedOffset: number, offsets: readonly number[], lastOffset = offsets.at(-1) ?? fetchedOffset): FetchedBatch {
  return {
    fetchedOffset: String(fetchedOffset),
    highWatermark: '1000',
    rawMessages: [],
    messages: offsets.map((offset) => ({ read: () => oneRecord(BigInt(offset), Buffer.from(`value ${offset}`)) })),
    lastOffset: () => String(lastOffset),
  };
}

/** Messages of several records each, which have these offsets. */
function batches(fetchedOffset: number, ofEach: readonly (readonly number[])[], lastOffset: number): FetchedBatch {
  const values = { bytes: Buffer.alloc(0), starts: new Int32Array(9).fill(-1), ends: new Int32Array(9).fill(-1) };
  const messages = ofEach.map((offsets) => ({
    read: () => ({ ...values, base: 3n, count: offsets.length, deltas: Int32Array.from(offsets, (offset) => offset - 3) }),
  }));
  return { ...batch(fetchedOffset, [], lastOffset), messages };
}

const offsetsOf = ({ base, count, deltas }: Pick<PartitionRecords, 'base' | 'count' | 'deltas'>, from: number): bigint[] =>
  Array.from({ length: count - from }, (_, index) => base + BigInt(deltas[from + index] ?? 0));

function take(next: bigint | undefined, fetched: FetchedBatch) {
  const cursor = { ...partitionCursor('t', 0), next };
  const offsets: bigint[] = [];
  const taken = takeBatch(cursor, fetched, (records, from) => offsets.push(...offsetsOf(records, from)));
  return { kind: taken.kind, offsets, next: cursor.next };
}

describe('a fetched batch', () => {
  const cases: readonly (readonly [name: string, next: bigint | undefined, fetched: FetchedBatch, expected: object])[] = [
    ['that continues is taken whole', 5n, batch(5, [5, 6, 7]), { kind: 'taken', offsets: [5n, 6n, 7n], next: 8n }],
    ['with gaps (compaction, aborted transactions) is taken', 5n, batch(5, [7, 12]), { kind: 'taken', offsets: [7n, 12n], next: 13n }],
    ['is passed over to its end, control records included', 5n, batch(5, [5, 6], 9), { kind: 'taken', offsets: [5n, 6n], next: 10n }],
    ['that begins with offsets that were read already skips them', 5n, batch(5, [3, 4, 5]), { kind: 'taken', offsets: [5n], next: 6n }],
    ['fetched from further on is not taken: messages would be missing', 5n, batch(8, [8, 9]), { kind: 'strayed', offsets: [], next: 5n }],
    ['fetched from further back is not taken: kafkajs has reset', 5n, batch(0, [0, 1]), { kind: 'strayed', offsets: [], next: 5n }],
    ['that comes before the partition is placed is not taken', undefined, batch(0, [0]), { kind: 'early', offsets: [], next: undefined }],
    ['of several batches is taken whole', 5n, batches(5, [[5, 6], [7]], 7), { kind: 'taken', offsets: [5n, 6n, 7n], next: 8n }],
    ['of batches with gaps is taken', 5n, batches(5, [[6, 8], [], [12]], 15), { kind: 'taken', offsets: [6n, 8n, 12n], next: 16n }],
    [
      'whose first batch begins before skips its records',
      5n,
      batches(5, [[3, 4, 6], [7]], 7),
      { kind: 'taken', offsets: [6n, 7n], next: 8n },
    ],
    ['whose first batch has only records before', 5n, batches(5, [[3, 4], [9]], 9), { kind: 'taken', offsets: [9n], next: 10n }],
    ['of a batch without records is passed over', 5n, batches(5, [[]], 9), { kind: 'taken', offsets: [], next: 10n }],
    [
      'of a batch that comes twice is taken once',
      5n,
      batches(
        5,
        [
          [5, 6],
          [5, 6],
        ],
        6,
      ),
      { kind: 'taken', offsets: [5n, 6n], next: 7n },
    ],
    [
      'keeps offsets beyond 2^53 apart',
      9007199254740993n,
      {
        ...batch(0, []),
        fetchedOffset: '9007199254740993',
        messages: [{ read: () => oneRecord(9007199254740993n, null) }],
        lastOffset: () => '9007199254740993',
      },
      { kind: 'taken', offsets: [9007199254740993n], next: 9007199254740994n },
    ],
  ];
  it.each(cases)('%s', (_name, next, fetched, expected) => {
    expect(take(next, fetched)).toEqual(expected);
  });
});

/** The offsets that are taken of the parts of a batch, and how each part is taken. `mapped` is called while each is mapped. */
async function takeParts(next: bigint, fetched: FetchedBatch, mapped = (_cursor: PartitionCursor): void => undefined) {
  const cursor: PartitionCursor = { ...partitionCursor('t', 0), next };
  const offsets: bigint[] = [];
  const kinds: string[] = [];
  async function* map({ bytes: _, ends: __, ...copies }: MessageCopies): AsyncGenerator<MappedMessages> {
    await Promise.resolve();
    mapped(cursor);
    yield { ...copies, mapping: 'waf', pieces: [] };
  }
  for await (const part of mappedParts(fetched, map)) {
    kinds.push(takeBatch(cursor, part, (records, from) => offsets.push(...offsetsOf(records, from))).kind);
  }
  return { kinds, offsets, next: cursor.next };
}

describe('a fetched batch whose records are mapped', () => {
  it.each<[name: string, next: bigint, fetched: FetchedBatch, expected: object]>([
    ['is taken in parts', 5n, batches(5, [[5, 6], [7]], 7), { kinds: Array(3).fill('taken'), offsets: [5n, 6n, 7n], next: 8n }],
    [
      'is passed over to its end',
      5n,
      batches(5, [[6, 8], [], [12]], 15),
      { kinds: Array(3).fill('taken'), offsets: [6n, 8n, 12n], next: 16n },
    ],
    ['skips what was read', 5n, batches(5, [[3, 4], [3, 4, 6], [7]], 7), { kinds: Array(3).fill('taken'), offsets: [6n, 7n], next: 8n }],
    ['that comes twice is taken once', 5n, batches(5, [[5], [5], [6]], 6), { kinds: Array(3).fill('taken'), offsets: [5n, 6n], next: 7n }],
    ['of another offset is not taken', 5n, batches(8, [[8], [9]], 9), { kinds: Array(3).fill('strayed'), offsets: [], next: 5n }],
  ])('%s', async (_name, next, fetched, expected) => {
    expect(await takeParts(next, fetched)).toEqual(expected);
  });

  it('ends at a batch that cannot be decoded, with what is before it', async () => {
    const fault = faultMessage({ reason: 'is damaged', next: 20n, bytes: Buffer.from('batch') });
    const fetched = { ...batch(5, [5, 6], 30), messages: [...batch(5, [5, 6]).messages, fault, ...batch(5, [25]).messages] };
    expect(await takeParts(5n, fetched)).toEqual({ kinds: ['taken', 'taken', 'blocked'], offsets: [5n, 6n], next: 7n });
  });

  it.each<[string, bigint | undefined, string]>([
    ['that waits for its offset', undefined, 'early'],
    ['that was moved back', 2n, 'strayed'],
    ['that was moved on', 90n, 'strayed'],
  ])('is not taken by a partition %s meanwhile', async (_name, moved, kind) => {
    let parts = 0;
    const taken = await takeParts(5n, batches(5, [[5, 6], [7]], 7), (cursor) => {
      parts++;
      if (parts === 2) cursor.next = moved;
    });
    expect(taken).toEqual({ kinds: ['taken', kind, kind], offsets: [5n, 6n], next: moved });
  });
});

describe('a fetched batch that cannot be decoded', () => {
  const fault = (next: bigint | null) => faultMessage({ reason: 'is damaged', next, bytes: Buffer.from('batch') });
  const cases: readonly (readonly [name: string, next: bigint | null, told: bigint | null])[] = [
    ['ends where its header says', 20n, 20n],
    ['at the end of the partition', 1000n, 1000n],
    ['ends behind the end of the partition: its header is damaged', 1001n, null],
    ['ends before its offset: its header is damaged', 7n, null],
    ['has a damaged header', null, null],
  ];
  it.each(cases)('%s', (_name, next, told) => {
    const cursor = { ...partitionCursor('t', 3), next: 5n, end: 1000n };
    const offsets: bigint[] = [];
    const fetched = { ...batch(5, [5, 6]), messages: [...batch(5, [5, 6]).messages, fault(next)] };
    expect(takeBatch(cursor, fetched, (records, from) => offsets.push(...offsetsOf(records, from)))).toEqual({
      kind: 'blocked',
      messages: 2,
      next: 7n,
      block: { topic: 't', partition: 3, offset: 7n, reason: 'is damaged', next: told },
      bytes: Buffer.from('batch'),
    });
    expect([offsets, cursor.next]).toEqual([[5n, 6n], 7n]);
  });
});

describe('where a partition that holds offsets 100 to 199 is read from', () => {
  const cases: readonly (readonly [name: string, stored: bigint | undefined, kind: string, offset: bigint])[] = [
    ['the earliest, when nothing of it is stored', undefined, 'new', 100n],
    ['the stored offset, inside', 150n, 'stored', 150n],
    ['the stored offset, the earliest itself', 100n, 'stored', 100n],
    ['the stored offset, when all is read', 200n, 'stored', 200n],
    ['the earliest, when retention overtook the stored offset by one', 99n, 'overtaken', 100n],
    ['the earliest, when retention overtook it by far', 0n, 'overtaken', 100n],
    ['the earliest and never the latest, when the stored offset is past the end', 201n, 'pastEnd', 100n],
  ];
  it.each(cases)('%s', (_name, stored, kind, offset) => {
    const place = stored === undefined ? undefined : { offset: stored, topicId: undefined };
    expect(startOffset(place, { earliest: 100n, next: 200n }, undefined)).toEqual({ kind, offset });
    expect(startOffset(place, { earliest: 100n, next: 200n }, 'new')).toEqual({ kind, offset });
    expect(startOffset(place && { ...place, topicId: 'old' }, { earliest: 100n, next: 200n }, undefined)).toEqual({ kind, offset });
    expect(startOffset(place && { ...place, topicId: 'same' }, { earliest: 100n, next: 200n }, 'same')).toEqual({ kind, offset });
  });

  it.each([0n, 99n, 100n, 150n, 200n, 201n])('the earliest, when the stored offset %i is of a topic with another id', (offset) => {
    const place = { offset, topicId: 'old' };
    expect(startOffset(place, { earliest: 100n, next: 200n }, 'new')).toEqual({ kind: 'anotherTopic', offset: 100n });
  });
});
