/** Tells whether anybody searches. */
export class SearchActivity {
  /** Milliseconds since any fixed time. */
  readonly now: () => number;
  #underWay = 0;
  #endedMs = Number.NEGATIVE_INFINITY;

  /** Default: the clock of the process. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  async during<T>(search: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await search();
    } finally {
      this.#underWay -= 1;
      this.#endedMs = this.now();
    }
  }

  /** Whether no search is under way, and none has been for so long. */
  isIdle(forMs: number): boolean {
    return this.#underWay === 0 && this.now() - this.#endedMs >= forMs;
  }
}
