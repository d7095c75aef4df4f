/** A power of two. */
const MIN_SLOTS = 64;

/** A set of dedup keys: whole numbers from 0 to 2^53 - 1 that are evenly distributed. A key takes eleven bytes on average. */
export class DedupKeySet {
  /** An open-addressing hash table. A number is in the slot of its lowest bits or in the next free one; 0 is a free slot. */
  #slots = new Float64Array(MIN_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns false where the set has the number already. */
  add(dedupKey: number): boolean {
    const number = nonZero(dedupKey);
    const index = this.#find(number);
    if (this.#slots[index] !== 0) {
      return false;
    }
    this.#slots[index] = number;
    this.#size += 1;
    if (this.#size * 4 > this.#slots.length * 3) {
      this.#grow();
    }
    return true;
  }

  #find(number: number): number {
    const last = this.#slots.length - 1;
    let index = number & last;
    for (let found = this.#slots[index]; found !== 0 && found !== number; found = this.#slots[index]) {
      index = (index + 1) & last;
    }
    return index;
  }

  #grow(): void {
    const numbers = this.#slots;
    this.#slots = new Float64Array(numbers.length * 2);
    for (const number of numbers) {
      if (number !== 0) {
        this.#slots[this.#find(number)] = number;
      }
    }
  }
}

/** Replaces the key 0, which marks free slots, by 1. Events with equal keys are compared, so a shared key is no error. */
function nonZero(dedupKey: number): number {
  return dedupKey === 0 ? 1 : dedupKey;
}

export const MINUTE_MS = 60_000;

/** The dedup keys and the times (Unix milliseconds) of events. */
export interface EventDedupKeys {
  readonly dedupKeys: Float64Array;
  readonly times: Float64Array;
}

/** The minute of a time, counted from the epoch. */
const minuteOf = (time: number) => Math.floor(time / MINUTE_MS);

/** Late events do not keep coming from a minute that no event of so many loads was from. */
const RECENT_LOADS = 64;

export interface DedupIndexLimits {
  /** Above this number of events the index evicts minutes that no recent load had an event of. */
  readonly maxEvents: number;
  /** Above this number of events the index evicts all minutes but those of the last load. */
  readonly maxInUse: number;
}

interface IndexedMinute {
  readonly dedupKeys: DedupKeySet;
  /** The number of the last load with an event of the minute. */
  readonly usedBy: number;
}

/**
 * LRU index of dedup keys, grouped by the minute of their events. An indexed minute has the keys of all stored events of the minute; one
 * that was evicted is not forgotten, but has to be begun again from the stored events.
 */
export class DedupIndex {
  readonly #limits: DedupIndexLimits;
  /** In the order of their last use, the latest last. */
  readonly #minutes = new Map<number, IndexedMinute>();
  #events = 0;
  #loads = 0;

  constructor(limits: DedupIndexLimits) {
    this.#limits = limits;
  }

  /** Returns the minutes of the events that are not indexed, ascending, and marks the other ones as used. */
  missing({ times }: EventDedupKeys): number[] {
    this.#loads += 1;
    const minutes = minutesOf(times);
    for (const minute of minutes) {
      const indexed = this.#minutes.get(minute);
      if (indexed !== undefined) {
        this.#minutes.delete(minute);
        this.#minutes.set(minute, { ...indexed, usedBy: this.#loads });
      }
    }
    return minutes.filter((minute) => !this.#minutes.has(minute)).sort((a, b) => a - b);
  }

  /** Indexes these minutes. `stored` has all stored events of the minutes, and maybe events of others. */
  begin(minutes: readonly number[], stored: readonly EventDedupKeys[]): void {
    const begun = new Map(minutes.map((minute) => [minute, new DedupKeySet()]));
    for (const { dedupKeys, times } of stored) {
      for (let index = 0; index < times.length; index += 1) {
        begun.get(minuteOf(times[index] as number))?.add(dedupKeys[index] as number);
      }
    }
    for (const [minute, set] of begun) {
      this.#minutes.set(minute, { dedupKeys: set, usedBy: this.#loads });
      this.#events += set.size;
    }
  }

  /**
   * Adds the events whose minutes are indexed. Returns false where a key was there already or comes twice; by chance another event may have
   * it.
   */
  add({ dedupKeys, times }: EventDedupKeys): boolean {
    let areNew = true;
    for (let index = 0; index < dedupKeys.length; index += 1) {
      const minute = this.#of(times[index] as number);
      if (minute?.add(dedupKeys[index] as number)) {
        this.#events += 1;
      } else if (minute !== undefined) {
        areNew = false;
      }
    }
    this.#makeRoom();
    return areNew;
  }

  #of(time: number): DedupKeySet | undefined {
    return this.#minutes.get(minuteOf(time))?.dedupKeys;
  }

  /** Evicts minutes. Those of the current load stay, however many events they have. */
  #makeRoom(): void {
    const { maxEvents, maxInUse } = this.#limits;
    for (const [minute, { dedupKeys, usedBy }] of this.#minutes) {
      const loadsAgo = this.#loads - usedBy;
      if (this.#events <= maxEvents || loadsAgo === 0 || (loadsAgo < RECENT_LOADS && this.#events <= maxInUse)) {
        return;
      }
      this.#minutes.delete(minute);
      this.#events -= dedupKeys.size;
    }
  }
}

function minutesOf(times: Float64Array): number[] {
  const minutes = new Set<number>();
  let last = Number.NaN;
  for (const time of times) {
    const minute = minuteOf(time);
    if (minute !== last) {
      minutes.add(minute);
      last = minute;
    }
  }
  return [...minutes];
}
