import kafkajs from 'kafkajs';
import { expect, inject, it, onTestFinished } from 'vitest';
import { MAX_PENDING_BYTES } from '../../ingest/event/pending-appends.ts';
import type { NamedMappings } from '../../ingest/mapping/named-mappings.ts';
import { replayDeadLetters } from '../../ingest/upload/dead-letter-replay.ts';
import type { RecordBatch } from '../../ingest/upload/mapped-pieces.ts';
import { MappingThreads, type UnderWay } from '../../ingest/upload/mapping-threads.ts';
import type { EventStore } from '../../store/event-store.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { mappingOf } from '../ingest/mapping/mapped.ts';
import { ask, startApp } from '../src/running-app.ts';
import { alteredStore } from './altered-store.ts';
import { ZONE } from './event-file.ts';
import { ownProducer, sendEvents, sendValues } from './own-producer.ts';
import { type SourceUnderTest, searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName, withAdmin } from './test-topic.ts';
import { until } from './until.ts';

/** A mapping by which records of these sites have the zone of the tests. */
function mappingsWith(...sites: string[]): NamedMappings {
  const table = sites.map((site) => `${site}: ${ZONE}`).join(', ');
  const text = `timestamp: {path: t, time: unix}\nid: [id]\nzone: {path: site, table: {${table}}}\nua: id\nitems: records`;
  return new Map([['own', { mapping: mappingOf(text), file: '', text, isPreset: false }]]);
}

/** Threads that map nothing from a batch on, as long as they are held. */
class HeldThreads extends MappingThreads {
  readonly #held = Promise.withResolvers<void>();
  readonly #asked = Promise.withResolvers<void>();
  /** Resolves when something waits to be mapped. */
  readonly asked = this.#asked.promise;
  #batches = 0;

  release(): void {
    this.#held.resolve();
  }

  override async begin(batch: RecordBatch, signal?: AbortSignal): Promise<UnderWay> {
    this.#batches++;
    if (this.#batches > 1) {
      this.#asked.resolve();
      await this.#held.promise;
    }
    return await super.begin(batch, signal);
  }
}

function heldThreads(): HeldThreads {
  const threads = new HeldThreads(mappingsWith('shop'));
  onTestFinished(() => threads.close());
  return threads;
}

const record = (id: string | null, site = 'shop'): string => JSON.stringify({ ...(id === null ? {} : { id }), t: Date.now(), site });

async function topicWith(values: readonly (string | null)[]): Promise<string> {
  const topic = uniqueName('mapped');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const messages = values.map((value) => (value === null ? null : Buffer.from(value)));
  await sendValues(await ownProducer(), topic, messages);
  return topic;
}

function mappedSource(store: EventStore, topic: string, threads: MappingThreads, groupId = uniqueName('group')): SourceUnderTest {
  return sourceUnderTest({ store, topics: [{ pattern: topic, mapping: 'own' }], threads, groupId });
}

it('a mapped topic beside one of events: letters with their place and mapping, tombstones, counts, a rewind and a replay', async () => {
  const same = record(null);
  const ofBlog = record('of a blog', 'blog');
  const topic = await topicWith([
    ...[record('one'), same, same, null, `{"records":[${record('two')},5,${ofBlog}]}`],
    ...['no record', `[${record('one')},${record('three')}]`],
  ]);
  const events = uniqueName('events');
  await createTopic(inject('kafkaBrokers'), events, 1);
  await sendEvents(await ownProducer(), events, ['event']);
  const store = await storeIn(temporaryFolder());
  const threads = heldThreads();
  threads.release();
  const source = sourceUnderTest({ store, topics: [{ pattern: topic, mapping: 'own' }, `{${topic},${events}}`], threads });
  const app = await startApp({ kafka: source });
  onTestFinished(() => app.stop());
  await untilStored(store, 6);
  await until('the offset to be stored', async () => (await store.sourceOffset(topic, 0)) === 7n);

  const ids = await searchedIds(store);
  const byPlace = ids.filter((id) => /^[0-9a-f]{32}$/.test(id));
  expect(ids.filter((id) => !byPlace.includes(id))).toEqual(['event', 'one', 'three', 'two']);
  expect(byPlace).toHaveLength(2);
  const letters = async () =>
    (await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ bytes, source: from, offset, index, mapping, zoneId }) => [
      ...[Buffer.from(bytes).toString(), from, offset, index, mapping, zoneId],
    ]);
  expect(await letters()).toEqual([
    ['5', 'kafka', 4n, 1, 'own', null],
    [ofBlog, 'kafka', 4n, 2, 'own', null],
    ['no record', 'kafka', 5n, null, 'own', null],
  ]);
  expect(source.counters()).toMatchObject({ messages: 8, tombstones: 1 });
  const metrics = async () => [...(await ask(app, '/metrics')).text.matchAll(/^shieldlog_mapped_records_total.*$/gm)].map(([line]) => line);
  const counted = (accepted: number, rejected: number) => [
    `shieldlog_mapped_records_total{mapping="own",verdict="accepted"} ${accepted}`,
    'shieldlog_mapped_records_total{mapping="own",verdict="expired"} 0',
    `shieldlog_mapped_records_total{mapping="own",verdict="rejected"} ${rejected}`,
    'shieldlog_mapped_records_total{mapping="own",verdict="left_out"} 0',
  ];
  expect(await metrics()).toEqual(counted(6, 3));
  expect(await metrics()).toEqual(counted(6, 3));

  await source.rewind(topic, 0);
  await until('all to be read again', () => source.counters().messages === 15);
  await until('the offset to be stored again', async () => (await store.sourceOffset(topic, 0)) === 7n);
  expect(await searchedIds(store)).toEqual(ids);
  expect(await letters()).toHaveLength(3);
  expect(await metrics()).toEqual(counted(12, 6));

  const report = await replayDeadLetters(store, {
    now: Date.now,
    retentionMs: RETENTION_MS,
    zones: 'all',
    threads: new MappingThreads(mappingsWith('shop', 'blog')),
  });
  expect(report).toMatchObject({ replayed: 1, stillRejected: 2 });
  expect((await searchedIds(store)).filter((id) => !ids.includes(id))).toEqual(['of a blog']);
});

