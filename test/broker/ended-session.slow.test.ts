import kafkajs, { type PartitionAssigner } from 'kafkajs';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { KafkaAppender, kafkaCounters } from '../../ingest/kafka/kafka-appender.ts';
import { kafkaClients, silentKafkaLogger } from '../../ingest/kafka/kafka-connection.ts';
import { KafkaSession } from '../../ingest/kafka/kafka-session.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { sourceUnderTest } from './source-under-test.ts';
import { createTopic, uniqueName, withAdmin } from './test-topic.ts';
import { until } from './until.ts';

/** Assigns partitions in a way that no other client offers, so the broker refuses all others in a group that uses it. */
const foreignAssigner: PartitionAssigner = (config) => ({
  ...kafkajs.PartitionAssigners.roundRobin(config),
  name: 'foreign',
  protocol: ({ topics }) => ({
    name: 'foreign',
    metadata: kafkajs.AssignerProtocol.MemberMetadata.encode({ version: 1, topics, userData: Buffer.alloc(0) }),
  }),
});

/** Joins the group as its only member, and returns a function that leaves it. */
async function occupyGroup(groupId: string, topic: string): Promise<() => Promise<void>> {
  const kafka = new kafkajs.Kafka({ brokers: inject('kafkaBrokers').split(','), logLevel: kafkajs.logLevel.NOTHING });
  const member = kafka.consumer({ groupId, partitionAssigners: [foreignAssigner] });
  onTestFinished(() => member.disconnect());
  await member.connect();
  await member.subscribe({ topics: [topic] });
  await member.run({ eachBatch: async () => {} });
  return () => member.disconnect();
}

it('attempts to join a group that refuses the source leave no timers behind', async () => {
  const topic = uniqueName('ended');
  const groupId = uniqueName('group');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const store = await storeIn(temporaryFolder());
  const made = vi.spyOn(globalThis, 'setInterval');
  const cleared = vi.spyOn(globalThis, 'clearInterval');
  onTestFinished(() => void vi.restoreAllMocks());
  const leave = await occupyGroup(groupId, topic);
  const source = sourceUnderTest({ store, topics: [topic], groupId });
  await until(
    'a second attempt to fail',
    () => source.complaints,
    (complaints) => complaints.length >= 2,
  );
  await source.stop();
  await leave();
  expect(source.complaints[0]).toContain('cannot be read from');
  const ended = cleared.mock.calls.map(([timer]) => timer);
  const left = made.mock.calls.filter((_call, index) => !ended.includes(made.mock.results[index]?.value));
  expect(left.map(([, delayMs]) => delayMs)).toEqual([]);
});

it('a session that is stopped while it connects does not join its group any more', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('ended');
  const groupId = uniqueName('group');
  await createTopic(brokers, topic, 1);
  const store = await storeIn(temporaryFolder());
  const kafka = kafkaClients({ brokers: brokers.split(','), tls: null, sasl: null }, 'test', silentKafkaLogger, Date.now)();
  const counters = kafkaCounters();
  const told = { onAppended: () => {}, onFailure: () => {} };
  const appender = new KafkaAppender({ store, counters, now: Date.now, retentionMs: RETENTION_MS, ...told });
  await withAdmin(brokers, async (admin) => {
    const session = new KafkaSession({
      ...{ kafka, admin, groupId, topics: new Map([[topic, undefined]]), store, appender },
      ...{ mapperOf: () => null, counters, now: Date.now, logger: silentKafkaLogger },
    });
    const started = session.start();
    await session.stop();
    await Promise.allSettled([started]);
    onTestFinished(() => session.stop());
    const { groups } = await admin.describeGroups([groupId]);
    expect(groups.flatMap(({ members }) => members.map(({ memberId }) => memberId))).toEqual([]);
  });
});
