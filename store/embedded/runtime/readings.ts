/** The searches, feeds and exports under way. They end with the store, and the store closes after them. */
export class Readings {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();

  /** Runs a reading with the signal that ends it: the caller's, or that of the store. */
  run<T>(signal: AbortSignal | undefined, read: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const ended = signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal]);
    const reading = read(ended);
    this.#underWay.add(reading);
    const forget = () => this.#underWay.delete(reading);
    reading.then(forget, forget);
    return reading;
  }

  /** Aborts the readings under way, and those to come. */
  end(reason: Error): void {
    this.#ending.abort(reason);
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}
