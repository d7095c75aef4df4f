export interface BudgetedCacheOptions<Value> {
  /** The sum of the sizes of all entries, in bytes, or in whatever else `sizeOf` counts. */
  readonly budget: number;
  /** The size of an entry, which may grow while it is in the cache. */
  readonly sizeOf: (value: Value) => number;
  /** Returns false for an entry that does not make room for others, because it is in use. Default: every entry does. */
  readonly canEvict?: (value: Value) => boolean;
  /** Called once for every entry that leaves the cache. */
  readonly onEvicted?: (value: Value) => void;
}

/**
 * Holds the entries that were used last, within a budget. An entry makes room only where that is enough for the new one: evicting others
 * and then not storing it would gain nothing.
 */
export class BudgetedCache<Key, Value> {
  readonly #options: BudgetedCacheOptions<Value>;
  /** The entries by last use, the oldest first. */
  readonly #entries = new Map<Key, Value>();

  constructor(options: BudgetedCacheOptions<Value>) {
    this.#options = options;
  }

  /** The values by last use, the oldest first. */
  get values(): readonly Value[] {
    return [...this.#entries.values()];
  }

  /** The entry, which counts as used now. */
  use(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  /**
   * Stores an entry in place of the key's former one, after others made room for it. Returns false, and stores nothing, where there is no
   * room.
   */
  add(key: Key, value: Value): boolean {
    this.evict(key);
    if (!this.makeRoom(this.#options.sizeOf(value))) {
      return false;
    }
    this.#entries.set(key, value);
    return true;
  }

  /** Evicts the entries used longest ago until so much is free. Returns false, and evicts nothing, where there is no room for it. */
  makeRoom(size: number): boolean {
    const { budget, sizeOf, canEvict = () => true } = this.#options;
    let free = this.values.reduce((left, value) => left - sizeOf(value), budget);
    const victims: Key[] = [];
    for (const [key, value] of this.#entries) {
      if (free >= size) {
        break;
      }
      if (canEvict(value)) {
        free += sizeOf(value);
        victims.push(key);
      }
    }
    if (free < size) {
      return false;
    }
    for (const key of victims) {
      this.evict(key);
    }
    return true;
  }

  evict(key: Key): void {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#options.onEvicted?.(value);
    }
  }

  /** Evicts every entry, also those in use. Returns false where there was none. */
  evictAll(): boolean {
    const keys = [...this.#entries.keys()];
    for (const key of keys) {
      this.evict(key);
    }
    return keys.length > 0;
  }
}
