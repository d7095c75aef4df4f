import { type Codec, produceFile } from '../../test/broker/foreign-producer.ts';
import { startBroker } from '../../test/broker/kafka-broker.ts';
import { createTopic, uniqueName } from '../../test/broker/test-topic.ts';
import { benchOptions, eventFile } from '../events/event-file.ts';
import { count, line, mib, ms, percentile } from '../report/figures.ts';
import { runSubject } from './fork-subject.ts';
import type { KafkaOrder, KafkaReport } from './kafka-subject.ts';

export interface KafkaMeasurement {
  readonly events: number;
  readonly partitions: number;
  readonly codec: Codec;
  readonly memoryLimitMb: number;
  /** Single events that are timed. */
  readonly latencies: number;
}

/** Nothing was measured, because there is no broker or it could not be filled. */
export class NoBacklog extends Error {
  override readonly name = 'NoBacklog';
}

/**
 * Measures how fast a backlog in a Kafka broker becomes durable and searchable, with and without a search every 100 ms, and the time of a
 * single event. Resolves with the figures as text. Throws `NoBacklog`.
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

interface BacklogOptions {
  readonly events: number;
  readonly partitions: number;
  readonly codec: Codec;
}

/** Generated events that wait in a Kafka broker. */
interface KafkaBacklog {
  /** `host:port`, separated by commas. */
  readonly brokers: string;
  /** The topic of the events. */
  readonly backlog: string;
  /** An empty topic. */
  readonly fresh: string;
  /** Bytes of the events, uncompressed. */
  readonly bytes: number;
  /** Ends the broker if it was started here. */
  stop(): Promise<void>;
}

/**
 * Produces the events into the broker that KAFKA_BROKERS names, or into one that it starts from Docker or Maven's jars. Throws if there is
 * no broker, or no program to produce with.
 */
async function produceBacklog({ events, partitions, codec }: BacklogOptions): Promise<KafkaBacklog> {
  const outside = process.env['KAFKA_BROKERS'] ?? '';
  const own = outside === '' ? await startBroker() : null;
  const stop = async (): Promise<void> => own?.stop();
  const brokers = own?.address ?? outside;
  try {
    const [backlog, fresh] = [uniqueName('backlog'), uniqueName('fresh')];
    await createTopic(brokers, backlog, partitions);
    await createTopic(brokers, fresh, 1);
    const { path, bytes } = await eventFile(benchOptions(events));
    await produceFile(brokers, backlog, path, codec);
    return { brokers, backlog, fresh, bytes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface KafkaCircumstances {
  readonly events: number;
  readonly bytes: number;
  readonly partitions: number;
  readonly codec: string;
}

/** The figures of reading from Kafka, without searches and with them, as text. */
export function kafkaFigures({ events, bytes, partitions, codec }: KafkaCircumstances, alone: KafkaReport, searched: KafkaReport): string {
  const rate = ({ elapsedMs }: KafkaReport) => count(events / (elapsedMs / 1000));
  const cpu = ({ cpuMicros }: KafkaReport) => `${(cpuMicros / events).toFixed(1)} µs`;
  const spread = (times: readonly number[], high: number) =>
    `p50 ${ms(percentile(times, 0.5))}, p${high * 100} ${ms(percentile(times, high))}`;
  return [
    `Kafka: ${count(events)} events of ${Math.round(bytes / events)} bytes, ${codec}, ${partitions} partitions`,
    line('events/s, broker to durable and searchable', rate(alone)),
    line('  with a search every 100 ms', rate(searched)),
    line('  those searches', `${spread(searched.searchMs, 0.95)} (${searched.searchMs.length} searches)`),
    line('  resident memory, peak', `${mib(alone.peakRssBytes)}; with searches ${mib(searched.peakRssBytes)}`),
    line('  CPU of the program, an event', `${cpu(alone)}; with searches ${cpu(searched)}`),
    line('  batches stored, pauses', `${count(alone.batches)}, ${count(alone.pauses)}`),
    line('from the start of the source to the first message', ms(alone.toFirstMs)),
    line('from produce to searchable, a single event', `${spread(alone.freshMs, 0.99)} (${alone.freshMs.length} events)`),
  ].join('\n');
}
