import type { DropReason } from '../../query/plan/search-result.ts';
import type { Window } from '../api/explore.ts';
import type { ParsedRow } from '../api/parsed-row.ts';
import { countText, numberOf } from '../widgets/format.ts';

interface Bounds {
  readonly rows: number;
  /** Of the logs together. */
  readonly characters: number;
}

/** The newest events of a tail. All lists have the newest first and are bounded. */
export interface LiveList {
  readonly most: Bounds;
  readonly shown: readonly ParsedRow[];
  /** Rows that were ever put before those that were shown: by how many lines each has moved down. */
  readonly moved: number;
  /** Rows that came in while the list is paused; they are shown when it goes on. */
  readonly waiting: readonly ParsedRow[];
  /** Events that came in during the pause, also those that `waiting` has no room for. */
  readonly waitingCount: number;
  readonly isPaused: boolean;
  readonly seen: number;
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** The times in which nothing was watched, the newest last. */
  readonly unwatched: readonly Window[];
}

export function emptyList(most: Bounds): LiveList {
  return {
    most,
    shown: [],
    moved: 0,
    waiting: [],
    waitingCount: 0,
    isPaused: false,
    seen: 0,
    dropped: { unread: 0, costly: 0 },
    unwatched: [],
  };
}

/** Adds rows, the newest last, as they came in since the list was drawn. */
export function withRows(list: LiveList, rows: readonly ParsedRow[]): LiveList {
  const newest = rows.toReversed();
  const seen = list.seen + rows.length;
  if (!list.isPaused) return { ...list, seen, ...shownAfter(list, newest) };
  return { ...list, seen, waiting: bounded([...newest, ...list.waiting], list.most), waitingCount: list.waitingCount + rows.length };
}

function shownAfter({ shown, moved, most }: LiveList, newest: readonly ParsedRow[]): Pick<LiveList, 'shown' | 'moved'> {
  return { shown: bounded([...newest, ...shown], most), moved: moved + newest.length };
}

/** The same tail without what it has shown so far. */
export function cleared({ most, isPaused }: LiveList): LiveList {
  return { ...emptyList(most), isPaused };
}

function bounded(rows: readonly ParsedRow[], { rows: most, characters }: Bounds): readonly ParsedRow[] {
  let length = 0;
  const end = rows.findIndex(({ logText }, index) => {
    length += logText.length;
    return index >= most || (index > 0 && length > characters);
  });
  return end === -1 ? rows : rows.slice(0, end);
}

export function withDropped(list: LiveList, count: number, reason: DropReason): LiveList {
  return { ...list, dropped: { ...list.dropped, [reason]: list.dropped[reason] + count } };
}

export function withUnwatched(list: LiveList, window: Window): LiveList {
  return { ...list, unwatched: [...list.unwatched, window] };
}

/** Pauses the list, or goes on with what came in meanwhile. */
export function withPause(list: LiveList, isPaused: boolean): LiveList {
  if (isPaused) return { ...list, isPaused };
  return { ...list, isPaused, ...shownAfter(list, list.waiting), waiting: [], waitingCount: 0 };
}

/** How many events had come at a time, in milliseconds. */
export interface Arrivals {
  readonly at: number;
  readonly count: number;
}

/** Events a second are those of this time. */
const RATE_MS = 10_000;

/** The arrivals that are needed for a rate, the newest last. */
export function withArrivals(earlier: readonly Arrivals[], now: Arrivals): readonly Arrivals[] {
  return [...earlier.filter(({ at }) => at >= now.at - RATE_MS), now];
}

/** Events a second over the last ten, or since there are arrivals; 0 where nobody knows yet. */
export function rateOf(arrivals: readonly Arrivals[]): number {
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (first === undefined || last === undefined || last.at === first.at) return 0;
  return ((last.count - first.count) * 1_000) / (last.at - first.at);
}

/** When nothing was watched, by the clock of `timeText`; empty where that is not so. */
export function unwatchedWords({ unwatched }: LiveList, timeText: (ms: number) => string): string {
  if (unwatched.length === 0) return '';
  return `; nothing was watched ${unwatched.map(({ from, to }) => `from ${timeText(from)} to ${timeText(to)}`).join(', ')}`;
}

/** What is to be said of the list beside its state. */
export function listWords({ seen, dropped, isPaused, waitingCount }: LiveList): string {
  const words = [numberOf(seen)];
  if (dropped.unread > 0) words.push(`${countText(dropped.unread)} left out, because this page did not read fast enough`);
  if (dropped.costly > 0) words.push(`${countText(dropped.costly)} left out, because trying the conditions on them costs too much`);
  if (isPaused) words.push(`paused, ${countText(waitingCount)} new`);
  return words.join('; ');
}
