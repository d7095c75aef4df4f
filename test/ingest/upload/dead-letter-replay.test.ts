import { describe, expect, onTestFinished, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { type MessagePlace, recordId } from '../../../ingest/event/log-id.ts';
import { RecordMapper } from '../../../ingest/mapping/record-mapper.ts';
import { replayDeadLetters } from '../../../ingest/upload/dead-letter-replay.ts';
import { MAX_BYTES_HERE, MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { addKafkaMessage } from '../../../ingest/upload/message-events.ts';
import type { DeadLetter } from '../../../store/dead-letter.ts';
import type { EventBatch, EventStore } from '../../../store/event-store.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { HOUR, NOW, RULES, rawEvent } from '../event/raw-events.ts';
import { mappingOf } from '../mapping/mapped.ts';

const AT_ONCE = { ...RULES, threads: new MappingThreads(new Map()), zones: 'all' } as const;
const LATER = { ...AT_ONCE, now: () => NOW + 2 * HOUR };

/** Two events that are in the future now but not two hours later, and one that is never an event. */
async function storeWithDeadLetters(): Promise<EventStore> {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  addKafkaMessage(builder, 'events', 0, 5n, Buffer.from(rawEvent({ logId: undefined, timestamp: NOW + HOUR })));
  builder.addEvent('http', Buffer.from('broken'));
  builder.addEvent('http', Buffer.from(rawEvent({ logId: 'late', timestamp: NOW + HOUR + 1 })));
  addKafkaMessage(builder, 'events', 0, 9n, Buffer.from(rawEvent({ logId: 'good' })));
  await store.append(builder.take());
  return store;
}

async function storedIds(store: EventStore): Promise<string[]> {
  const window = { fromMs: NOW - HOUR, toMs: NOW + 3 * HOUR };
  const plan = { zones: [7], window, where: { kind: 'everything' }, page: { index: 0, size: 50 }, output: { kind: 'rows' } } as const;
  const result = await store.search(plan);
  return (await rowsOf(result)).map(({ logId }) => logId);
}

test('dead letters that keep the rules by now become events under the ids they would have had, the others stay', async () => {
  const store = await storeWithDeadLetters();
  expect(await replayDeadLetters(store, AT_ONCE)).toEqual({ replayed: 0, stillRejected: 3, notReplayable: 0 });
  expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 2, stillRejected: 1, notReplayable: 0 });
  expect(await storedIds(store)).toEqual(['late', 'events-0-5', 'good']);
  expect((await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['broken']);
  expect(await store.sourceOffset('events', 0)).toBe(10n);
});

test('only the dead letters that were asked for are tried', async () => {
  const store = await storeWithDeadLetters();
  const [first, , third] = await store.listDeadLetters({ zones: 'all', limit: 10 });
  expect(await replayDeadLetters(store, { ...LATER, ids: [third?.id ?? '', '999'] })).toEqual({
    replayed: 1,
    stillRejected: 0,
    notReplayable: 0,
  });
  expect((await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ id }) => id)).toContain(first?.id);
  expect(await storedIds(store)).toEqual(['late', 'good']);
});

