import type { ExplorerState } from '../state/explorer-state.ts';

type Clock = ExplorerState['clock'];

const COUNT = new Intl.NumberFormat('en-GB');
const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });
const SHARE = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });

/** `1,234,567`. */
export function countText(count: number): string {
  return COUNT.format(count);
}

/** `1 event`, `1,234,567 events`. */
export function eventsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'event' : 'events'}`;
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

/** `2026-11-24 13:05:59`, by the clock that is chosen. */
export function timeText(ms: number, clock: Clock): string {
  const { date, time } = clockParts(ms, clock);
  return `${date} ${time}`;
}

/** `13:05:59.123`. */
export function preciseTime(ms: number, clock: Clock): string {
  return `${clockParts(ms, clock).time}.${String(((ms % 1000) + 1000) % 1000).padStart(3, '0')}`;
}

/** `2026-11-24 13:05:59.123`. */
export function millisecondTime(ms: number, clock: Clock): string {
  return `${clockParts(ms, clock).date} ${preciseTime(ms, clock)}`;
}

/** Date and time of day in ISO order, which sorts and which everybody reads. */
function clockParts(ms: number, clock: Clock): { readonly date: string; readonly time: string } {
  const shifted = clock === 'utc' ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000;
  const text = new Date(shifted).toISOString();
  return { date: text.slice(0, 10), time: text.slice(11, 19) };
}

/** What a value is called where nothing stands for it. */
export function valueOrNone(value: string): string {
  return value === '' ? '(none)' : value;
}
