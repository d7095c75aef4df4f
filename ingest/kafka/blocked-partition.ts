import { KafkaRefused } from './kafka-fault.ts';
import type { BatchFault } from './record-set.ts';

/** How long a partition waits at a batch that cannot be decoded, until it is tried again. */
export const BLOCKED_RETRY_MS = 60_000;

/** A partition that waits at a batch that cannot be decoded. */
export interface BlockedPartition {
  readonly topic: string;
  readonly partition: number;
  /** The first offset that is not read. */
  readonly offset: bigint;
  /** What is wrong with the batch there, as the end of a sentence about it. */
  readonly reason: string;
  /** The offset behind the batch; null where its header is damaged, too. */
  readonly next: bigint | null;
}

/** What became of a skip. `decoded`: the batch could be read at last, so nothing is skipped. */
export type SkipOutcome = { readonly kind: 'skipped'; readonly next: bigint } | { readonly kind: 'decoded' };

/** The partition that waits at the fault, from the cursor's offset on. `end` is the broker's newest offset, plus one. */
export function blockedAt(topic: string, partition: number, offset: bigint, end: bigint, { reason, next }: BatchFault): BlockedPartition {
  const isBehind = next !== null && next > offset && next <= end;
  return { topic, partition, offset, reason, next: isBehind ? next : null };
}

/** Says for people where the partition waits, why, and what to do. */
export function explainBlock({ topic, partition, offset, reason, next }: BlockedPartition): string {
  const to = next === null ? ' --to N, with the N of the next good batch' : '';
  return (
    `topic ${topic} partition ${partition} waits at offset ${offset}: the batch there ${reason}; ` +
    `it is tried again each minute; to go past it: shieldlog kafka skip ${topic} ${partition} ${offset}${to}`
  );
}

/** The offset to go on from behind the batch, `to` where its header is damaged. Throws KafkaRefused. */
export function skipTarget({ topic, partition, offset, next }: BlockedPartition, end: bigint, to: bigint | null): bigint {
  const batch = `the batch at offset ${offset} of topic ${topic} partition ${partition}`;
  if (next !== null) {
    if (to === null || to === next) return next;
    throw new KafkaRefused(`--to ${to} is not allowed: ${batch} has a whole header, and ends before offset ${next}; leave --to out`);
  }
  const allowed = `--to with the offset of the next good batch, ${offset + 1n} to ${end}`;
  if (to === null) throw new KafkaRefused(`the header of ${batch} is damaged, so where it ends is not known; add ${allowed}`);
  if (to <= offset || to > end) throw new KafkaRefused(`--to ${to} is not allowed for ${batch}; allowed: ${allowed}`);
  return to;
}

/** The reason of the dead letter that a skip leaves. */
export function skippedReason({ offset, reason }: BlockedPartition, next: bigint): string {
  const offsets = next === offset + 1n ? `offset ${offset}` : `offsets ${offset} to ${next - 1n}`;
  return `the batch of ${offsets} ${reason}; it was skipped by shieldlog kafka skip`;
}
