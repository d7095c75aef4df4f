import { IdentitySet } from './identity-set.ts';

export const MINUTE_MS = 60_000;

/** Events by what tells them apart, and when they happened (Unix milliseconds). */
export interface EventIdentities {
  readonly identities: Float64Array;
  readonly times: Float64Array;
}

/** The minute that a time lies in, since the epoch. */
const minuteOf = (time: number) => Math.floor(time / MINUTE_MS);

/** A minute that none of so many loads had an event of is not one that late events keep coming from. */
const RECENT_LOADS = 64;

export interface KnownEventsLimits {
  /** Beyond these, minutes go that no load had an event of for a while. */
  readonly mostEvents: number;
  /** Beyond these, all go but those of the last load. */
  readonly mostInUse: number;
}

interface KnownMinute {
  readonly identities: IdentitySet;
  /** The number of the load. */
  readonly usedBy: number;
}

/**
 * What tells the events of some minutes from others: of each minute that is known at all, those of every event that the store has. The minutes used last are kept, until there are too many events in them.
 */
export class KnownEvents {
  readonly #limits: KnownEventsLimits;
  /** The minute used last is the last. */
  readonly #minutes = new Map<number, KnownMinute>();
  #events = 0;
  #loads = 0;

  constructor(limits: KnownEventsLimits) {
    this.#limits = limits;
  }

  /** The minutes of the events of which nothing is known, ascending. The others count as used. */
  missing({ times }: EventIdentities): number[] {
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

  /** From here on these minutes are known; the events are those that the store has of them, and maybe of other minutes. */
  begin(minutes: readonly number[], stored: readonly EventIdentities[]): void {
    const begun = new Map(minutes.map((minute) => [minute, new IdentitySet()]));
    for (const { identities, times } of stored) {
      for (let index = 0; index < times.length; index += 1) {
        begun.get(minuteOf(times[index] as number))?.add(identities[index] as number);
      }
    }
    for (const [minute, set] of begun) {
      this.#minutes.set(minute, { identities: set, usedBy: this.#loads });
      this.#events += set.size;
    }
  }

  /**
   * Adds events, of those minutes that are known. False where one of them was there already or comes twice; others may have its identity by chance.
   */
  add({ identities, times }: EventIdentities): boolean {
    let areNew = true;
    for (let index = 0; index < identities.length; index += 1) {
      const minute = this.#of(times[index] as number);
      if (minute?.add(identities[index] as number)) {
        this.#events += 1;
      } else if (minute !== undefined) {
        areNew = false;
      }
    }
    this.#makeRoom();
    return areNew;
  }

  #of(time: number): IdentitySet | undefined {
    return this.#minutes.get(minuteOf(time))?.identities;
  }

  /** The minutes that are used now stay, however many events they have. */
  #makeRoom(): void {
    const { mostEvents, mostInUse } = this.#limits;
    for (const [minute, { identities, usedBy }] of this.#minutes) {
      const loadsAgo = this.#loads - usedBy;
      if (this.#events <= mostEvents || loadsAgo === 0 || (loadsAgo < RECENT_LOADS && this.#events <= mostInUse)) {
        return;
      }
      this.#minutes.delete(minute);
      this.#events -= identities.size;
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
