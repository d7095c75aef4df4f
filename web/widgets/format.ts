import type { ExplorerState } from '../state/explorer-state.ts';
import { offsetText, shownByClock } from './wall-clock.ts';

type Clock = ExplorerState['clock'];

const COUNT = new Intl.NumberFormat('en-GB');
const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });
const SHARE = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });

/** `1,234,567`. */
export function countText(count: number): string {
  return COUNT.format(count);
}

/** `1 event`, `1,234,567 events`. */
export function numberOf(count: number, what = 'event'): string {
  return `${countText(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** `1.2m`. */
export function shortCount(count: number): string {
  return SHORT.format(count).toLowerCase();
}

/** `87 ms`, `18.8 s`. */
export function durationText(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** `12.3%` of a part of a whole; an empty whole has no shares. */
export function shareText(part: number, whole: number): string {
  return SHARE.format(whole === 0 ? 0 : part / whole);
}

/** `2026-11-24 13:05:59`, by the clock that is chosen, with the offset (`… +02:00`) where the clock shows that time twice. */
export function timeText(ms: number, clock: Clock): string {
  return `${dateText(ms, clock)} ${timeOfDay(ms, clock, 8)}`;
}

/** The first letters of `13:05:59.123`: 5, 8 or all 12, with the offset where the clock shows that time twice. */
export function timeOfDay(ms: number, clock: Clock, letters: number): string {
  return `${shownByClock(ms, clock).slice(11, 11 + letters)}${offsetText(ms, clock)}`;
}

/** `2026-11-24 13:05:59.123`, with the offset where the clock shows that time twice. */
export function millisecondTime(ms: number, clock: Clock): string {
  return `${dateText(ms, clock)} ${timeOfDay(ms, clock, 12)}`;
}

/**
 * The marks of an axis at these times, in seconds: `13:05`, or with seconds where they are less than a minute apart. Below it stand the
 * date where the day changes, and the offset where the clock shows that time twice.
 */
export function axisLabels(times: readonly number[], stepSeconds: number, clock: Clock): string[] {
  let day = '';
  return times.map((seconds) => {
    const text = shownByClock(seconds * 1000, clock);
    const [date, time] = [text.slice(5, 10), text.slice(11, stepSeconds < 60 ? 19 : 16)];
    const below = `${date === day ? '' : date}${offsetText(seconds * 1000, clock)}`.trim();
    day = date;
    return below === '' ? time : `${time}\n${below}`;
  });
}

/** In ISO order, which sorts and which everybody reads. */
function dateText(ms: number, clock: Clock): string {
  return shownByClock(ms, clock).slice(0, 10);
}

/** What a value is called where nothing stands for it. */
export function valueOrNone(value: string): string {
  return value === '' ? '(none)' : value;
}
