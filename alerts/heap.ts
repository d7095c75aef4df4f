/** A binary heap: the value that comes before all others is first. Values of the same rank come in any order. */
export class Heap<T> {
  readonly #isBefore: (one: T, other: T) => boolean;
  readonly #values: T[] = [];

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  /** Undefined where it is empty. */
  get first(): T | undefined {
    return this.#values[0];
  }

  add(value: T): void {
    const values = this.#values;
    let at = values.length;
    for (let parent = (at - 1) >> 1; at > 0 && this.#isBefore(value, values[parent] as T); parent = (at - 1) >> 1) {
      values[at] = values[parent] as T;
      at = parent;
    }
    values[at] = value;
  }

  removeFirst(): void {
    const values = this.#values;
    const last = values.pop();
    const length = values.length;
    if (last === undefined || length === 0) {
      return;
    }
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = right < length && this.#isBefore(values[right] as T, values[left] as T) ? right : left;
      if (child >= length || !this.#isBefore(values[child] as T, last)) {
        break;
      }
      values[at] = values[child] as T;
      at = child;
    }
    values[at] = last;
  }
}
