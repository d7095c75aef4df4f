/** Runs pieces of work one after the other, in the order of the calls. A piece that fails does not stop the next one. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Waits for a turn, in the order of the calls of both. The work after it begins once the turn is disposed. */
  turn(): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const turn = this.#last.then(() => ({ [Symbol.dispose]: resolve }));
    this.#last = promise;
    return turn;
  }

  /** Resolves when all work that is queued now is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