describe('dead letters of messages with several events', () => {
  const late = (more: object = {}) => rawEvent({ logId: undefined, timestamp: NOW + HOUR, ...more });
  /** A message that an earlier program kept as one letter, or this one because of its many events that break a rule. */
  const wholeLetter = (text: string, offset = 5n): DeadLetter => ({
    ...{ bytes: Buffer.from(text), cut: null, reason: 'the event is an array: a JSON object is required', zoneId: null },
    ...{ source: 'kafka', topic: 'events', partition: 0, offset },
  });
  const lettersIn = async (store: EventStore) =>
    (await store.listDeadLetters({ zones: 'all', limit: 10_000 })).map(({ index, bytes }) => `${index} ${Buffer.from(bytes).toString()}`);
  const storeWith = async (...deadLetters: DeadLetter[]): Promise<EventStore> => {
    const store = await storeIn(temporaryFolder(), { now: () => NOW });
    await store.append(canonicalBatch([], { deadLetters }));
    return store;
  };

  test('become events under the ids that they would have had, also where they are the same bytes', async () => {
    const builder = new BatchBuilder(RULES);
    addKafkaMessage(builder, 'events', 0, 5n, Buffer.from(`[${late()},${late()},{}]`));
    const store = await storeWith(...builder.take().deadLetters);
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 2, stillRejected: 1, notReplayable: 0 });
    expect((await storedIds(store)).sort()).toEqual(['events-0-5:0', 'events-0-5:1']);
    expect(await lettersIn(store)).toEqual(['2 {}']);
  });

  test('that are one of the whole message are divided as the message would be now', async () => {
    const store = await storeWith(
      wholeLetter(`[${late()},${late()}]`, 5n),
      wholeLetter(`${late()}\n${rawEvent({ logId: 'own' })}`, 6n),
      wholeLetter(late(), 7n),
      wholeLetter(`\0\0${late()}`, 8n),
      wholeLetter('', 9n),
    );
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 4, stillRejected: 1, notReplayable: 0 });
    const ids = ['events-0-5:0', 'events-0-5:1', 'events-0-6:0', 'events-0-7', 'events-0-8', 'own'];
    expect((await storedIds(store)).sort()).toEqual(ids);
    expect(await lettersIn(store)).toEqual(['null ']);
  });

  test('are gone where the message is an array of none', async () => {
    const store = await storeWith(wholeLetter(' [] '));
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 1, stillRejected: 0, notReplayable: 0 });
    expect(await lettersIn(store)).toEqual([]);
  });

  test('leave letters of those that still break a rule, and a second replay of the message stores none twice', async () => {
    const message = wholeLetter(`[${late()},{},${rawEvent({ logId: 'own' })},[1]]`);
    const store = await storeWith(message);
    for (let round = 0; round < 2; round++) {
      expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 1, stillRejected: round === 0 ? 2 : 4, notReplayable: 0 });
      expect(await storedIds(store)).toEqual(['events-0-5:0', 'own']);
      expect(await lettersIn(store)).toEqual(['1 {}', '3 [1]']);
      await store.append(canonicalBatch([], { deadLetters: [message] }));
    }
  });

  test('stay whole where too many events in them break a rule, and the others are stored', async () => {
    const text = `[${late()},${'1,'.repeat(1_001)}${late()}]`;
    const store = await storeWith(wholeLetter(text));
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 0, stillRejected: 1, notReplayable: 0 });
    expect((await storedIds(store)).sort()).toEqual(['events-0-5:0', 'events-0-5:1002']);
    expect(await lettersIn(store)).toEqual([`null ${text}`]);
  });

  test('stay whole where there is no room for letters of the events that still break a rule', async () => {
    const text = `[${late()},{"a":${JSON.stringify('x'.repeat(1_000))}}]`;
    const store = await storeIn(temporaryFolder(), { now: () => NOW, deadLetterQuotaBytes: 2_400 });
    await store.append(canonicalBatch([], { deadLetters: [wholeLetter(text)] }));
    expect(await replayDeadLetters(store, LATER)).toMatchObject({ replayed: 0, stillRejected: 1 });
    expect(await storedIds(store)).toEqual(['events-0-5:0']);
    expect((await lettersIn(store))[0]).toEqual(`null ${text}`);
  });
});

