/** Runs pieces of work one after the other, in the order of the calls. A piece that fails does not stop the next one. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all work that is queued now is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
