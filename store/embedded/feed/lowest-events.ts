/** Events of the feed by ascending sequence: their heads and packed logs back to back in one buffer, and their numbers in arrays. */
export interface PackedEvents {
  readonly count: number;
  /** All sequences are higher. */
  readonly after: bigint;
  /** Sequence minus `after`, of each event. */
  readonly sequences: Float64Array;
  /** UTF-8. A head is JSON up to the value of its last member, the log (see `feedHeadsStatement`); a log is as in `query/packed-log.ts`. */
  readonly bytes: Buffer;
  /** Offsets into `bytes`, four of each event: start and end of its head, start and end of its log. A missing log ends at 0. */
  readonly spans: Uint32Array;
}

export const SPAN_NUMBERS = 4;

/** The bytes of an event in the arrays, which double as they grow. */
const BYTES_AN_EVENT = 64;
const FIRST_EVENTS = 1_024;
const FIRST_BYTES = 64 * 1024;
/** So much of the budget stays used when events are dropped. A larger part would mean more drops, each of which copies what stays. */
const KEPT_PART = 3 / 4;

export interface LowestEventsOptions {
  /** Every added event has a higher sequence. */
  readonly after: bigint;
  /** No event with a higher sequence is kept. */
  readonly upTo: bigint;
  readonly maxBytes: number;
}

/**
 * Takes events in any order and keeps the ones with the lowest sequences that fit into `maxBytes`, at least one. When they do not fit, it
 * copies the lowest ones that fill three quarters of `maxBytes` and drops the others. It holds more than `maxBytes` only while it copies.
 */
export class LowestEvents {
  readonly #after: bigint;
  readonly #maxBytes: number;
  #upTo: number;
  /** Number of all added events, the dropped ones included. */
  #count = 0;
  #sequences = new Float64Array(FIRST_EVENTS);
  #blobPointers = new BigInt64Array(FIRST_EVENTS);
  #spans = new Uint32Array(FIRST_EVENTS * SPAN_NUMBERS);
  #kept = 0;
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;

  constructor({ after, upTo, maxBytes }: LowestEventsOptions) {
    this.#after = after;
    this.#upTo = Number(upTo - after);
    this.#maxBytes = maxBytes;
  }

  /** Every added event up to this sequence is kept. */
  get upTo(): bigint {
    return this.#after + BigInt(this.#upTo);
  }

  /** The blob pointers of all added events, in the order in which they were added. */
  get blobPointers(): BigInt64Array {
    return this.#blobPointers.subarray(0, this.#count);
  }

  /** Drops the events above `sequence`, and takes no more of them. */
  endAt(sequence: bigint): void {
    this.#upTo = Math.min(this.#upTo, Number(sequence - this.#after));
  }

