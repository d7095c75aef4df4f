import { expect, inject, it, onTestFinished } from 'vitest';
import { replayDeadLetters } from '../../ingest/upload/dead-letter-replay.ts';
import { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import type { EventStore } from '../../store/event-store.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { runHere } from '../src/cli/command-run.ts';
import { startApp } from '../src/running-app.ts';
import { alteredStore } from './altered-store.ts';
import { ZONE } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const HOUR_MS = 3_600_000;
const MESSAGES = 200;
/** Of each message: events without ids, one that is too far in the future, and one that is none. */
const [EVENTS, LATE, WRONG] = [5, 5, 6] as const;

const event = (timestamp: number): string => JSON.stringify({ shieldZoneId: ZONE, timestamp, action: 'blocked' });

/** A message in one of the ways in which several events stand in it. */
function severalEvents(way: number): Buffer {
  const items = [...Array<string>(EVENTS).fill(event(Date.now())), event(Date.now() + HOUR_MS), '{"shieldZoneId":1}'];
  return Buffer.from([`[${items.join()}]`, items.join('\n'), items.join(''), `[\n${items.join(',\n')}\n]\n`][way % 4] as string);
}

const idsOf = (topic: string, indices: readonly number[]): string[] =>
  Array.from({ length: MESSAGES }, (_, offset) => indices.map((index) => `${topic}-0-${offset}:${index}`))
    .flat()
    .sort();

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

async function lettersOf(store: EventStore): Promise<string[]> {
  const letters = await store.listDeadLetters({ zones: 'all', limit: 10_000 });
  return letters.map(({ topic, partition, offset, index }) => `${topic}-${partition}-${offset}:${index}`).sort();
}

async function topicOfMessages(name: string): Promise<string> {
  const topic = uniqueName(name);
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const values = Array.from({ length: MESSAGES }, (_, index) => severalEvents(index));
  await sendValues(await ownProducer(), topic, values, 0);
  return topic;
}

it('several events in a message are stored once each where the store refuses batches, and so are their letters', async () => {
  const topic = await topicOfMessages('several-refused');
  const store = await storeIn(temporaryFolder(), { now: Date.now });
  let appends = 0;
  const refusing = alteredStore(store, {
    append: async (batch) => {
      appends++;
      if (appends === 1 || appends === 3) throw new Error('no space left on the device');
      return await store.append(batch);
    },
  });
  const source = sourceUnderTest({ store: refusing, topics: [topic] });
  await untilStored(store, MESSAGES * EVENTS);
  await sendValues(await ownProducer(), topic, [null, Buffer.alloc(0), Buffer.from('[]')], 0);
  await until('all messages to be read', async () => (await store.sourceOffset(topic, 0)) === BigInt(MESSAGES + 3));
  await untilReady(source);
  expect(appends).toBeGreaterThan(2);
  expect(await searchedIds(store)).toEqual(idsOf(topic, upTo(EVENTS)));
  expect(await lettersOf(store)).toEqual([...idsOf(topic, [LATE, WRONG]), `${topic}-0-${MESSAGES + 1}:null`].sort());
});

it('several events in a message are the same ones where the topic is read again, and where their letters are replayed', async () => {
  const topic = await topicOfMessages('several-rewound');
  const store = await storeIn(temporaryFolder(), { now: Date.now });
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, MESSAGES * EVENTS);
  const app = await startApp({ kafka: source });
  onTestFinished(() => app.stop());
  const { status, stderr } = await runHere(['kafka', 'rewind', '--topic', topic, '--since', '0', '--url', app.url]);
  expect([status, stderr]).toEqual([0, `partition 0 is read again from 0 to ${MESSAGES}\n`]);
  await until('the duplicates to be counted', async () => (await store.stats()).duplicateEvents === MESSAGES * EVENTS);
  expect(await searchedIds(store)).toEqual(idsOf(topic, upTo(EVENTS)));
  expect(await lettersOf(store)).toEqual(idsOf(topic, [LATE, WRONG]));

  const later = {
    zones: 'all',
    now: () => Date.now() + HOUR_MS,
    retentionMs: RETENTION_MS,
    threads: new MappingThreads(new Map()),
  } as const;
  expect(await replayDeadLetters(store, later)).toEqual({ replayed: MESSAGES, stillRejected: MESSAGES, notReplayable: 0 });
  expect(await searchedIds(store)).toEqual(idsOf(topic, upTo(EVENTS + 1)));
  expect(await lettersOf(store)).toEqual(idsOf(topic, [WRONG]));
  expect(await store.sourceOffset(topic, 0)).toBe(BigInt(MESSAGES));
});
