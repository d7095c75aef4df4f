import type { SeededRandom } from '../../bench/events/seeded-random.ts';
import { HOUR_MS } from '../../query/durations.ts';

/** Events are of these zones. */
export const NUMBERED_ZONES = [1, 2, 3, 40, 500] as const;
const COUNTRIES = ['DE', 'FR', 'BR', 'IN'] as const;
/** The events are spread over some days. */
export const SPAN_MS: number = 50 * HOUR_MS;

export interface NumberedEvent {
  readonly logId: string;
  readonly shieldZoneId: number;
  readonly timestamp: number;
  readonly country: string;
}

/** Events that were sent somewhere, each another one. */
export class NumberedEvents {
  readonly all: NumberedEvent[] = [];
  readonly #random: SeededRandom;
  readonly #untilMs: number;

  /** `untilMs` is later than the time of every event, Unix milliseconds. */
  constructor(random: SeededRandom, untilMs: number) {
    this.#random = random;
    this.#untilMs = untilMs;
  }

  /** Makes further events; the caller sends them. */
  draw(count: number): readonly NumberedEvent[] {
    const drawn = Array.from({ length: count }, (_, index) => ({
      logId: `event-${this.all.length + index}`,
      shieldZoneId: NUMBERED_ZONES[this.#random.below(NUMBERED_ZONES.length)] ?? 1,
      timestamp: this.#untilMs - 1 - this.#random.below(SPAN_MS),
      country: COUNTRIES[this.#random.below(COUNTRIES.length)] ?? '',
    }));
    this.all.push(...drawn);
    return drawn;
  }

  /** The ids of a zone's events, or of all, sorted. */
  ids(zone?: number): string[] {
    return this.all
      .filter(({ shieldZoneId }) => zone === undefined || shieldZoneId === zone)
      .map(({ logId }) => logId)
      .sort();
  }

  /** How many events have each value of a member. */
  countsBy(member: 'country' | 'shieldZoneId'): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const event of this.all) {
      counts[event[member]] = (counts[event[member]] ?? 0) + 1;
    }
    return counts;
  }
}
