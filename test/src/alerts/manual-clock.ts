/** A clock that stands still until it is moved, and pauses that end by it. */
export class ManualClock {
  #nowMs: number;
  #pauses: { readonly endsAtMs: number; readonly end: () => void }[] = [];

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  readonly now = (): number => this.#nowMs;

  readonly pause = async (lengthMs: number, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      this.#pauses.push({ endsAtMs: this.#nowMs + lengthMs, end: resolve });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };

  /** Goes on by so much, and ends the pauses that are over by then. */
  advance(lengthMs: number): void {
    this.#nowMs += lengthMs;
    const over = this.#pauses.filter(({ endsAtMs }) => endsAtMs <= this.#nowMs);
    this.#pauses = this.#pauses.filter(({ endsAtMs }) => endsAtMs > this.#nowMs);
    for (const { end } of over) end();
  }
}
