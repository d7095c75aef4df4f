import { setTimeout as delay } from 'node:timers/promises';
import { SerialQueue } from '../../work/serial-queue.ts';

/** The page of a client that has read nothing for so long may be evicted. */
const STALLED_MS = 1_000;
/** The interval of checks for free memory. */
const POLL_MS = 50;

/** Memory for a value, which may be evicted while its client does not read. */
export class Held<T> {
  /** Undefined until it is kept, and after the eviction or release. Other references to it would keep the memory. */
  value: T | undefined;
  readonly #count: (bytes: number | null) => void;
  #touchedAtMs = performance.now();

  /** `count` is called with the size of the value, and with null once there is none. */
  constructor(count: (bytes: number | null) => void) {
    this.#count = count;
  }

  get isStalled(): boolean {
    return performance.now() - this.#touchedAtMs > STALLED_MS;
  }

  keep(value: T, bytes: number): void {
    this.#count(bytes);
    this.value = value;
    this.touch();
  }

  /** Notes that the client has read. */
  touch(): void {
    this.#touchedAtMs = performance.now();
  }

  release(): void {
    this.value = undefined;
    this.#count(null);
  }
}

/** Bounds the memory for pages of all readers of the feed. */
export class PageMemory {
  readonly #capacityBytes: number;
  readonly #turns = new SerialQueue();
  /** The size of each held value, oldest first. */
  readonly #held = new Map<Held<unknown>, number>();
  #heldBytes = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  /**
   * Waits for memory of about `bytes`, for a value that is kept in it later with its true size. Evicts pages of stalled clients where there
   * is no room. Rejects with the signal's reason.
   */
  reserve<T>(bytes: number, signal: AbortSignal): Promise<Held<T>> {
    return this.#turns.run(() => this.#reserve<T>(bytes, signal));
  }

  async #reserve<T>(bytes: number, signal: AbortSignal): Promise<Held<T>> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#held.size === 0 || this.#heldBytes + bytes <= this.#capacityBytes) break;
      const stalled = [...this.#held.keys()].find(({ value, isStalled }) => value !== undefined && isStalled);
      if (stalled !== undefined) stalled.release();
      else await delay(POLL_MS);
    }
    const held = new Held<T>((size) => this.#count(held, size));
    this.#count(held, bytes);
    return held;
  }

  #count(held: Held<unknown>, bytes: number | null): void {
    this.#heldBytes += (bytes ?? 0) - (this.#held.get(held) ?? 0);
    if (bytes === null) this.#held.delete(held);
    else this.#held.set(held, bytes);
  }
}
