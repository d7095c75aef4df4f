import { DIMENSIONS } from '../../query/event-fields.ts';
import { BIG_ZONE, WINDOW } from '../engines/timed-searches.ts';

/** A question of the explorer, and a second look at the same search, in each run another one. */
export interface Question {
  readonly name: string;
  readonly title: string;
  readonly zone: number;
  readonly first: object;
  /** `run` is from 0. */
  readonly second: (run: number) => object;
}

const HOUR_MS = 3_600_000;
/** A zone with a 250th of the events of the largest one. */
const SMALL_ZONE = 250;
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

function plain(zone: number) {
  return { zone, first: page(0), second: (run: number) => page(run + 1) };
}

function selected(zone: number) {
  return { zone, first: selecting(30), second: (run: number) => selecting(36 + (run % PLACES)) };
}

export const QUESTIONS: readonly Question[] = [
  { name: 'explore-1', title: 'large zone', ...plain(BIG_ZONE) },
  { name: 'explore-2', title: 'large zone, six hours selected', ...selected(BIG_ZONE) },
  { name: 'explore-3', title: 'small zone', ...plain(SMALL_ZONE) },
  { name: 'explore-4', title: 'small zone, six hours selected', ...selected(SMALL_ZONE) },
];

/** The zone by which an engine is warmed up: it has half as many events as the largest, and no question is about it. */
export const OTHER_ZONE = 2;
