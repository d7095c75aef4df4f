import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { patchKafkajs } from '../../ingest/kafka/kafkajs-patches.ts';
import { until } from './until.ts';

/** Room for the largest message of the tests. */
const MAX_MESSAGE_BYTES = 8_000_000;

/** What a broker answers about a topic that it has not heard of, or that has no leader yet. */
const NOT_YET = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'];

/** A client of the brokers that is silent, and patient while they start. */
export function testClient(brokers: string): Kafka {
  patchKafkajs();
  return new kafkajs.Kafka({
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 30, maxRetryTime: 500 },
  });
}

/** Runs work with a connection to the brokers that may create and delete topics. */
export async function withAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = testClient(brokers).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** A name that no other test has. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`;
}

export async function createTopic(
  brokers: string,
  topic: string,
  partitions: number,
  config: Readonly<Record<string, string>> = {},
): Promise<void> {
  const entries = Object.entries({ 'max.message.bytes': String(MAX_MESSAGE_BYTES), ...config });
  const configEntries = entries.map(([name, value]) => ({ name, value }));
  await withAdmin(brokers, async (admin) => {
    // Its own wait for leaders fails where a broker has not heard of the topic yet, as after a deletion.
    await admin.createTopics({
      waitForLeaders: false,
      topics: [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }],
    });
    await until(`leaders of ${topic}`, () => hasLeaders(admin, topic));
  });
}

async function hasLeaders(admin: Admin, topic: string): Promise<boolean> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0));
  } catch (error) {
    if (NOT_YET.includes((error as { type?: string }).type ?? '')) {
      return false;
    }
    throw error;
  }
}

export async function deleteTopic(brokers: string, topic: string): Promise<void> {
  await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [topic] }));
}
