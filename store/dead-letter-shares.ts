import type { DeadLetter } from './dead-letter.ts';

/** Bytes that a dead letter takes beside its message and texts, with its share of the indexes. */
const ROW_BYTES = 400;

/** Records of Kafka's messages that came when the quota was used up may take this share of it, in addition to it. */
export const RECORDS_SHARE: number = 1 / 16;

/** Whole letters, or records, of which only the origin, the reason and the hash are kept. */
export type LetterKind = 'letters' | 'records';

/** What is logged where the quota is used up. */
export const QUOTA_USED_UP =
  'dead letters use up DEAD_LETTER_MAX_MB: new ones are not kept, or the oldest of the zone that has most gave way; ' +
  'replay or discard some, or raise it';

/** The bytes of the quota that a dead letter takes beside those of its message. */
export function recordCostOf({ reason, topic, mapping }: Pick<DeadLetter, 'reason' | 'topic' | 'mapping'>): number {
  return ROW_BYTES + Buffer.byteLength(reason) + Buffer.byteLength(topic ?? '') + Buffer.byteLength(mapping ?? '');
}

/**
 * Returns whether zones that hold more bytes than another one, which holds `own`, give way by so many bytes before they hold no more than
 * it. A zone with more gives up one letter at least.
 *
 * @param held what zones hold, those with more at least
 */
export function canSpare(bytes: number, own: number, held: Iterable<number>): boolean {
  let spared = 0;
  for (const cost of held) {
    spared += cost > own ? Math.max(cost - own, ROW_BYTES) : 0;
    if (spared >= bytes) {
      return true;
    }
  }
  return false;
}
