import { setTimeout as delay } from 'node:timers/promises';
import { SerialQueue } from '../../store/serial-queue.ts';

/** A reader that took nothing for so long gives its page up where another one needs the memory. */
const STALLED_MS = 1_000;
/** How often who needs memory looks whether there is some. */
const LOOK_MS = 50;

const MEBIBYTE = 1024 * 1024;

/** The pages of all readers may take an eighth of the memory limit, in addition to it, and at most 96 MiB. */
export function pageMemoryBytes(memoryLimitMb: number): number {
  return Math.min(96, memoryLimitMb / 8) * MEBIBYTE;
}

/** Something in memory that may be taken away while its reader takes nothing; it has to be made again then. */
export class Held<T> {
  /** Undefined when it was taken away or given back. Keep no other reference to it. */
  value: T | undefined;
  readonly #giveBack: () => void;
  #touchedAtMs = performance.now();

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack;
  }

  get isStalled(): boolean {
    return performance.now() - this.#touchedAtMs > STALLED_MS;
  }

  /** Says that its reader took some of it. */
  touch(): void {
    this.#touchedAtMs = performance.now();
  }

  release(): void {
    this.value = undefined;
    this.#giveBack();
  }
}

/** The memory that pages of all readers of the feed may take together, in bytes. */
export class PageMemory {
  readonly #capacityBytes: number;
  readonly #turns = new SerialQueue();
  /** By how long they are held, the longest first. */
  readonly #held = new Map<Held<unknown>, number>();
  #heldBytes = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  /**
   * Makes something of about so many bytes when there is room for it, and counts what it turns out to take. Where there is no room, pages
   * of readers that take nothing are taken away. Rejects with the reason of the signal, or as `make` does.
   */
  async hold<T>(bytes: number, make: () => Promise<T>, sizeOf: (made: T) => number, signal: AbortSignal): Promise<Held<T>> {
    const held = await this.#turns.run(() => this.#reserve<T>(bytes, signal));
    try {
      const made = await make();
      this.#count(held, sizeOf(made));
      held.value = made;
      held.touch();
      return held;
    } catch (error) {
      held.release();
      throw error;
    }
  }

  async #reserve<T>(bytes: number, signal: AbortSignal): Promise<Held<T>> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#held.size === 0 || this.#heldBytes + bytes <= this.#capacityBytes) break;
      const stalled = [...this.#held.keys()].find(({ value, isStalled }) => value !== undefined && isStalled);
      if (stalled !== undefined) stalled.release();
      else await delay(LOOK_MS);
    }
    const held = new Held<T>(() => this.#count(held, null));
    this.#count(held, bytes);
    return held;
  }

  #count(held: Held<unknown>, bytes: number | null): void {
    this.#heldBytes += (bytes ?? 0) - (this.#held.get(held) ?? 0);
    if (bytes === null) this.#held.delete(held);
    else this.#held.set(held, bytes);
  }
}
