import type { StoreLogger } from '../../event-store.ts';

export interface ArrivalWatchOptions {
  /** The sequence below which all events are visible. */
  readonly horizon: () => Promise<bigint>;
  /** Whether an event has a sequence from `from` on, and below `to`. */
  readonly hasArrivals: (from: bigint, to: bigint) => Promise<boolean>;
  readonly everyMs: number;
  readonly logger: StoreLogger;
}

/** Tells listeners that events became visible, whichever process stored them. It asks the server as long as somebody listens. */
export class ArrivalWatch {
  readonly #options: ArrivalWatchOptions;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #seen: bigint | undefined;
  #isFailing = false;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: ArrivalWatchOptions) {
    this.#options = options;
  }

  /** Calls `listener` soon after events became visible; returns the function that ends this. */
  add(listener: () => void): () => void {
    const call = () => listener();
    this.#listeners.add(call);
    this.#schedule();
    return () => {
      this.#listeners.delete(call);
    };
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#listeners.size === 0) {
      return;
    }
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        this.#timer = undefined;
        this.#schedule();
      });
    }, this.#options.everyMs);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { horizon, hasArrivals, logger } = this.#options;
    try {
      const until = await horizon();
      // What came between the listener's own look and this one is new to it.
      const isNew = this.#seen === undefined || (until > this.#seen && (await hasArrivals(this.#seen, until)));
      this.#seen = until;
      this.#isFailing = false;
      if (isNew) {
        for (const listener of this.#listeners) {
          listener();
        }
      }
    } catch (error) {
      if (!this.#isFailing) {
        logger.warn({ err: error }, 'new events cannot be looked for; that is tried again');
      }
      this.#isFailing = true;
    }
  }
}
