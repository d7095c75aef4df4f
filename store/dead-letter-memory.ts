import type { DeadLetter } from './event-store.ts';

/** What a dead letter takes in memory beside its bytes and its reason. */
const LETTER_BYTES = 300;

/** Bytes of memory that a dead letter takes on its way to the disk. */
export function memoryOfLetter({ bytes, reason }: Pick<DeadLetter, 'bytes' | 'reason'>): number {
  return bytes.byteLength + reason.length + LETTER_BYTES;
}
