import type { Admin } from 'kafkajs';
import { KafkaRefused } from './kafka-fault.ts';
import type { PartitionCursor } from './kafka-partition.ts';

/** A partition that is read again. */
export interface RewoundPartition {
  readonly partition: number;
  /** The offset from which on it is read again. */
  readonly from: bigint;
  /** The offset up to which it had been read. */
  readonly until: bigint;
}

/**
 * The offset of the first message of each partition of a topic that has this time or a later one, in Unix milliseconds; the end of the
 * partition where there is none. Throws KafkaRefused where the brokers do not tell.
 */
export async function offsetsSince(admin: Admin, topic: string, sinceMs: number): Promise<ReadonlyMap<number, bigint>> {
  try {
    const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, sinceMs);
    return new Map(offsets.map(({ partition, offset }) => [partition, BigInt(offset)]));
  } catch (error) {
    // What kafkajs says names brokers.
    throw new KafkaRefused(`the Kafka brokers do not tell the offsets of topic ${topic}; nothing is read again`, { cause: error });
  }
}

/** The partitions of a topic that have been read further than to these offsets. Throws KafkaRefused. */
export function rewoundPartitions(
  topic: string,
  cursors: readonly Pick<PartitionCursor, 'partition' | 'next'>[],
  since: ReadonlyMap<number, bigint>,
): RewoundPartition[] {
  return cursors.flatMap(({ partition, next: until }) => {
    if (until === undefined) throw new KafkaRefused(`topic ${topic} partition ${partition} waits for its offset; try again`);
    const from = since.get(partition) ?? until;
    return from < until ? [{ partition, from, until }] : [];
  });
}
