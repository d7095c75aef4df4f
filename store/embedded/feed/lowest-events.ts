/** An event of the feed whose log is packed, or not read yet. */
export interface PackedEvent {
  readonly sequence: bigint;
  readonly blobPointer: bigint;
  /** JSON up to the value of its last member, the log (see `feedHeadsStatement`). */
  readonly head: Buffer;
  /** As in `query/packed-log.ts`. */
  readonly log: Buffer | undefined;
}

type KeptEvent = { -readonly [Name in keyof PackedEvent]: PackedEvent[Name] };

/** What an event takes beside its bytes. */
const BYTES_AN_EVENT = 256;
/** Pieces of memory grow up to this. */
const PIECE_BYTES = 1024 * 1024;
/** What is longer has a piece of its own. */
const LARGE_BYTES = 64 * 1024;
/** The highest events are dropped only when the limit is exceeded by a quarter, because each drop copies all that is kept. */
const PART_BEYOND = 1 / 4;

/**
 * Takes events in any order and keeps those with the lowest sequences that fit into a number of bytes together, at least one.
 * It copies their bytes into its own pieces of memory, and into new ones when it drops the highest. Until then it holds a quarter
 * more than that number, and while it copies, both.
 */
export class LowestEvents {
  readonly #maxBytes: number;
  #events: KeptEvent[] = [];
  #upTo: bigint;
  #bytes = 0;
  #piece = Buffer.alloc(0);
  #used = 0;

  /** No event above `upTo` is kept. */
  constructor(maxBytes: number, upTo: bigint) {
    this.#maxBytes = maxBytes;
    this.#upTo = upTo;
  }

  /** Every event up to here that was added is kept. */
  get upTo(): bigint {
    return this.#upTo;
  }

  /** What is above has not been added. */
  endAt(sequence: bigint): void {
    this.#upTo = sequence < this.#upTo ? sequence : this.#upTo;
  }

  isKept({ sequence }: PackedEvent): boolean {
    return sequence <= this.#upTo;
  }

  add(sequence: bigint, blobPointer: bigint, head: Uint8Array): void {
    if (sequence <= this.#upTo) {
      this.#events.push({ sequence, blobPointer, head: this.#copy(head), log: undefined });
      this.#grow(BYTES_AN_EVENT + head.length);
    }
  }

  addLog(event: PackedEvent, log: Uint8Array): void {
    if (this.isKept(event)) {
      (event as KeptEvent).log = this.#copy(log);
      this.#grow(log.length);
    }
  }

  /** By ascending sequence. */
  sorted(): readonly PackedEvent[] {
    this.#keepLowest();
    return this.#events;
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes * (1 + PART_BEYOND) && this.#events.length > 1) {
      this.#keepLowest();
    }
  }

  #keepLowest(): void {
    this.#events.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
    let sum = 0;
    const over = this.#events.findIndex((event, index) => {
      sum += bytesOf(event);
      return sum > this.#maxBytes && index > 0;
    });
    if (over === -1) {
      return;
    }
    this.#events.length = over;
    this.#upTo = this.#events[over - 1]?.sequence ?? 0n;
    this.#bytes = 0;
    this.#used = this.#piece.length;
    for (const event of this.#events) {
      event.head = this.#copy(event.head);
      event.log = event.log && this.#copy(event.log);
      this.#bytes += bytesOf(event);
    }
  }

  #copy(bytes: Uint8Array): Buffer {
    if (bytes.length > LARGE_BYTES) {
      const own = Buffer.allocUnsafeSlow(bytes.length);
      own.set(bytes);
      return own;
    }
    if (this.#used + bytes.length > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(2 * this.#piece.length, LARGE_BYTES)));
      this.#used = 0;
    }
    const copy = this.#piece.subarray(this.#used, this.#used + bytes.length);
    copy.set(bytes);
    this.#used += bytes.length;
    return copy;
  }
}

function bytesOf({ head, log }: PackedEvent): number {
  return BYTES_AN_EVENT + head.length + (log?.length ?? 0);
}
