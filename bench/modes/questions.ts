import { HOUR_MS } from '../../query/durations.ts';
import { DIMENSIONS } from '../../query/event-fields.ts';
import { BIG_ZONE, WINDOW } from '../engines/timed-searches.ts';

/** A question of the explorer, and a second look at the same search, in each run another one. */
export interface Question {
  readonly name: string;
  readonly title: string;
  readonly zone: number;
  /** Zones of about as many events, by which an engine is warmed up. */
  readonly otherZones: readonly number[];
  readonly first: object;
  /** `run` is from 0. */
  readonly second: (run: number) => object;
}

type Zones = Pick<Question, 'zone' | 'otherZones'>;

/** The others have a half to a fifth as many events. */
const LARGE: Zones = { zone: BIG_ZONE, otherZones: [2, 3, 4, 5] };

/** A zone with a 250th of the events of the largest one. */
const SMALL: Zones = { zone: 250, otherZones: [251, 252, 253, 254] };
/** The stretches that second looks select begin at so many places. */
const PLACES = 12;

/** What the explorer page shows: 50 rows and the total, the actions by time, and the values of all fields. */
function view(order: 'count' | 'difference') {
  return {
    ...WINDOW,
    pageSize: 50,
    histogram: { buckets: 60, by: 'action' },
    facets: DIMENSIONS.map((field) => ({ field, limit: 10, order })),
  };
}

/** Six hours that begin so many hours after the window. */
function sixHoursFrom(hours: number) {
  return { from: WINDOW.from + hours * HOUR_MS, to: WINDOW.from + (hours + 6) * HOUR_MS };
}

const page = (index: number) => ({ ...view('count'), page: index });
const selecting = (hours: number) => ({ ...view('difference'), selection: sixHoursFrom(hours) });

function plain(zones: Zones) {
  return { ...zones, first: page(0), second: (run: number) => page(run + 1) };
}

function selected(zones: Zones) {
  return { ...zones, first: selecting(30), second: (run: number) => selecting(36 + (run % PLACES)) };
}

export const QUESTIONS: readonly Question[] = [
  { name: 'explore-1', title: 'large zone', ...plain(LARGE) },
  { name: 'explore-2', title: 'large zone, six hours selected', ...selected(LARGE) },
  { name: 'explore-3', title: 'small zone', ...plain(SMALL) },
  { name: 'explore-4', title: 'small zone, six hours selected', ...selected(SMALL) },
];
