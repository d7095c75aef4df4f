import { IdentitySet } from './identity-set.ts';

const MINUTE_MS = 60_000;

/** Events by what tells them apart, and when they happened (Unix milliseconds). */
export interface EventIdentities {
  readonly identities: Float64Array;
  readonly times: Float64Array;
}

/** The minute that a time lies in, since the epoch. */
const minuteOf = (time: number) => Math.floor(time / MINUTE_MS);

/** Minutes, ascending, and the time from the first of them to the end of the last. */
export interface MissingMinutes {
  readonly minutes: readonly number[];
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

/**
 * What tells the events of some minutes from others: of each minute that is known at all, those of every event that the store has. The minutes used last are kept, until there are too many events in them.
 */
export class KnownEvents {
  readonly #mostEvents: number;
  /** The minute used last is the last. */
  readonly #minutes = new Map<number, IdentitySet>();
  #events = 0;

  constructor(mostEvents: number) {
    this.#mostEvents = mostEvents;
  }

  /** The minutes of the events of which nothing is known; undefined where there are none. The others count as used. */
  missing({ times }: EventIdentities): MissingMinutes | undefined {
    const minutes = minutesOf(times);
    for (const minute of minutes) {
      const known = this.#minutes.get(minute);
      if (known !== undefined) {
        this.#minutes.delete(minute);
        this.#minutes.set(minute, known);
      }
    }
    const missing = minutes.filter((minute) => !this.#minutes.has(minute)).sort((a, b) => a - b);
    const [first] = missing;
    const last = missing.at(-1);
    return first === undefined || last === undefined
      ? undefined
      : { minutes: missing, fromMs: first * MINUTE_MS, toMs: (last + 1) * MINUTE_MS };
  }

  /** From here on these minutes are known; the events are those that the store has of them, and maybe of other minutes. */
  begin(minutes: readonly number[], { identities, times }: EventIdentities): void {
    const begun = new Map(minutes.map((minute) => [minute, new IdentitySet()]));
    for (let index = 0; index < times.length; index += 1) {
      begun.get(minuteOf(times[index] as number))?.add(identities[index] as number);
    }
    for (const [minute, set] of begun) {
      this.#minutes.set(minute, set);
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
    this.#makeRoom(new Set(minutesOf(times)));
    return areNew;
  }

  #of(time: number): IdentitySet | undefined {
    return this.#minutes.get(minuteOf(time));
  }

  /** The minutes that are used now stay, however many events they have. */
  #makeRoom(used: ReadonlySet<number>): void {
    for (const [minute, { size }] of this.#minutes) {
      if (this.#events <= this.#mostEvents) {
        return;
      }
      if (!used.has(minute)) {
        this.#minutes.delete(minute);
        this.#events -= size;
      }
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
