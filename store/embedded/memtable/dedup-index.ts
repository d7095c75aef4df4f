import { MINUTE_MS } from '../../../query/durations.ts';

const MIN_SLOTS = 64;
/** A table that is fuller than this grows. */
const MAX_LOAD = 0.8;
const GROWTH = 1.5;
/** Bytes of a slot: forty bits of a key. */
const SLOT_BYTES = 5;

const TWO_TO_32 = 2 ** 32;

/** The most bytes that a set takes for each of its keys: just after it has grown. */
export const MAX_BYTES_OF_A_KEY = (SLOT_BYTES / MAX_LOAD) * GROWTH;

/**
 * A set of dedup keys: whole numbers from 0 to 2^53 - 1 that are evenly distributed. Of each it knows the lowest forty bits, so that a key
 * takes eight bytes on average. In a minute of two million events one load of ten thousand in fifty has a key by chance that is there.
 */
export class DedupKeySet {
  /**
   * An open-addressing hash table of the lowest 32 bits of the keys and the eight above them. A key is in the slot that its lowest bits say
   * as a part of all slots, or in the next free one; a slot with both 0 is free.
   */
  #low = new Uint32Array(MIN_SLOTS);
  #high = new Uint8Array(MIN_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get byteLength(): number {
    return this.#low.byteLength + this.#high.byteLength;
  }

  /** Returns false where the set has the key already, or one with the same forty bits. */
  add(dedupKey: number): boolean {
    const low = dedupKey >>> 0;
    const high = (dedupKey / TWO_TO_32) & 0xff;
    // Events with equal keys are compared, so that this key shares its place with another is no error.
    if (!this.#put(low === 0 && high === 0 ? 1 : low, high)) {
      return false;
    }
    this.#size += 1;
    if (this.#size > this.#low.length * MAX_LOAD) {
      this.#grow();
    }
    return true;
  }

  /** Returns false where the bits are there already. */
  #put(low: number, high: number): boolean {
    const slots = this.#low.length;
    let slot = Math.floor((low * slots) / TWO_TO_32);
    for (let found = this.#low[slot]; found !== 0 || this.#high[slot] !== 0; found = this.#low[slot]) {
      if (found === low && this.#high[slot] === high) {
        return false;
      }
      slot = slot + 1 === slots ? 0 : slot + 1;
    }
    this.#low[slot] = low;
    this.#high[slot] = high;
    return true;
  }

  #grow(): void {
    const [lows, highs] = [this.#low, this.#high];
    const slots = Math.ceil(lows.length * GROWTH);
    this.#low = new Uint32Array(slots);
    this.#high = new Uint8Array(slots);
    for (let slot = 0; slot < lows.length; slot += 1) {
      const [low, high] = [lows[slot] as number, highs[slot] as number];
      if (low !== 0 || high !== 0) {
        this.#put(low, high);
      }
    }
  }
}

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
 * that was evicted is not forgotten, but has to be begun again from the stored events. Events themselves are compared by
 * `insertNewStatement` in `sql/duplicate-statements.ts`.
 */
export class DedupIndex {
  readonly #limits: DedupIndexLimits;
  /** The indexed minutes in the order of their last use, the latest last. */
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
