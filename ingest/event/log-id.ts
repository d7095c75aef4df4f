import { hash } from 'node:crypto';

/** The longest `logId` that an event may have, in bytes of UTF-8. */
export const LONGEST_LOG_ID_BYTES = 512;

/** A message in Kafka. A dead letter of another source has null in its place. */
interface KafkaPlace {
  readonly topic: string | null;
  readonly partition: number | null;
  readonly offset: bigint | null;
}

/** The id of an event that has none of its own and comes from Kafka. */
export function messageLogId({ topic, partition, offset }: KafkaPlace): string {
  return `${topic}-${partition}-${offset}`;
}

/**
 * The id of an event that has none of its own and does not come from Kafka: the start of the SHA-256 over its bytes, without the blanks
 * around it.
 */
export function digestId(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 32);
}