describe('dead letters of mapped records', () => {
  const TIME = 'timestamp: {path: t, time: unix}\n';
  const ZONE = 'zone: {path: site, table: {shop: 7}}\n';
  const own = (text: string): MappingThreads => {
    const threads = new MappingThreads(new Map([['own', { mapping: mappingOf(text), file: '', text, isPreset: false }]]));
    onTestFinished(() => threads.close());
    return threads;
  };
  const by = (text: string) => ({ ...AT_ONCE, threads: own(text) });
  const PLACE: MessagePlace = { topic: 'waf', partition: 3, offset: 5n };
  const letterOf = (record: string, rest: Partial<DeadLetter> = {}): DeadLetter => ({
    ...{ bytes: Buffer.from(record), cut: null, reason: 'the record has no zone', mapping: 'own', zoneId: null },
    ...{ source: 'http', topic: null, partition: null, offset: null, ...rest },
  });
  const ofKafka = { source: 'kafka', ...PLACE };
  const storeWith = async (...deadLetters: DeadLetter[]): Promise<EventStore> => {
    const store = await storeIn(temporaryFolder(), { now: () => NOW });
    await store.append(canonicalBatch([], { deadLetters }));
    return store;
  };
  const lettersIn = async (store: EventStore) =>
    (await store.listDeadLetters({ zones: 'all', limit: 2_000 })).map(
      ({ mapping, index, zoneId, bytes }) => `${mapping} ${index} ${zoneId} ${Buffer.from(bytes).toString()}`,
    );
  const RECORD = `{"t":${NOW},"site":"shop"}`;
  const LATE = `{"t":${NOW + HOUR},"site":"shop"}`;
  const STAYS = { replayed: 0, stillRejected: 1, notReplayable: 0 };
  const GONE = { replayed: 1, stillRejected: 0, notReplayable: 0 };

  const FROM: readonly (readonly [string, Partial<DeadLetter>, MessagePlace | null])[] = [
    ['HTTP', {}, null],
    ['a file', { source: 'file' }, null],
    ['Kafka', ofKafka, PLACE],
    ['Kafka, one item of a message', { ...ofKafka, index: 70 }, PLACE],
  ];
  test.each(FROM)(
    'from %s become events once their zone is in the table, under the ids that the first try would give',
    async (_, origin, place) => {
      const store = await storeWith(letterOf(RECORD, origin));
      expect(await replayDeadLetters(store, by(TIME))).toEqual(STAYS);
      expect(await replayDeadLetters(store, { ...by(TIME + ZONE), zones: [7] })).toEqual({ ...STAYS, stillRejected: 0 });
      expect(await replayDeadLetters(store, by(TIME + ZONE))).toEqual(GONE);
      const id = recordId(Buffer.from(RECORD), place);
      expect(await storedIds(store)).toEqual([id]);
      expect(await lettersIn(store)).toEqual([]);
      // The record comes once more, and is the same event, also where its zone comes from elsewhere.
      const builder = new BatchBuilder(RULES);
      const mapper = new RecordMapper(mappingOf(TIME), { given: 7, fallback: null, opens: () => true });
      mapper.map(Buffer.from(RECORD), (mapped) => mapped.kind === 'event' && builder.tryEvent(mapped.event), place);
      await store.append(builder.take());
      expect(await storedIds(store)).toEqual([id]);
    },
  );

  test('keep the zone that they have, so that a key of it writes to no other one', async () => {
    const store = await storeWith(letterOf(RECORD, { zoneId: 7 }));
    const elsewhere = 'zone: {path: site, table: {shop: 8}}\n';
    expect(await replayDeadLetters(store, { ...by(TIME + elsewhere), zones: [7] })).toEqual(GONE);
    expect(await storedIds(store)).toEqual([recordId(Buffer.from(RECORD), null)]);
  });

  test.each([
    ['whose time is not yet allowed stay, and are events later', LATE, TIME, STAYS, GONE],
    ['that the mapping leaves out by now are gone', RECORD, `${TIME}leaveOut: {path: site, table: {shop: 'true'}}\n`, GONE],
    ['that are past the retention are gone', `{"t":${NOW - 1_000 * HOUR},"site":"shop"}`, TIME, GONE],
    ['whose time is where the mapping does not look stay', RECORD, 'timestamp: {path: time, time: unix}\n', STAYS],
    ['that are no JSON stay', ' broken ', TIME, STAYS],
  ])('%s', async (_, record, mapping, first, later = first) => {
    const store = await storeWith(letterOf(record, { zoneId: 7 }));
    expect(await replayDeadLetters(store, by(mapping))).toEqual(first);
    expect(await replayDeadLetters(store, { ...LATER, threads: own(mapping) })).toEqual(first === GONE ? { ...GONE, replayed: 0 } : later);
    expect(await lettersIn(store)).toEqual(later === STAYS ? [`own null 7 ${record}`] : []);
  });

  test('stay where the program has no mapping of their name, which is told', async () => {
    const store = await storeWith(letterOf(RECORD, { mapping: 'gone' }), letterOf(LATE, { mapping: 'gone' }), letterOf(RECORD));
    const told = { replayed: 1, stillRejected: 2, notReplayable: 0, missingMappings: ['gone'] };
    expect(await replayDeadLetters(store, by(TIME + ZONE))).toEqual(told);
    expect(await lettersIn(store)).toEqual([`gone null null ${RECORD}`, `gone null null ${LATE}`]);
  });

  test.each([
    ['of a preset', 'aws-waf'],
    ['of a mapping that is no more', 'gone'],
    ['of none', null],
  ])('%s become events by a mapping that is named for them, and others as ever', async (_, mapping) => {
    const store = await storeWith(letterOf(RECORD, { mapping }), letterOf(LATE, { mapping }), letterOf(RECORD, { mapping: 'other' }));
    const ids = (await store.listDeadLetters({ zones: 'all', limit: 2 })).map(({ id }) => id);
    expect(await replayDeadLetters(store, { ...by(TIME + ZONE), ids, mapping: 'own' })).toEqual({ ...GONE, stillRejected: 1 });
    expect(await storedIds(store)).toEqual([recordId(Buffer.from(RECORD), null)]);
    // What still breaks a rule stays as it came.
    expect(await lettersIn(store)).toEqual([`${mapping} null null ${LATE}`, `other null null ${RECORD}`]);
  });

  const ENVELOPES = `${TIME}${ZONE}items: records\n`;
  test.each([
    ['HTTP', {}, null, 'null', ''],
    ['Kafka', ofKafka, PLACE, '1', ''],
    // They are mapped on a thread.
    ['HTTP, long ones,', {}, null, 'null', 'x'.repeat(MAX_BYTES_HERE)],
    ['Kafka, long ones,', ofKafka, PLACE, '1', 'x'.repeat(MAX_BYTES_HERE)],
  ] as const)('from %s that are envelopes by now are divided, once however often', async (_, origin, place, index, filling) => {
    const other = RECORD.replace('}', `,"n":"${filling}"}`);
    const envelope = letterOf(`{"records":[${RECORD},${LATE},${other}]}`, origin);
    const store = await storeWith(envelope);
    for (let round = 0; round < 2; round++) {
      expect(await replayDeadLetters(store, by(ENVELOPES))).toEqual({ replayed: 1, stillRejected: 1 + round, notReplayable: 0 });
      expect((await storedIds(store)).sort()).toEqual([RECORD, other].map((text) => recordId(Buffer.from(text), place)).sort());
      expect(await lettersIn(store)).toEqual([`own ${index} 7 ${LATE}`]);
      await store.append(canonicalBatch([], { deadLetters: [envelope] }));
    }
    expect(await replayDeadLetters(store, { ...LATER, threads: own(ENVELOPES) })).toEqual({ ...GONE, replayed: 2 });
    expect(await lettersIn(store)).toEqual([]);
    expect(await storedIds(store)).toHaveLength(3);
  });

  test.each([
    ['an array', (records: readonly string[]) => `[${records.join(',')}]`],
    ['lines', (records: readonly string[]) => records.join('\n')],
  ])('from Kafka that are %s of records are divided', async (_, messageOf) => {
    const other = RECORD.replace('}', ',"n":1}');
    const store = await storeWith(letterOf(messageOf([RECORD, LATE, other, '5']), ofKafka));
    expect(await replayDeadLetters(store, by(TIME + ZONE))).toEqual({ replayed: 1, stillRejected: 2, notReplayable: 0 });
    expect((await storedIds(store)).sort()).toEqual([RECORD, other].map((text) => recordId(Buffer.from(text), PLACE)).sort());
    expect((await lettersIn(store)).sort()).toEqual([`own 1 7 ${LATE}`, 'own 3 null 5']);
    const many = letterOf(messageOf([...Array.from({ length: 1_001 }, () => '5'), RECORD]), ofKafka);
    const whole = await storeWith(many);
    expect(await replayDeadLetters(whole, by(TIME + ZONE))).toEqual(STAYS);
    expect(await storedIds(whole)).toEqual([recordId(Buffer.from(RECORD), PLACE)]);
  });

  test('that are envelopes of very many records that break a rule stay whole, and the others of them are stored', async () => {
    const envelope = `{"records":[${`{},`.repeat(1_001)}${RECORD}]}`;
    const store = await storeWith(letterOf(envelope));
    expect(await replayDeadLetters(store, by(ENVELOPES))).toEqual(STAYS);
    expect(await storedIds(store)).toEqual([recordId(Buffer.from(RECORD), null)]);
    expect(await lettersIn(store)).toEqual([`own null null ${envelope}`]);
  });
});

