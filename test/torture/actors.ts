import { setTimeout as delay } from 'node:timers/promises';

/** What acts on the program at the same time, step by step, until all of it is paused or stopped. */
export class Actors {
  readonly #steps: { readonly step: () => Promise<unknown>; readonly pauseMs: () => number }[] = [];
  readonly #failed = Promise.withResolvers<never>();
  #running: Promise<unknown> = Promise.resolve();
  #goesOn = new AbortController();

  constructor() {
    // Who waits for something else when it rejects is told by what comes next.
    this.#failed.promise.catch(() => undefined);
  }

  /** Rejects with what the first step that fails throws. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Whether no step is to begin. */
  get isPaused(): boolean {
    return this.#goesOn.signal.aborted;
  }

  /** Takes a step again and again, with pauses of these lengths between. */
  add(step: () => Promise<unknown>, pauseMs: () => number): void {
    this.#steps.push({ step, pauseMs });
  }

  resume(): void {
    this.#goesOn = new AbortController();
    const { signal } = this.#goesOn;
    this.#running = Promise.all(
      this.#steps.map(async ({ step, pauseMs }) => {
        while (!signal.aborted) {
          await step();
          // It is cut short by a pause.
          await delay(pauseMs(), undefined, { signal }).catch(() => undefined);
        }
      }),
    );
    this.#running.catch((error: unknown) => this.#failed.reject(error));
  }

  /** Resolves when the steps under way are done. */
  async pause(): Promise<void> {
    this.#goesOn.abort();
    await this.#running;
  }
}
