import { createHash, type Hash } from 'node:crypto';
import { isBlank, newlinesIn } from '../../query/json-bytes.ts';
import { LARGEST_LINE_BYTES } from './event-verdict.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import { textStart } from './stored-text.ts';

/** A dead letter keeps so much of a message that is longer than any event. */
export const KEPT_START_BYTES = 64 * 1024;

/** A message that is longer than any event: its start, and what tells it from others. */
export class LongPiece {
  readonly start: Uint8Array;
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
  readonly newlines: number;
  /** Nothing but blanks: no event at all. */
  readonly isBlank: boolean;

  constructor({ start, sizeBytes, sha256, newlines, isBlank }: LongPiece) {
    [this.start, this.sizeBytes, this.sha256, this.newlines, this.isBlank] = [start, sizeBytes, sha256, newlines, isBlank];
  }
}

interface LongHash {
  readonly hash: Hash;
  readonly start: Uint8Array;
  newlines: number;
  isBlank: boolean;
}

/**
 * What an input holds in memory: all of a body, or the event whose end has not come; records that are collected to be mapped together; the
 * rejections that the answer will list; its decoder.
 */
export type InputPart = 'body' | 'records' | 'rejections' | 'decoder';

/** Where an input reports what it holds until more of it comes. */
export interface InputMemory {
  /** A part has so many bytes from now on. Throws where there is no room for them. */
  hold(part: InputPart, bytes: number): void;
}

/** For an input that the program itself has chosen, such as a file. */
export const UNCOUNTED: InputMemory = { hold: () => undefined };

/** A line of the greatest length may end in a carriage return, which is not of the event. */
const MOST_BYTES = LARGEST_LINE_BYTES + 1;

/**
 * The beginning of an event whose end has not arrived yet. One that is longer than any event is hashed as it comes, and only its start is
 * kept.
 */
export class PartialEvent {
  readonly #memory: InputMemory;
  readonly #gathered = new GatheredBytes();
  #heldBytes = 0;
  #length = 0;
  #long: LongHash | undefined;

  constructor(memory: InputMemory = UNCOUNTED) {
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get length(): number {
    return this.#length;
  }

  /** Only the start is kept. */
  get isLong(): boolean {
    return this.#long !== undefined;
  }

  /** Copies the piece, or hashes it. Throws where the memory has no room for it. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) {
      return;
    }
    this.#length += piece.length;
    if (this.#long !== undefined) {
      this.#hash(piece);
      return;
    }
    if (this.#length > MOST_BYTES) {
      this.#beginLong(piece);
      return;
    }
    this.#hold(this.#gathered.capacityWith(piece.length, MOST_BYTES));
    this.#gathered.add(piece, MOST_BYTES);
  }

  /** The event that ends with `last`. */
  finish(last: Uint8Array): Uint8Array | LongPiece {
    if (this.#length === 0) {
      return last;
    }
    this.add(last);
    const whole = this.#long === undefined ? this.#gathered.take() : this.#longPiece(this.#long);
    this.#length = 0;
    this.#long = undefined;
    this.#hold(0);
    return whole;
  }

  #hold(bytes: number): void {
    if (bytes === this.#heldBytes) {
      return;
    }
    this.#memory.hold('body', bytes);
    this.#heldBytes = bytes;
  }

  #beginLong(piece: Uint8Array): void {
    const begun = Buffer.concat([this.#gathered.take(), piece]);
    this.#long = { hash: createHash('sha256'), start: Uint8Array.from(textStart(begun, KEPT_START_BYTES)), newlines: 0, isBlank: true };
    this.#hold(KEPT_START_BYTES);
    this.#hash(begun);
  }

  #hash(piece: Uint8Array): void {
    const long = this.#long!;
    long.hash.update(piece);
    long.newlines += newlinesIn(piece);
    long.isBlank &&= piece.every(isBlank);
  }

  #longPiece({ hash, start, newlines, isBlank: blank }: LongHash): LongPiece {
    return new LongPiece({ start, sizeBytes: this.#length, sha256: hash.digest(), newlines, isBlank: blank });
  }
}