test('more dead letters than are looked at in one go are all replayed', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  for (let index = 0; index < 450; index++) {
    addKafkaMessage(
      builder,
      'events',
      0,
      BigInt(index),
      Buffer.from(index % 3 === 0 ? `${index}` : rawEvent({ logId: `e${index}`, timestamp: NOW + HOUR })),
    );
  }
  await store.append(builder.take());
  expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 300, stillRejected: 150, notReplayable: 0 });
  expect(await store.stats()).toMatchObject({ events: 300, deadLetters: 150 });
});

test('long dead letters are read a few at a time and stored in batches of bounded size', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  for (let index = 0; index < 40; index++) {
    const log = { filling: 'x'.repeat(1_000_000) };
    builder.addEvent('http', Buffer.from(rawEvent({ logId: `e${index}`, timestamp: NOW + HOUR, log })));
  }
  await store.append(builder.take());
  const bytesRead: number[] = [];
  const batches: EventBatch[] = [];
  const watched = alteredStore(store, {
    listDeadLetters: async (options) => {
      const letters = await store.listDeadLetters(options);
      bytesRead.push(letters.reduce((sum, { bytes }) => sum + bytes.length, 0));
      return letters;
    },
    append: (batch) => {
      batches.push(batch);
      return store.append(batch);
    },
  });
  expect(await replayDeadLetters(watched, LATER)).toEqual({ replayed: 40, stillRejected: 0, notReplayable: 0 });
  expect(Math.max(...bytesRead)).toBeLessThan(6_000_000);
  expect(Math.max(...batches.map(({ eventCount }) => eventCount))).toBeLessThan(20);
  expect(await store.stats()).toMatchObject({ events: 40, deadLetters: 0 });
});

test('a replay that nobody waits for any more ends, and what it has not stored stays as it is', async () => {
  const store = await storeWithDeadLetters();
  const gone = new AbortController();
  const watched = alteredStore(store, {
    listDeadLetters: (selection) => {
      gone.abort(new Error('gone'));
      return store.listDeadLetters(selection);
    },
  });
  await expect(replayDeadLetters(watched, { ...LATER, signal: gone.signal })).rejects.toThrow('gone');
  expect(await store.stats()).toMatchObject({ events: 1, deadLetters: 3 });
});

test('others get their turn while dead letters are tried', async () => {
  const store = await storeWithDeadLetters();
  let ended = false;
  const replay = replayDeadLetters(store, AT_ONCE).finally(() => {
    ended = true;
  });
  await new Promise(setImmediate);
  expect(ended).toBe(false);
  expect(await replay).toEqual({ replayed: 0, stillRejected: 3, notReplayable: 0 });
});
