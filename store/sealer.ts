import type { ClosedGeneration } from './loader.ts';
import { type SealOptions, sealGeneration } from './seal-generation.ts';
import { StoreError } from './store-error.ts';
import type { StoreLogger } from './store-logger.ts';

/** So many closed generations wait in memory at most; the loader waits rather than close another. */
const MAX_WAITING = 2;
const RETRY_DELAY_MS = 2_000;

export interface SealerOptions extends SealOptions {
  readonly logger: StoreLogger;
}

/**
 * Turns closed generations of hot parts into published segments, one after the other. One catalog transaction adds the segments and moves the stored
 * positions; only then do the segments take the parts' place, whose journals go with the last search that reads them.
 */
export class Sealer {
  readonly #options: SealerOptions;
  readonly #waiting: ClosedGeneration[] = [];
  #running: Promise<void> | undefined;
  #stopped = false;
  #wake: (() => void) | undefined;
  #roomWaiters: (() => void)[] = [];
  #failure: Error | undefined;

  constructor(options: SealerOptions) {
    this.#options = options;
  }

  /** Why the last attempt failed, while it is being tried again. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  enqueue(closed: ClosedGeneration): void {
    this.#waiting.push(closed);
    this.#running ??= this.#run();
  }

  /** Resolves when fewer generations wait than may, or when the sealer stops. Rejects while sealing fails: there may be no room for long. */
  async room(): Promise<void> {
    while (this.#waiting.length >= MAX_WAITING && !this.#stopped) {
      if (this.#failure !== undefined) {
        const message = `memory is full of events that cannot be moved to disk: ${this.#failure.message}`;
        throw new StoreError('append_failed', message, { cause: this.#failure });
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#roomWaiters.push(resolve);
      await promise;
    }
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Finishes the generation being sealed; those behind it stay in their journals. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    this.#letWaitersOn();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const [closed] = this.#waiting;
      if (closed === undefined) {
        break;
      }
      try {
        await sealGeneration(closed, this.#options);
        this.#failure = undefined;
        this.#waiting.shift();
        this.#letWaitersOn();
      } catch (error) {
        this.#failure = error as Error;
        this.#letWaitersOn();
        this.#options.logger.error({ err: error }, 'sealing failed; the events stay in memory and in the journal, and it is tried again');
        await this.#pause();
      }
    }
    this.#running = undefined;
  }

  #letWaitersOn(): void {
    for (const resolve of this.#roomWaiters.splice(0)) {
      resolve();
    }
  }

  async #pause(): Promise<void> {
    if (this.#stopped) {
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, RETRY_DELAY_MS);
    await promise;
    clearTimeout(timer);
  }
}
