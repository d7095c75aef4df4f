/** What falls due at a time: of the same time alerts are resolved before windows close, then by the begin of the window and the group. */
export interface Due {
  /** Unix ms UTC. */
  readonly atMs: number;
  readonly kind: 'resolve' | 'close';
  /** The begin of the window that closes, or of the first hit of the alert, Unix ms UTC. */
  readonly windowMs: number;
  /** The key of the alert's group; empty for a window. */
  readonly group: string;
}

/** What falls due, the earliest first: a binary heap. */
export class DueTimes {
  readonly #heap: Due[] = [];

  /** The earliest; undefined where nothing falls due. */
  get first(): Due | undefined {
    return this.#heap[0];
  }

  add(due: Due): void {
    let at = this.#heap.length;
    for (let parent = (at - 1) >> 1; at > 0 && isBefore(due, this.#heap[parent] as Due); parent = (at - 1) >> 1) {
      this.#heap[at] = this.#heap[parent] as Due;
      at = parent;
    }
    this.#heap[at] = due;
  }

  removeFirst(): void {
    const last = this.#heap.pop();
    const length = this.#heap.length;
    if (last === undefined || length === 0) {
      return;
    }
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = right < length && isBefore(this.#heap[right] as Due, this.#heap[left] as Due) ? right : left;
      if (child >= length || !isBefore(this.#heap[child] as Due, last)) {
        break;
      }
      this.#heap[at] = this.#heap[child] as Due;
      at = child;
    }
    this.#heap[at] = last;
  }
}

const KINDS: readonly Due['kind'][] = ['resolve', 'close'];

function isBefore(one: Due, other: Due): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  if (one.kind !== other.kind) return KINDS.indexOf(one.kind) < KINDS.indexOf(other.kind);
  return one.windowMs === other.windowMs ? one.group < other.group : one.windowMs < other.windowMs;
}
