import { DedupKeySet } from './dedup-key-set.ts';

export const MINUTE_MS = 60_000;

/** The dedup keys of events, and when the events happened (Unix milliseconds). */
export interface EventDedupKeys {
  readonly dedupKeys: Float64Array;
  readonly times: Float64Array;
}

/** The minute that a time lies in, since the epoch. */
const minuteOf = (time: number) => Math.floor(time / MINUTE_MS);

/** A minute that none of so many loads had an event of is not one that late events keep coming from. */
const RECENT_LOADS = 64;

export interface DedupIndexLimits {
  /** Beyond these, minutes go that no load had an event of for a while. */
  readonly maxEvents: number;
  /** Beyond these, all go but those of the last load. */
  readonly maxInUse: number;
}

interface IndexedMinute {
  readonly dedupKeys: DedupKeySet;
  /** The number of the load. */
  readonly usedBy: number;
}

/**
 * LRU index of dedup keys, grouped by the minute of their events. A minute that is indexed has the key of every event that the store has of
 * it. The minutes used last are kept until there are too many events in them.
 */
export class DedupIndex {
  readonly #limits: DedupIndexLimits;
  /** The minute used last is the last. */
  readonly #minutes = new Map<number, IndexedMinute>();
  #events = 0;
  #loads = 0;

  constructor(limits: DedupIndexLimits) {
    this.#limits = limits;
  }

  /** The minutes of the events that are not indexed, ascending. The others count as used. */
  missing({ times }: EventDedupKeys): number[] {
    this.#loads += 1;
    const minutes = minutesOf(times);
    for (const minute of minutes) {
      const known = this.#minutes.get(minute);
      if (known !== undefined) {
        this.#minutes.delete(minute);
        this.#minutes.set(minute, { ...known, usedBy: this.#loads });
      }
    }
    return minutes.filter((minute) => !this.#minutes.has(minute)).sort((a, b) => a - b);
  }

  /** Indexes these minutes; the events are those that the store has of them, and maybe of other minutes. */
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
   * Adds events of those minutes that are indexed. False where one of them was there already or comes twice; another event may have its key
   * by chance.
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

  /** The minutes that are used now stay, however many events they have. */
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
