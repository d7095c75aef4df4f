import { abortable } from './abortable.ts';

/** So many permits, which go to those who wait for one in the order of their calls. */
export class Semaphore {
  readonly #permits: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(permits: number) {
    [this.#permits, this.#free] = [permits, permits];
  }

  /** The permits that are taken. */
  get taken(): number {
    return this.#permits - this.#free;
  }

  /** Whether a permit is free. */
  get hasRoom(): boolean {
    return this.#free > 0;
  }

  /** Whether somebody waits for a permit. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Waits for a permit, which is free again once it is disposed. Rejects with the signal's reason where it is aborted before. */
  async take(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const free = this.tryTake();
    if (free !== null) return free;
    await this.#wait(signal);
    return this.#permit();
  }

  /** Takes a permit, as `take` does, where one is free; null where none is. */
  tryTake(): Disposable | null {
    if (this.#free === 0) return null;
    this.#free -= 1;
    return this.#permit();
  }

  #permit(): Disposable {
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.#giveBack();
        isTaken = false;
      },
    };
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await (signal === undefined ? promise : abortable(promise, signal));
    } catch (error) {
      // The permit that it was given goes to another.
      if (!this.#waiting.delete(resolve)) this.#giveBack();
      throw error;
    }
  }

  #giveBack(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#free += 1;
    } else {
      this.#waiting.delete(first);
      first();
    }
  }
}
