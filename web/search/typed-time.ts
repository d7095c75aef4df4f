import { TOLERANCE_SECONDS } from '../../query/search-limits.ts';
import type { Window } from '../api/explore.ts';
import { isCalendarDay, REACH_MINUTES, REACH_MS } from '../state/time-range.ts';
import { timeText } from '../widgets/format.ts';
import { shownByClock } from '../widgets/wall-clock.ts';

type Clock = 'local' | 'utc';

const WRITTEN = /^(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{1,2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/**
 * A time as people type or paste it, in Unix milliseconds: `2026-11-24 09:09`, with seconds or a zone if they like, a time of day of today,
 * seconds or milliseconds since 1970, or `now`. Without a zone it is by the clock: the earlier one of a time that the clock shows twice,
 * and `skipped` for one that it never shows, because it is put forward. Null for anything else.
 */
export function readTypedTime(typed: string, clock: Clock, now: number): number | 'skipped' | null {
  const text = typed.trim();
  if (/^now$/i.test(text)) return now;
  if (/^\d{10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{13}$/.test(text)) return Number(text);
  const day = shownByClock(now, clock).slice(0, 10);
  const [, date, time = '00:00', seconds = '', zone] = WRITTEN.exec(/^\d{1,2}:\d{2}/.test(text) ? `${day} ${text}` : text) ?? [];
  if (date === undefined || !isCalendarDay(date)) return null;
  const written = `${date}T${time.padStart(5, '0')}${seconds}${zoneText(zone, clock)}`;
  const ms = Date.parse(written);
  if (Number.isNaN(ms)) return null;
  const isSkipped = zone === undefined && !time.startsWith('24') && !shownByClock(ms, clock).startsWith(written.slice(0, 16));
  return isSkipped ? 'skipped' : ms;
}

function zoneText(zone: string | undefined, clock: Clock): string {
  if (zone === undefined) return clock === 'utc' ? 'Z' : '';
  if (/^(z|utc)$/i.test(zone)) return 'Z';
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
}

/** Why a window cannot be searched, and at which end; null where it can. */
export interface WindowFault {
  readonly end: 'from' | 'to';
  readonly message: string;
}

const SKIPPED = 'No clock shows this time here: it is put forward over it';

const TOLERANCE_MS = TOLERANCE_SECONDS * 1_000;

/** Reads the two ends of a window. A text that is still that of an end of `shown` stands for exactly that time, of which it is a part. */
export function readTypedWindow(from: string, to: string, clock: Clock, now: number, shown: Window): Window | WindowFault {
  const read = (typed: string, ms: number) => (typed === timeText(ms, clock) ? ms : readTypedTime(typed, clock, now));
  const window = { from: read(from, shown.from), to: read(to, shown.to) };
  if (window.from === 'skipped') return { end: 'from', message: SKIPPED };
  if (window.to === 'skipped') return { end: 'to', message: SKIPPED };
  if (window.from === null) return { end: 'from', message: 'A time such as 2026-11-24 09:09:00, 09:09 or now' };
  if (window.to === null) return { end: 'to', message: 'A time such as 2026-11-24 09:36:00, 09:36 or now' };
  if (window.from < now - REACH_MS - TOLERANCE_MS) {
    return { end: 'from', message: `Events are searched up to ${REACH_MINUTES / 60} hours back` };
  }
  if (window.to > now + TOLERANCE_MS) return { end: 'to', message: 'This is in the future' };
  if (window.from >= window.to) return { end: 'to', message: 'The end has to be after the beginning' };
  return { from: window.from, to: window.to };
}
