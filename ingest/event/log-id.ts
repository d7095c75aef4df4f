import { createHash, hash } from 'node:crypto';

/** The longest `logId` that an event may have, in bytes of UTF-8. */
export const LONGEST_LOG_ID_BYTES = 512;

/** Where a message is in Kafka. */
export interface MessagePlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/**
 * The id of an event that has none of its own and comes from Kafka. `index` is which of several events of its message it is, from 0; null
 * where it is the only one. No topic has a colon in its name: with a "-" those of the topics `a` and `a-1` would be the same.
 */
export function messageLogId({ topic, partition, offset }: MessagePlace, index: number | null): string {
  const place = `${topic}-${partition}-${offset}`;
  return index === null ? place : `${place}:${index}`;
}

/**
 * The id of an event that has none of its own and does not come from Kafka: the start of the SHA-256 over its bytes, without the blanks
 * around it.
 */
export function digestId(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 32);
}

/**
 * The id of the event of a mapped record that has none by its mapping: as `digestId`, and where the record, or the message that it is in,
 * comes from Kafka, over `TOPIC-PARTITION-OFFSET ` and its bytes. Two messages of the same bytes are two events, as those of our own form.
 */
export function recordId(record: Uint8Array, place: MessagePlace | null): string {
  if (place === null) return digestId(record);
  return createHash('sha256')
    .update(`${messageLogId(place, null)} `)
    .update(record)
    .digest('hex')
    .slice(0, 32);
}
