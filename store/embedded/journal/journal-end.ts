import type { Journal } from './journal.ts';

/** The end of the journals: the number of the next one, and the sequence of its first event. */
export interface JournalEnd {
  readonly journal: number;
  readonly sequence: bigint;
}

/** Behind every sequence. */
export const END_OF_SEQUENCE = (1n << 63n) - 1n;

export function endAfter(journal: Journal): JournalEnd {
  return { journal: journal.number + 1, sequence: journal.firstSequence + BigInt(journal.eventCount) };
}
