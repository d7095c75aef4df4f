import { hash } from 'node:crypto';

/**
 * The id of an event that has none of its own and no place in Kafka: the start of the SHA-256 over its bytes, without the blanks around it.
 */
export function digestId(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 32);
}
