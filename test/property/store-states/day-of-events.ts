import { type OracleEvent, oracleEvents, type RawEvent } from '../../oracle/raw-event.ts';
import { generateRawEvents, NOW_MS } from '../filled-store.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The zones of {@link dayOfEvents}; the first has a quarter of the events. */
export const DAY_ZONES: readonly number[] = [7, 1, 2, 5, 8, 12, 40, 77, 5_000, -2_147_483_648, 2_147_483_647];
/** Zones that nobody sends events for. */
export const UNKNOWN_ZONES: readonly number[] = [99, -1, 123_456];

/** So many events differ in more than id, zone and time. */
const TEMPLATES = 500;
/** One event in so many lies on a whole minute, where it shares its time with others. */
const ON_THE_MINUTE = 3;
/** One event in so many has the id and the time of the one before it, in another zone. */
const IN_ANOTHER_ZONE = 97;

export interface DayOptions {
  readonly seed: number;
  readonly count: number;
  /** The events lie in so many hours before the present, in no order. */
  readonly hours?: number;
  readonly zones?: readonly number[];
  /** The number in the id of the first event; every event has the next one. */
  readonly first?: number;
}

/** Events of all zones in turn whose times have nothing to do with the order in which they come. */
export function dayOfEvents({ seed, count, hours = 24, zones = DAY_ZONES, first = 0 }: DayOptions): RawEvent[] {
  const templates = generateRawEvents(seed, TEMPLATES);
  const zoneOf = (number: number) => (number % 4 === 0 ? zones[0] : zones[number % zones.length]);
  return Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const isTwin = number % IN_ANOTHER_ZONE === 1 && zoneOf(number - 1) !== zoneOf(number);
    const own = isTwin ? number - 1 : number;
    const at = NOW_MS - (scattered(seed, own) % (hours * HOUR_MS));
    return {
      ...templates[scattered(seed + 1, number) % templates.length],
      logId: `e${own}`,
      shieldZoneId: zoneOf(number),
      timestamp: own % ON_THE_MINUTE === 0 ? Math.max(at - (at % MINUTE_MS), NOW_MS - hours * HOUR_MS) : at,
    };
  });
}

/** A number of 32 bits that looks random and depends on nothing else. */
function scattered(seed: number, index: number): number {
  let hash = Math.imul(seed ^ (index * 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** An event that a correct store holds, and its sequence in the feed. */
export interface AcceptedEvent {
  /** The first event has 1. One that is a duplicate of an earlier one takes a sequence and is not there. */
  readonly sequence: number;
  readonly event: OracleEvent;
}

/** All events that a store was given, as a plain list in the order of acceptance. */
export class AcceptedEvents {
  readonly #all: AcceptedEvent[] = [];
  readonly #identities = new Set<string>();
  #byZone = new Map<number, readonly AcceptedEvent[]>();
  #last = 0;

  /** The sequence of the last event that came, be it a duplicate. */
  get last(): number {
    return this.#last;
  }

  add(raw: readonly RawEvent[]): void {
    for (const event of raw.flatMap((each) => oracleEvents([each]))) {
      const identity = `${event.zoneId} ${event.timestamp} ${event.logId}`;
      this.#last += 1;
      if (!this.#identities.has(identity)) {
        this.#identities.add(identity);
        this.#all.push({ sequence: this.#last, event });
      }
    }
    this.#byZone = Map.groupBy(this.#all, ({ event }) => event.zoneId);
  }

  /** Returns the events that a feed of the zones has after a sequence. */
  inFeed(zones: readonly number[] | 'all', after: number): readonly AcceptedEvent[] {
    return this.#all.filter(({ sequence, event }) => sequence > after && (zones === 'all' || zones.includes(event.zoneId)));
  }

  /** Returns the events of zones, each once. */
  of(zones: readonly number[] | 'all'): readonly OracleEvent[] {
    const wanted = zones === 'all' ? this.#byZone.keys() : new Set(zones);
    return Array.from(wanted, (zone) => this.#byZone.get(zone) ?? []).flatMap((events) => events.map(({ event }) => event));
  }

  /** Every so manieth event: enough to draw values for requests from. */
  sample(count: number): readonly OracleEvent[] {
    const step = Math.max(1, Math.floor(this.#all.length / count));
    return this.#all.filter((_, index) => index % step === 0).map(({ event }) => event);
  }
}