  /** Returns whether the event that was added as number `index`, from 0, is kept. */
  isKept(index: number): boolean {
    return (this.#sequences[index] as number) <= this.#upTo;
  }

  sequenceOf(index: number): bigint {
    return this.#after + BigInt(this.#sequences[index] as number);
  }

  add(sequence: bigint, blobPointer: bigint, head: Uint8Array): void {
    const distance = Number(sequence - this.#after);
    if (distance > this.#upTo) {
      return;
    }
    if (this.#count === this.#sequences.length) {
      this.#growArrays();
    }
    const index = this.#count;
    this.#sequences[index] = distance;
    this.#blobPointers[index] = blobPointer;
    this.#count += 1;
    this.#kept += 1;
    this.#put(index * SPAN_NUMBERS, head);
  }

  /** Adds the log of the event that was added as number `index`, from 0. */
  addLog(index: number, log: Uint8Array): void {
    if (this.isKept(index)) {
      this.#put(index * SPAN_NUMBERS + 2, log);
    }
  }

  /** The kept events, in the order of their sequence. */
  sorted(): PackedEvents {
    const order = this.#order();
    const spans = new Uint32Array(order.length * SPAN_NUMBERS);
    for (const [position, index] of order.entries()) {
      for (let number = 0; number < SPAN_NUMBERS; number += 1) {
        spans[position * SPAN_NUMBERS + number] = this.#spans[index * SPAN_NUMBERS + number] as number;
      }
    }
    const sequences = Float64Array.from(order, (index) => this.#sequences[index] as number);
    return { count: order.length, after: this.#after, sequences, bytes: this.#bytes, spans };
  }

  /** Copies bytes, and stores their start and end in the spans at `number`. That may drop the event itself. */
  #put(number: number, bytes: Uint8Array): void {
    if (this.#used + bytes.length > this.#bytes.length) {
      this.#growBytes(this.#used + bytes.length);
    }
    this.#bytes.set(bytes, this.#used);
    this.#spans[number] = this.#used;
    this.#used += bytes.length;
    this.#spans[number + 1] = this.#used;
    if (this.#used + this.#kept * BYTES_AN_EVENT > this.#maxBytes && this.#kept > 1) {
      this.#dropHighest();
    }
  }

  #dropHighest(): void {
    const order = this.#order();
    let sum = 0;
    const over = order.findIndex((index, position) => {
      const [headStart = 0, headEnd = 0, logStart = 0, logEnd = 0] = this.#spans.subarray(index * SPAN_NUMBERS);
      sum += BYTES_AN_EVENT + headEnd - headStart + logEnd - logStart;
      return sum > this.#maxBytes * KEPT_PART && position > 0;
    });
    const left = order.subarray(0, over === -1 ? order.length : over);
    this.#upTo = over === -1 ? this.#upTo : (this.#sequences[left.at(-1) as number] as number);
    this.#kept = left.length;
    const all = this.#bytes;
    this.#bytes = Buffer.allocUnsafeSlow(all.length);
    this.#used = 0;
    for (const index of left) {
      for (const number of [index * SPAN_NUMBERS, index * SPAN_NUMBERS + 2]) {
        const [start, end] = [this.#spans[number] as number, this.#spans[number + 1] as number];
        if (end > 0) {
          all.copy(this.#bytes, this.#used, start, end);
          this.#spans[number] = this.#used;
          this.#used += end - start;
          this.#spans[number + 1] = this.#used;
        }
      }
    }
    free(all);
  }

  /** The indexes of the kept events, by ascending sequence. */
  #order(): Uint32Array {
    const order = new Uint32Array(this.#kept);
    let kept = 0;
    for (let index = 0; index < this.#count; index += 1) {
      if (this.isKept(index)) {
        order[kept] = index;
        kept += 1;
      }
    }
    return order.subarray(0, kept).sort((a, b) => (this.#sequences[a] as number) - (this.#sequences[b] as number));
  }

  #growArrays(): void {
    const larger = <T extends Float64Array | BigInt64Array | Uint32Array>(array: T, empty: T): T => {
      empty.set(array as never);
      return empty;
    };
    const events = 2 * this.#sequences.length;
    this.#sequences = larger(this.#sequences, new Float64Array(events));
    this.#blobPointers = larger(this.#blobPointers, new BigInt64Array(events));
    this.#spans = larger(this.#spans, new Uint32Array(events * SPAN_NUMBERS));
  }

  #growBytes(atLeast: number): void {
    const all = this.#bytes;
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(atLeast, Math.min(2 * all.length, this.#maxBytes)));
    all.copy(this.#bytes, 0, 0, this.#used);
    free(all);
  }
}

/** The index of the first of the ascending sequences that is above this one. */
export function firstAbove(sequences: Float64Array, sequence: number): number {
  let [low, high] = [0, sequences.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sequences[middle] as number) > sequence) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** Frees memory at once: the garbage collector may leave it for long. */
function free({ buffer }: Buffer<ArrayBuffer>): void {
  buffer.transfer(0);
}
