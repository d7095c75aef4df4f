import type { FetchedBatch, PartitionCursor } from './kafka-partition.ts';

/** A transaction hangs that is open for so long: by default Kafka itself ends one after as much time without its producer. */
const HANGING_AFTER_MS = 60_000;

/** A transaction that hangs. Its partition is read again once it ends. */
export interface HangingTransaction {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  /** The broker's newest offset, plus one. */
  readonly end: bigint;
  readonly sinceMs: number;
}

/** Notes the end of the partition by a fetch, and how long the offset that it can be read to has stood below that. */
export function noteEnds(
  cursor: PartitionCursor,
  { highWatermark, rawMessages: { lastStableOffset } }: Pick<FetchedBatch, 'highWatermark' | 'rawMessages'>,
  nowMs: number,
): void {
  const [end, stable] = [BigInt(highWatermark), BigInt(lastStableOffset ?? -1)];
  // A broker that finds a batch damaged tells neither.
  if (end < 0n) return;
  cursor.end = end;
  const isBelow = stable >= 0n && stable < end;
  const sinceMs = cursor.stable?.offset === stable ? cursor.stable.sinceMs : nowMs;
  cursor.stable = isBelow ? { offset: stable, sinceMs, seenMs: nowMs } : null;
}

/** The transactions that hang. Fetches tell, so that of a partition that is not read nothing is said. */
export function hangingTransactions(cursors: Iterable<PartitionCursor>): readonly HangingTransaction[] {
  return [...cursors].flatMap(({ topic, partition, end, stable }) =>
    stable === null || stable.seenMs - stable.sinceMs < HANGING_AFTER_MS
      ? []
      : [{ topic, partition, offset: stable.offset, end, sinceMs: stable.sinceMs }],
  );
}

/** Says for people where a transaction hangs, and what to do. */
export function explainTransaction({ topic, partition, offset, end, sinceMs }: HangingTransaction): string {
  return (
    `topic ${topic} partition ${partition} is read up to offset ${offset} and not to its end ${end}: a transaction has been open there ` +
    `since ${new Date(sinceMs).toISOString()}; it goes on when the producer commits or aborts it, or after kafka-transactions.sh abort`
  );
}
