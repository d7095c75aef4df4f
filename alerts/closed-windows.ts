/** Windows from one begin to another, both inclusive, Unix ms. */
export interface WindowRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The windows that are closed, which begin every `stepMs`, as ranges in ascending order. */
export class ClosedWindows {
  readonly #stepMs: number;
  #ranges: WindowRange[];

  constructor(stepMs: number, ranges: readonly WindowRange[] = []) {
    this.#stepMs = stepMs;
    this.#ranges = [...ranges];
  }

  get ranges(): readonly WindowRange[] {
    return this.#ranges;
  }

  has(beginMs: number): boolean {
    const { fromMs, toMs } = this.#ranges[this.#firstFrom(beginMs)] ?? { fromMs: Number.POSITIVE_INFINITY, toMs: 0 };
    return fromMs <= beginMs && beginMs <= toMs;
  }

  add(beginMs: number): void {
    const at = this.#firstFrom(beginMs - this.#stepMs);
    const beside = this.#ranges.slice(at, at + 2).filter(({ fromMs }) => fromMs <= beginMs + this.#stepMs);
    const fromMs = Math.min(beginMs, ...beside.map((range) => range.fromMs));
    const toMs = Math.max(beginMs, ...beside.map((range) => range.toMs));
    this.#ranges.splice(at, beside.length, { fromMs, toMs });
  }

  /** Forgets the windows that begin at a time or before it. */
  forget(untilMs: number): void {
    const kept = this.#ranges.filter(({ toMs }) => toMs > untilMs);
    const first = Math.floor(untilMs / this.#stepMs) * this.#stepMs + this.#stepMs;
    this.#ranges = kept.map((range) => (range.fromMs > untilMs ? range : { ...range, fromMs: first }));
  }

  /** The index of the first range that ends at a window or behind it. */
  #firstFrom(beginMs: number): number {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle] as WindowRange).toMs < beginMs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
