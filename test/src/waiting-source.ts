import type { BlockedPartition } from '../../ingest/kafka/blocked-partition.ts';
import type { HangingTransaction } from '../../ingest/kafka/hanging-transaction.ts';
import { kafkaCounters } from '../../ingest/kafka/kafka-appender.ts';
import { KafkaRefused } from '../../ingest/kafka/kafka-fault.ts';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';

/** The batch that a {@link waitingSource} waits at. */
const WAITS_AT = 1_204n;

/** The topic that it reads. */
const TOPIC = 'events';

/** A source without a broker, which skips the batch at offset 1204 alone: what real ones do has tests of its own, with a broker. */
export function waitingSource(blocked: readonly BlockedPartition[] = [], hanging: readonly HangingTransaction[] = []): KafkaSource {
  return {
    reasonsNotReady: () => [],
    blocked: () => blocked,
    hanging: () => hanging,
    skip: async (topic, partition, offset) => {
      if (offset === WAITS_AT) return { kind: 'skipped', next: 1_904n };
      throw new KafkaRefused(`topic ${topic} partition ${partition} waits at offset ${WAITS_AT}, not ${offset}; nothing is skipped`);
    },
    rewind: async (topic) => {
      if (topic === TOPIC) return [{ partition: 3, from: 1_204n, until: 90_210n }];
      throw new KafkaRefused(`topic ${topic} is not read here; allowed: a topic of KAFKA_TOPICS`);
    },
    counters: kafkaCounters,
    lag: () => 0,
    stop: async () => {},
  };
}
