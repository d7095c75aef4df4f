import type { LongPiece } from '../event/partial-event.ts';

/** What a splitter hands on. */
export interface EventReceiver {
  event(bytes: Uint8Array): void;
  /** What is longer than any event; `reason` says what is wrong where that is something else. */
  tooLong(piece: LongPiece, reason?: string): void;
  /**
   * Takes the lines that end in a chunk, in their order: usual events by itself, every other line by handing it, without its newline, to
   * `other`. Returns where the last of them ends.
   */
  lines(chunk: Buffer, other: (line: Uint8Array) => void): number;
  /** Bytes in the place of an event that cannot be one. */
  stray(bytes: Uint8Array, reason: string): void;
  /** The input has come to a later line: so many newlines were passed that `lines` has not taken. */
  newlines(count: number): void;
}

/** Cuts an input, given in chunks of any size, into events. */
export interface EventSplitter {
  push(chunk: Buffer, receiver: EventReceiver): void;
  /** The input is over. Throws `UnreadableInput` where it cannot end here. */
  end(receiver: EventReceiver): void;
}
