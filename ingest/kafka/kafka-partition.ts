/** One assigned partition: how far it has been read, which is further than it is stored. */
export interface PartitionCursor {
  readonly topic: string;
  readonly partition: number;
  /**
   * The offset that the next fetch has to ask for; undefined until the partition has been placed. Whatever comes before that is not read.
   */
  next: bigint | undefined;
  /** The offset that the broker gave out last, plus one. */
  end: bigint;
  /** Held back because the store is behind. */
  held: boolean;
}

/** kafkajs's batch, with the offset that the fetch asked for, which its types leave out. */
export interface FetchedBatch {
  readonly fetchedOffset: string;
  readonly highWatermark: string;
  readonly messages: readonly { readonly offset: string; readonly value: Buffer | null }[];
  /** The last offset that the fetch covered, control records and aborted messages included. */
  lastOffset(): string;
}

export type TakenBatch =
  /** `next` lies behind all that the fetch covered. */
  | { readonly kind: 'taken'; readonly messages: number; readonly next: bigint }
  /** Not placed yet: the batch belongs to what was before. */
  | { readonly kind: 'early' }
  /**
   * The fetch did not ask for what is next, so kafkajs has moved the offset by itself, which it does when the broker calls it out of range.
   */
  | { readonly kind: 'strayed'; readonly fetched: bigint; readonly expected: bigint };

export function partitionCursor(topic: string, partition: number): PartitionCursor {
  return { topic, partition, next: undefined, end: 0n, held: false };
}

/**
 * Hands on the messages of a batch that continues the cursor, each offset once, and moves the cursor past it. Offsets may have gaps
 * (control records, aborted transactions, compaction): what counts is that the fetch asked for the offset that comes next.
 */
export function takeBatch(cursor: PartitionCursor, batch: FetchedBatch, add: (offset: bigint, value: Buffer | null) => void): TakenBatch {
  if (cursor.next === undefined) {
    return { kind: 'early' };
  }
  const fetched = BigInt(batch.fetchedOffset);
  if (fetched !== cursor.next) {
    return { kind: 'strayed', fetched, expected: cursor.next };
  }
  let next = cursor.next;
  let taken = 0;
  for (const message of batch.messages) {
    const offset = BigInt(message.offset);
    if (offset >= next) {
      add(offset, message.value);
      next = offset + 1n;
      taken++;
    }
  }
  const after = BigInt(batch.lastOffset()) + 1n;
  next = after > next ? after : next;
  cursor.next = next;
  cursor.end = BigInt(batch.highWatermark);
  return { kind: 'taken', messages: taken, next };
}
