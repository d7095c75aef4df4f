import { MINUTE_MS } from '../../query/durations.ts';
import { REACH_HOURS } from '../../query/search-limits.ts';
import type { Window } from '../api/explore.ts';

/** The time that is searched: up to now, or between two times in Unix milliseconds. */
export type TimeRange =
  | { readonly kind: 'last'; readonly minutes: number }
  | { readonly kind: 'between'; readonly from: number; readonly to: number };

/** How far back a window may reach. */
export const REACH_MINUTES = REACH_HOURS * 60;
export const REACH_MS = REACH_MINUTES * MINUTE_MS;

export const PRESET_MINUTES: readonly number[] = [15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60, 48 * 60, REACH_MINUTES];

/** The window of a range, at the time `now`. */
export function windowOfRange(range: TimeRange, now: number): Window {
  return range.kind === 'last' ? { from: now - range.minutes * MINUTE_MS, to: now } : { from: range.from, to: range.to };
}

/** A part that can be searched stays so for a while. */
const MARGIN_MS = 10 * MINUTE_MS;

/** What of two times can be searched at the time `now`. Null where all can, or nothing. */
export function searchablePart(range: TimeRange, now: number): TimeRange | null {
  if (range.kind === 'last') return null;
  const [from, to] = [Math.max(range.from, now - REACH_MS + MARGIN_MS), Math.min(range.to, now)];
  return from < to && (from > range.from || to < range.to) ? { kind: 'between', from, to } : null;
}

/** A range of the same length right before one, or as far as searches reach; null where nothing is there at the time `now`. */
export function earlierRange(range: TimeRange, now: number): TimeRange | null {
  const { from, to } = windowOfRange(range, now);
  const begin = Math.max(now - REACH_MS + MARGIN_MS, from - (to - from));
  return begin < from ? { kind: 'between', from: begin, to: begin + (to - from) } : null;
}

/** A range that ends so long ago ends now to whoever goes back and forward again. */
const JUST_NOW_MS = MINUTE_MS;

/** A range of the same length right after one, up to now at the latest; null where it ends now already. */
export function laterRange(range: TimeRange, now: number): TimeRange | null {
  const { from, to } = windowOfRange(range, now);
  const width = to - from;
  if (to >= now) return null;
  if (to + width < now - JUST_NOW_MS) return { kind: 'between', from: to, to: to + width };
  return width % MINUTE_MS === 0 ? { kind: 'last', minutes: width / MINUTE_MS } : { kind: 'between', from: now - width, to: now };
}

/** A range of twice the length around one, as far as it can be searched at the time `now`; null where that is no more. */
export function widerRange(range: TimeRange, now: number): TimeRange | null {
  if (range.kind === 'last') {
    return range.minutes < REACH_MINUTES ? { kind: 'last', minutes: Math.min(REACH_MINUTES, 2 * range.minutes) } : null;
  }
  const half = Math.ceil((range.to - range.from) / 2);
  const to = Math.min(now, range.to + half);
  const from = Math.max(now - REACH_MS + MARGIN_MS, to - (range.to - range.from) - 2 * half);
  return to - from > range.to - range.from ? { kind: 'between', from, to } : null;
}

/** How much of the time before an event, and after it, is shown around it. */
const AROUND_MS = 7.5 * MINUTE_MS;

/** The quarter of an hour that an event is in the middle of, as far as it can be searched at the time `now`. */
export function rangeAround(timestamp: number, now: number): TimeRange {
  const middle = Math.min(now, timestamp);
  return { kind: 'between', from: Math.max(now - REACH_MS, middle - AROUND_MS), to: Math.min(now, middle + AROUND_MS) };
}

/** `90m` or `24h`, as links have it. */
export function minutesText(minutes: number): string {
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

/** The minutes of such a text; null where it is none, or reaches back too far. */
export function readMinutes(text: string): number | null {
  const [, digits = '', unit] = /^(\d{1,4})([mh])$/.exec(text) ?? [];
  const minutes = Number(digits) * (unit === 'h' ? 60 : 1);
  return minutes > 0 && minutes <= REACH_MINUTES ? minutes : null;
}

const LINK_TIME = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * A time as links have it, in Unix milliseconds: `2026-11-24T10:00Z`, with seconds and milliseconds if they like, or the begin of a day in
 * UTC. Null for anything else: what depends on the clock of who opens the link, and days that no calendar has.
 */
export function readLinkTime(text: string): number | null {
  const [, day] = LINK_TIME.exec(text) ?? [];
  if (day === undefined || !isCalendarDay(day)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** Whether the calendar has a day such as `2026-11-24`. Date.parse takes 2026-02-31 for a day of March. */
export function isCalendarDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

/** `last 15 minutes`, `last 24 hours`. */
export function lastWords(minutes: number): string {
  if (minutes % 60 !== 0) return `last ${minutes} minutes`;
  return minutes === 60 ? 'last hour' : `last ${minutes / 60} hours`;
}
