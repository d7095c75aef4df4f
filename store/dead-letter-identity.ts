import { createHash } from 'node:crypto';
import type { DeadLetter } from './dead-letter.ts';

/** The SHA-256 of the whole message of a letter. */
export function messageHashOf({ bytes, cut }: DeadLetter): Uint8Array {
  return cut?.sha256 ?? createHash('sha256').update(bytes).digest();
}

/**
 * A hash that tells a message from others. That of a Kafka message is made of its offset and its bytes, because a topic may be deleted and
 * made again, and of the index in it where it is one of several events. That of other messages is made of their bytes and their zone: the
 * same bytes belong to no zone where they follow an array. A mapping counts where there is one, because by another one, or by none, the
 * same bytes are another event.
 */
export function identityOf(letter: DeadLetter, messageHash: Uint8Array): Buffer {
  const { source, mapping = null, topic, partition, offset, index = null, zoneId } = letter;
  const ofMessage = `${topic}-${partition}-${offset}${index === null ? '' : `:${index}`}`;
  const origin = topic === null ? `${zoneId}` : ofMessage;
  const by = mapping === null ? '' : `${mapping} `;
  return createHash('sha256').update(`${source} ${origin} ${by}`).update(messageHash).digest();
}