const IDS = Array.from({ length: 2_000 }, (_, index) => `record-${String(index).padStart(4, '0')}`);
/** Together longer than what is mapped at a time. */
const RECORDS = IDS.map((id) => record(id).replace('}', `,"more":"${'x'.repeat(300)}"}`));

interface Waiting {
  readonly source: SourceUnderTest;
  readonly store: EventStore;
  readonly topic: string;
  readonly groupId: string;
  readonly threads: HeldThreads;
}

/** Another member of the group asks for partitions, and goes when it has got them. */
async function joinAndGo({ groupId, topic, threads }: Waiting): Promise<void> {
  const brokers = inject('kafkaBrokers');
  const member = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).consumer({ groupId });
  onTestFinished(() => member.disconnect());
  const joined = new Promise<void>((resolve) => member.on(member.events.GROUP_JOIN, () => resolve()));
  let hasJoined = false;
  void joined.then(() => {
    hasJoined = true;
  });
  await member.connect();
  await member.subscribe({ topics: [topic] });
  // It resolves once the member has joined, for which the group waits for the one that is held.
  const running = member.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async () => {} });
  await withAdmin(brokers, (admin) =>
    until(
      'the group to wait for its members',
      // After six seconds it gives the member that is held up.
      async () => (hasJoined ? 'joined' : (await admin.describeGroups([groupId])).groups[0]?.state),
      (state) => state === 'PreparingRebalance' || state === 'joined',
    ),
  );
  threads.release();
  await Promise.all([joined, running]);
  await member.disconnect();
}

it.each<[what: string, move: (waiting: Waiting) => Promise<unknown>, isReadTwice: boolean]>([
  ['is read again', ({ source, topic }) => source.rewind(topic, 0), true],
  ['is given to another member and back', joinAndGo, false],
  [
    'is stopped and started',
    async ({ source, store, topic }) => {
      await source.stop();
      await until('what was taken to be stored', async () => ((await store.sourceOffset(topic, 0)) ?? 0n) > 0n);
    },
    false,
  ],
])('records that are mapped while their partition %s are there once', async (what, move, isReadTwice) => {
  const topic = await topicWith(RECORDS);
  const store = await storeIn(temporaryFolder());
  const [threads, groupId] = [heldThreads(), uniqueName('group')];
  const source = mappedSource(store, topic, threads, groupId);
  await threads.asked;
  await move({ source, store, topic, groupId, threads });
  threads.release();
  if (what.includes('stopped')) mappedSource(store, topic, threads);
  await untilStored(store, IDS.length);
  expect(await searchedIds(store)).toEqual(IDS);
  expect((await store.stats()).duplicateEvents > 0).toBe(isReadTwice);
});

it('records that are mapped while a batch before them is refused are there once', async () => {
  const topic = await topicWith(RECORDS);
  const store = await storeIn(temporaryFolder());
  let appends = 0;
  const refusing = alteredStore(store, {
    append: async (batch) => {
      appends++;
      if (appends === 1) throw new Error('no space left on the device');
      return await store.append(batch);
    },
  });
  const threads = heldThreads();
  const source = mappedSource(refusing, topic, threads);
  await threads.asked;
  await until('the refusal to be told', () => source.reasonsNotReady().join().includes('no space left'));
  threads.release();
  await untilStored(store, IDS.length);
  await untilReady(source);
  expect(await searchedIds(store)).toEqual(IDS);
  expect((await store.stats()).duplicateEvents).toBe(0);
});

it('records of a batch that is held back in its middle are read on from there', async () => {
  const topic = await topicWith(RECORDS);
  const store = await storeIn(temporaryFolder());
  let isBehind = true;
  const lagging = alteredStore(store, { pendingBytes: () => (isBehind ? MAX_PENDING_BYTES + 1 : store.pendingBytes()) });
  const threads = heldThreads();
  threads.release();
  const source = mappedSource(lagging, topic, threads);
  await until('the partition to be paused', () => source.counters().pauses === 1);
  const { messages } = source.counters();
  isBehind = false;
  await untilStored(store, IDS.length);
  expect([messages > 0, messages < IDS.length]).toEqual([true, true]);
  expect(await searchedIds(store)).toEqual(IDS);
  expect([source.counters().messages, (await store.stats()).duplicateEvents, source.complaints]).toEqual([IDS.length, 0, []]);
});
