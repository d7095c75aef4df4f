import { type Codec, produceFile } from '../../test/broker/foreign-producer.ts';
import { startBroker } from '../../test/broker/kafka-broker.ts';
import { createTopic, uniqueName } from '../../test/broker/test-topic.ts';
import { benchOptions, eventFile } from '../events/event-file.ts';

interface BacklogOptions {
  readonly events: number;
  readonly partitions: number;
  readonly codec: Codec;
}

/** Generated events that wait in a Kafka broker. */
export interface KafkaBacklog {
  /** `host:port`, comma-separated where there are several. */
  readonly brokers: string;
  /** The topic that holds them. */
  readonly backlog: string;
  /** An empty topic beside it. */
  readonly fresh: string;
  /** Their size as they were made, uncompressed. */
  readonly bytes: number;
  /** Ends the broker, if it is one of its own. */
  stop(): Promise<void>;
}

/**
 * Produces the events into the broker that KAFKA_BROKERS names, or into one of its own from Docker or Maven's jars. Throws when there is
 * none, or nothing to produce with.
 */
export async function produceBacklog({ events, partitions, codec }: BacklogOptions): Promise<KafkaBacklog> {
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
