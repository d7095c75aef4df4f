import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BatchBuilder, type PartitionRecords } from '../../../ingest/event/batch-builder.ts';
import { RecordMapper } from '../../../ingest/mapping/record-mapper.ts';
import { addMappedMessages, copiesOf, messageMapper, type RecordVerdict } from '../../../ingest/upload/mapped-messages.ts';
import { MAX_BYTES_HERE, MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { MAX_ITEM_LETTERS, MOST_MAPPED_BYTES, mapMessage } from '../../../ingest/upload/message-events.ts';
import type { EventBatch } from '../../../store/event-store.ts';
import { loadedEvents } from '../event/loaded-events.ts';
import { HOUR, NOW, RULES } from '../event/raw-events.ts';
import { mappingOf } from '../mapping/mapped.ts';
import { FILLS_HEAP } from './ending-worker.ts';

const TEXT = 'timestamp: {path: t, time: unix}\nid: [id]\nzone: {path: site, table: {shop: 7}}\nua: ua\nitems: records\nleaveOut: skip';
const BASE = 41n;
const PLACE = { topic: 't', partition: 3 };

function threads(heapMb?: number, module?: URL): MappingThreads {
  const own = new MappingThreads(new Map([['own', { mapping: mappingOf(TEXT), file: '', text: TEXT, isPreset: false }]]), heapMb, module);
  onTestFinished(() => own.close());
  return own;
}

/** Messages with these values, at the offsets from BASE on; null is a tombstone. */
function messagesOf(values: readonly (string | Uint8Array | null)[]): PartitionRecords {
  const bytes = values.map((value) => Buffer.from(value ?? ''));
  let at = 0;
  const places = bytes.map((value, index) => {
    const start = at;
    at += value.length;
    return values[index] === null ? [-1, -1] : [start, at];
  });
  return {
    base: BASE,
    count: values.length,
    deltas: Int32Array.from(values.keys()),
    bytes: Buffer.concat(bytes),
    starts: Int32Array.from(places, ([start]) => start ?? -1),
    ends: Int32Array.from(places, ([, end]) => end ?? -1),
  };
}

/** The batch that messages become, and what is told of their records. */
async function batchOf(values: readonly (string | Uint8Array | null)[]): Promise<{ batch: EventBatch; told: string[] }> {
  const builder = new BatchBuilder(RULES);
  const told: string[] = [];
  const onVerdict = ({ kind }: RecordVerdict): void => void told.push(kind);
  const map = messageMapper(threads(), 'own');
  for (const copies of copiesOf(messagesOf(values), 0)) {
    for await (const mapped of map(PLACE, copies)) addMappedMessages(builder, PLACE, mapped, 0, onVerdict);
  }
  return { batch: builder.take(), told };
}

/** What messages become: the ids of the events, and the letters as `offset/index bytes`. */
async function madeOf(...values: (string | Uint8Array | null)[]): Promise<{ readonly ids: string[]; readonly letters: string[] }> {
  const { batch } = await batchOf(values);
  const letters = batch.deadLetters.map(({ offset, index, bytes }) => `${offset}/${index} ${Buffer.from(bytes).toString()}`);
  return { ids: loadedEvents(batch).map(({ logId }) => String(logId)), letters };
}

const record = (more: Readonly<Record<string, unknown>> = {}): string => JSON.stringify({ t: NOW, site: 'shop', ...more });
const digest = (offset: number, bytes: string): string => createHash('sha256').update(`t-3-${offset} ${bytes}`).digest('hex').slice(0, 32);

const [own, other, left] = [record({ id: 'own' }), record({ id: 'other' }), record({ skip: true })];
const idless = record();
const future = record({ t: NOW + HOUR });
const timeless = '{"site":"shop"}';

describe('mapped messages become', () => {
  test.each<[what: string, values: readonly (string | null)[], made: { readonly ids?: string[]; readonly letters?: string[] }]>([
    ['an event each', [own, other], { ids: ['own', 'other'] }],
    ['an event with an id of its place and its bytes', [idless, idless], { ids: [digest(41, idless), digest(42, idless)] }],
    ['an event without the blanks and NULs around it', [`\0\0 ${idless}\n`], { ids: [digest(41, idless)] }],
    ['the events of an envelope', [`{"records":[${own},${idless}]}`], { ids: ['own', digest(41, idless)] }],
    ['the events of an array', [`[${own},${idless}]`], { ids: ['own', digest(41, idless)] }],
    ['the events of several texts', [`${own}\n${other} ${idless}`], { ids: ['own', 'other', digest(41, idless)] }],
    ['the events of envelopes in an array', [`[{"records":[${own}]},{"records":[${other}]}]`], { ids: ['own', 'other'] }],
    ['one event of two equal records of a message', [`[${idless},${idless}]`], { ids: [digest(41, idless), digest(41, idless)] }],
    ['nothing of a tombstone', [own, null, other], { ids: ['own', 'other'] }],
    ['nothing of tombstones', [null, null], {}],
    ['nothing of what is left out', [left, `[${left},${own}]`, '{"records":[]}', '[]'], { ids: ['own'] }],
    ['a letter of the record that the mapping rejects', [own, timeless], { ids: ['own'], letters: [`42/null ${timeless}`] }],
    ['a letter of the record that the intake rejects', [own, future], { ids: ['own'], letters: [`42/null ${future}`] }],
    ['a letter of a wrapped record', [`{"message":${future}}`], { letters: [`41/null ${future}`] }],
    [
      'letters of records with their indexes, which count all',
      [`{"records":[${timeless},${left},${own},${future}]}`],
      { ids: ['own'], letters: [`41/0 ${timeless}`, `41/3 ${future}`] },
    ],
    ['letters of texts with their indexes', [`${own}\nlog:\n${future}`], { ids: ['own'], letters: ['41/1 log:', `41/2 ${future}`] }],
    ['letters of what is no object', ['[1,"x"]'], { letters: ['41/0 1', '41/1 "x"'] }],
    ['a letter of what is cut off in an array', [`[${own},{"t":`], { ids: ['own'], letters: ['41/1 {"t":'] }],
    ['a letter of a message that is no JSON', ['hello'], { letters: ['41/null hello'] }],
    ['a letter of a message that is empty', ['', ' \n'], { letters: ['41/null ', '42/null  \n'] }],
    ['a letter of a record without a zone', [record({ site: 'blog' })], { letters: [`41/null ${record({ site: 'blog' })}`] }],
  ])('%s', async (_, values, { ids = [], letters = [] }) => {
    const made = await madeOf(...values);
    expect({ ids: made.ids.toSorted(), letters: made.letters.toSorted() }).toEqual({ ids: ids.toSorted(), letters: letters.toSorted() });
  });
});

test('a letter has the place, the mapping, the reason and the zone', async () => {
  const { batch, told } = await batchOf([`[${timeless},${future},${record({ site: 'blog' })},${left},${own}]`]);
  const place = { source: 'kafka', topic: 't', partition: 3, offset: 41n, mapping: 'own' };
  expect(batch.deadLetters.toSorted((one, next) => Number(one.index) - Number(next.index))).toMatchObject([
    { ...place, index: 0, zoneId: 7, reason: expect.stringMatching(/^timestamp is absent/) },
    { ...place, index: 1, zoneId: 7, reason: expect.stringMatching(/^timestamp is \d+: at most 10 minutes after now/) },
    {
      ...place,
      index: 2,
      zoneId: null,
      reason: 'the record has no zone: the mapping names none for "blog", and no other is given for all records',
    },
  ]);
  expect(told.toSorted()).toEqual(['accepted', 'leftOut', 'rejected', 'rejected', 'rejected']);
  expect(batch.sourceOffsets).toEqual([]);
});

describe('of a message in which many records are rejected', () => {
  test.each<[number, string]>([
    [MAX_ITEM_LETTERS, 'each has a letter'],
    [MAX_ITEM_LETTERS + 1, 'there is one letter of the whole message where they are more'],
  ])('%i: %s', async (bad) => {
    const message = `{"records":[${own},${'1,'.repeat(bad)}${other}]}`;
    const { ids, letters } = await madeOf(message);
    expect(ids).toEqual(['own', 'other']);
    if (bad <= MAX_ITEM_LETTERS) expect([letters.length, letters.at(-1)]).toEqual([bad, `41/${bad} 1`]);
    else expect(letters).toEqual([`41/null ${message}`]);
  });
});

test('a record that is longer than any event is a letter with its length and hash', async () => {
  const long = record({ ua: 'x'.repeat(3 * 1024 * 1024) });
  for (const message of [`[${own},${long}]`, `${own}\n${long}`]) {
    const { batch } = await batchOf([message]);
    expect(batch.deadLetters).toMatchObject([
      { index: 1, mapping: 'own', cut: { sizeBytes: long.length, sha256: Uint8Array.from(createHash('sha256').update(long).digest()) } },
    ]);
  }
  const { batch } = await batchOf([long]);
  expect(batch.deadLetters).toMatchObject([{ index: null, cut: { sizeBytes: long.length } }]);
});

test('a message for which a thread has too little memory is a letter, and those around it are events', async () => {
  const filling = threads(32, new URL('./ending-worker.ts', import.meta.url));
  const fills = record({ id: FILLS_HEAP, ua: 'x'.repeat(MAX_BYTES_HERE) });
  const builder = new BatchBuilder(RULES);
  const upTo: number[] = [];
  for (const copies of copiesOf(messagesOf([own, null, fills, null, other]), 0)) {
    for await (const mapped of messageMapper(filling, 'own')(PLACE, copies)) {
      addMappedMessages(builder, PLACE, mapped, upTo.at(-1) ?? 0, () => undefined);
      upTo.push(mapped.count);
    }
  }
  const batch = builder.take();
  expect(loadedEvents(batch).map(({ logId }) => String(logId))).toEqual(['own', 'other']);
  expect(batch.deadLetters).toMatchObject([{ offset: 43n, index: null, zoneId: null, mapping: 'own' }]);
  expect(Buffer.from(batch.deadLetters[0]?.bytes ?? []).toString()).toBe(fills);
  expect(batch.deadLetters[0]?.reason).toMatch(/^the message cannot be mapped: its records take more memory than a thread may have/);
  expect(upTo).toEqual([2, 4, 5]);
});

test('a message whose events would be too much is read to there, and is a letter', () => {
  const long = mappingOf(`timestamp: {path: t, time: unix}\nua: {text: '${'{a}'.repeat(100)}'}`);
  const [count, most] = [150, MOST_MAPPED_BYTES / 1e6];
  const message = Buffer.from(
    `[${Array<string>(count)
      .fill(record({ a: 'a'.repeat(10_000) }))
      .join()}]`,
  );
  let taken = 0;
  const zones = { given: 7, fallback: null, opens: () => true };
  const letters = mapMessage(new RecordMapper(long, zones), { ...PLACE, offset: BASE }, message, () => void taken++);
  expect(taken).toBeGreaterThan(0.95 * most);
  expect(taken).toBeLessThan(most);
  expect(letters).toMatchObject([
    {
      bytes: message,
      index: null,
      reason: expect.stringMatching(/^the records of the message become events of more than 134217728 bytes/),
    },
  ]);
});

test('messages that become much are taken in some at a time, each whole', async () => {
  const own = new MappingThreads(
    new Map([['own', { mapping: mappingOf(`${TEXT}\nurl: {text: '${'{a}'.repeat(30)}'}`), file: '', text: '', isPreset: false }]]),
  );
  onTestFinished(() => own.close());
  const envelope = `{"records":[${Array<string>(5)
    .fill(record({ a: 'a'.repeat(30_000) }))
    .join()}]}`;
  const taken: bigint[][] = [];
  for (const copies of copiesOf(messagesOf([timeless, null, envelope, null, envelope, envelope, timeless, null]), 0)) {
    for await (const { base, deltas, count, messageOf, pieces } of messageMapper(own, 'own')(PLACE, copies)) {
      expect(Math.max(...messageOf)).toBeLessThan(count);
      expect(pieces.flatMap(({ records }) => [...records]).every((value) => value < messageOf.length)).toBe(true);
      taken.push([base + BigInt(deltas[count - 1] ?? 0)]);
    }
  }
  expect(taken.length).toBeGreaterThan(1);
  expect(taken.at(-1)).toEqual([BASE + 7n]);
});

test('messages are copied in parts from an index on, and each is in one', () => {
  const values = Array.from({ length: 40 }, (_, index) => (index % 10 === 9 ? null : `${index}`.padEnd(10_000, 'x')));
  const parts = copiesOf(messagesOf(values), 5);
  const found = parts.flatMap(({ base, deltas, bytes, ends, messageOf }) =>
    messageOf.map((message, value) => [
      base + BigInt(deltas[message] ?? -1),
      Buffer.from(bytes.subarray(ends[value - 1] ?? 0, ends[value])).toString(),
    ]),
  );
  expect(found).toEqual(values.flatMap((value, index) => (value === null || index < 5 ? [] : [[BASE + BigInt(index), value]])));
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(35);
});

test('messages that were read before are not added', async () => {
  const builder = new BatchBuilder(RULES);
  const map = messageMapper(threads(), 'own');
  for (const copies of copiesOf(messagesOf([own, timeless, null, other, future]), 0)) {
    for await (const mapped of map(PLACE, copies)) addMappedMessages(builder, PLACE, mapped, 3, () => undefined);
  }
  const batch = builder.take();
  expect([loadedEvents(batch).map(({ logId }) => logId), batch.deadLetters.map(({ offset }) => offset)]).toEqual([['other'], [45n]]);
});
