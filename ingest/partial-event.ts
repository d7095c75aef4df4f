import { UnreadableInput } from './unreadable-input.ts';

/** An event above 1 MiB is a dead letter and is kept whole; this is where that ends. */
export const LONGEST_KEPT_BYTES = 64 * 1024 * 1024;

/** The beginning of an event whose end has not arrived yet. */
export class PartialEvent {
  #pieces: Uint8Array[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Copies the piece. Throws `UnreadableInput` (`event_too_long`) where the event grows past what is kept. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) {
      return;
    }
    this.#length += piece.length;
    if (this.#length > LONGEST_KEPT_BYTES) {
      // Cut off in the middle of a character, it ends in U+FFFD.
      const start = Buffer.from(this.#pieces[0] ?? piece)
        .toString('utf8', 0, 60)
        .replace(/\uFFFD+$/, '');
      const begins = JSON.stringify(`${start}…`);
      throw new UnreadableInput('event_too_long', `an event is longer than ${LONGEST_KEPT_BYTES} bytes (it begins ${begins})`);
    }
    this.#pieces.push(Uint8Array.from(piece));
  }

  /** The event that ends with `last`. */
  finish(last: Uint8Array): Uint8Array {
    if (this.#length === 0) {
      return last;
    }
    this.add(last);
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return whole;
  }
}
