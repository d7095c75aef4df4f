import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';
import type { KafkaCounters } from './kafka-counters.ts';
import type { KafkaLogger } from './kafka-log.ts';
import type { PartitionCursor } from './kafka-partition.ts';
import { type OffsetRange, type StartOffset, startOffset } from './kafka-start.ts';

/** A broker that has just come back may for a moment tell an end that is too low, so the end is asked for twice. */
const SECOND_LOOK_MS = 2_000;
const RETRY_MS = 500;

export interface PlacementOptions {
  /** Waits this long first. */
  readonly afterMs: number;
  readonly admin: Admin;
  readonly store: EventStore;
  readonly counters: KafkaCounters;
  readonly logger: KafkaLogger;
  /** Appends what has been read so far; the store's source offsets are up to date afterwards. */
  readonly drain: () => Promise<void>;
  /** False once the cursor is of the past: the partition was assigned anew, or the session is over. */
  readonly isCurrent: (cursor: PartitionCursor) => boolean;
  /** Starts reading the partition at the offset. */
  readonly begin: (cursor: PartitionCursor, offset: bigint) => void;
}

/**
 * Has each partition read from where the store left off, once that offset has been held against what the topic has; one that the topic
 * does not have is told loudly and counted, and reading goes on from the earliest. Tries until it is done or the cursors are of the past.
 */
export async function placePartitions(cursors: readonly PartitionCursor[], options: PlacementOptions): Promise<void> {
  const doubtful = new Set<PartitionCursor>();
  let left = cursors;
  await delay(options.afterMs);
  while (left.length > 0) {
    try {
      await options.drain();
      const ranges = await offsetRanges(options.admin, left);
      left = left.filter((cursor) => options.isCurrent(cursor) && !place(cursor, ranges.get(cursor), doubtful, options));
      if (left.length > 0) {
        await delay(SECOND_LOOK_MS);
      }
    } catch (error) {
      left = left.filter(options.isCurrent);
      if (left.length > 0) {
        options.logger.debug({ err: error }, 'the offset ranges of the assigned Kafka partitions cannot be had yet');
        await delay(RETRY_MS);
      }
    }
  }
}

/** Returns whether the partition is placed. */
function place(
  cursor: PartitionCursor,
  range: OffsetRange | undefined,
  doubtful: Set<PartitionCursor>,
  { store, counters, logger, begin }: PlacementOptions,
): boolean {
  if (range === undefined) {
    return false;
  }
  const { topic, partition } = cursor;
  const stored = store.sourceOffset(topic, partition);
  const start = startOffset(stored, range);
  if (start.kind === 'pastEnd' && !doubtful.has(cursor)) {
    doubtful.add(cursor);
    return false;
  }
  if (start.kind === 'overtaken' || start.kind === 'pastEnd') {
    counters.outOfRangeOffsets++;
    const details = { topic, partition, stored: String(stored), earliest: String(range.earliest), end: String(range.next) };
    logger.error(details, outOfRangeMessage(start));
  }
  begin(cursor, start.offset);
  return true;
}

function outOfRangeMessage({ kind }: StartOffset): string {
  return kind === 'overtaken'
    ? 'Kafka has deleted messages that were not read yet; reading goes on from the earliest that is left'
    : 'the Kafka topic ends before the stored offset, so it was made anew or has lost messages; reading goes on from its earliest';
}

async function offsetRanges(admin: Admin, cursors: readonly PartitionCursor[]): Promise<Map<PartitionCursor, OffsetRange>> {
  const ranges = new Map<PartitionCursor, OffsetRange>();
  for (const topic of new Set(cursors.map((cursor) => cursor.topic))) {
    const offsets = await admin.fetchTopicOffsets(topic);
    for (const cursor of cursors) {
      const found = cursor.topic === topic ? offsets.find(({ partition }) => partition === cursor.partition) : undefined;
      if (found !== undefined) {
        ranges.set(cursor, { earliest: BigInt(found.low), next: BigInt(found.high) });
      }
    }
  }
  return ranges;
}
