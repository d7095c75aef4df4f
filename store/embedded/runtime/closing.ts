interface Step {
  readonly waitsFor: string;
  readonly close: () => unknown;
}

/** Closes the parts of a store, the last opened first. */
export class Closing {
  readonly #steps: Step[] = [];
  #waitsFor = 'its work';

  /** `waitsFor` says for people what `close` waits for. */
  add(waitsFor: string, close: () => unknown): void {
    this.#steps.push({ waitsFor, close });
  }

  /** Says for people what `close` waits for at the moment. */
  get waitsFor(): string {
    return this.#waitsFor;
  }

  /** Closes everything, also when closing some of it fails; then rejects with the first error. */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      this.#waitsFor = step.waitsFor;
      try {
        await step.close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) {
      throw errors[0];
    }
  }
}
