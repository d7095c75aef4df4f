import { DAY_ZONES } from './day-of-events.ts';
import type { EventSpread } from './store-states.ts';

export const THREE_DAYS: EventSpread = {
  name: 'a thousand events of three days in one flush',
  zones: DAY_ZONES,
  hours: 71,
  events: 1_000,
  later: 250,
};

export const DAY: EventSpread = { name: '25,000 events of a day in one flush', zones: DAY_ZONES, hours: 24, events: 25_000, later: 1_500 };

/** Zones with so many events, and hours, have segments of another layout: these lie in two hours of the clock, each with its own. */
export const BUSY_ZONES: EventSpread = {
  name: '42,000 events of four zones in an hour and a half',
  zones: DAY_ZONES.slice(0, 4),
  hours: 1.5,
  events: 42_000,
  later: 5_000,
  mayHaveNothingToMerge: true,
};

/** Beyond 100,000 events the store flushes by itself. */
export const ALMOST_FULL_MEMTABLE: EventSpread = { ...DAY, name: '95,000 events of a day in one flush', events: 95_000, later: 20_000 };
