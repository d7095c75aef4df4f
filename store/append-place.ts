import type { Journal } from './journal.ts';

/** Where a batch goes: the number of its journal and the sequence of its first event. */
export interface AppendPlace {
  readonly journal: number;
  readonly sequence: bigint;
}

/** Behind every sequence. */
export const END_OF_SEQUENCE = (1n << 63n) - 1n;

export function placeAfter(journal: Journal): AppendPlace {
  return { journal: journal.number + 1, sequence: journal.firstSequence + BigInt(journal.eventCount) };
}
