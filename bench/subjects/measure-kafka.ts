import type { Codec } from '../../test/broker/foreign-producer.ts';
import { type KafkaBacklog, produceBacklog } from './kafka-backlog.ts';
import { kafkaFigures } from './kafka-figures.ts';
import type { KafkaOrder, KafkaReport } from './kafka-subject-report.ts';
import { runSubject } from './run-subject.ts';

export interface KafkaMeasurement {
  readonly events: number;
  readonly partitions: number;
  readonly codec: Codec;
  readonly memoryLimitMb: number;
  /** How many single events are timed. */
  readonly latencies: number;
}

/** Why nothing was measured: there is no broker, or it could not be filled. */
export class NoBacklog extends Error {
  override readonly name = 'NoBacklog';
}

/**
 * Measures the way from a Kafka broker into the store: how fast a backlog becomes durable and searchable, with and without a search
 * every 100 ms beside, and how long a single event takes. Resolves with the figures as text. Throws `NoBacklog`.
 */
export async function measureKafka(measurement: KafkaMeasurement): Promise<string> {
  const { events, memoryLimitMb, latencies } = measurement;
  const { brokers, backlog, fresh, bytes, stop } = await filledBroker(measurement);
  try {
    process.stderr.write('reading from Kafka\n');
    const order = { brokers, backlog, fresh, events, memoryLimitMb };
    const alone = await runSubject<KafkaOrder, KafkaReport>('kafka-subject.ts', { ...order, latencies, searches: false });
    const searched = await runSubject<KafkaOrder, KafkaReport>('kafka-subject.ts', { ...order, latencies: 0, searches: true });
    return kafkaFigures({ ...measurement, bytes }, alone, searched);
  } finally {
    await stop();
  }
}

async function filledBroker(measurement: KafkaMeasurement): Promise<KafkaBacklog> {
  process.stderr.write(`producing ${measurement.events} events into Kafka\n`);
  try {
    return await produceBacklog(measurement);
  } catch (cause) {
    throw new NoBacklog((cause as Error).message, { cause });
  }
}
