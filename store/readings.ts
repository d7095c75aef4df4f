/** A search, feed or export under way, until it is disposed. */
export interface Reading extends Disposable {
  /** Ends the reading when it aborts. */
  readonly signal: AbortSignal;
}

/** The searches, feeds and exports under way. They end with the store, and the store closes after them. */
export class Readings {
  readonly #underWay = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  /** Begins a reading, which ends with the caller's signal or with the store. */
  begin(signal: AbortSignal | undefined): Reading {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#underWay.add(over);
    return {
      signal: signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal]),
      [Symbol.dispose]: () => {
        this.#underWay.delete(over);
        resolve();
      },
    };
  }

  /** Aborts the readings under way, and those to come. */
  end(reason: Error): void {
    this.#ending.abort(reason);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
