import { TOLERANCE_SECONDS } from '../../query/search-limits.ts';
import type { Window } from '../api/explore.ts';
import { isCalendarDay, REACH_MINUTES, REACH_MS } from '../state/time-range.ts';

type Clock = 'local' | 'utc';

const WRITTEN = /^(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{1,2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/**
 * A time as people type or paste it, in Unix milliseconds: `2026-11-24 09:09`, with seconds or a zone if they like, a time of day of today,
 * seconds or milliseconds since 1970, or `now`. Without a zone it is by the clock. Null for anything else.
 */
export function readTypedTime(typed: string, clock: Clock, now: number): number | null {
  const text = typed.trim();
  if (/^now$/i.test(text)) return now;
  if (/^\d{10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{13}$/.test(text)) return Number(text);
  const day = new Date(clock === 'utc' ? now : now - new Date(now).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
  const [, date, time = '00:00', seconds = '', zone] = WRITTEN.exec(/^\d{1,2}:\d{2}/.test(text) ? `${day} ${text}` : text) ?? [];
  if (date === undefined || !isCalendarDay(date)) return null;
  const written = `${date}T${time.padStart(5, '0')}${seconds}${zoneText(zone, clock)}`;
  const ms = Date.parse(written);
  return Number.isNaN(ms) ? null : ms;
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

const TOLERANCE_MS = TOLERANCE_SECONDS * 1_000;

/** Reads the two ends of a window. */
export function readTypedWindow(from: string, to: string, clock: Clock, now: number): Window | WindowFault {
  const window = { from: readTypedTime(from, clock, now), to: readTypedTime(to, clock, now) };
  if (window.from === null) return { end: 'from', message: 'A time such as 2026-11-24 09:09:00, 09:09 or now' };
  if (window.to === null) return { end: 'to', message: 'A time such as 2026-11-24 09:36:00, 09:36 or now' };
  if (window.from < now - REACH_MS - TOLERANCE_MS) {
    return { end: 'from', message: `Events are searched up to ${REACH_MINUTES / 60} hours back` };
  }
  if (window.to > now + TOLERANCE_MS) return { end: 'to', message: 'This is in the future' };
  if (window.from >= window.to) return { end: 'to', message: 'The end has to be after the beginning' };
  return { from: window.from, to: window.to };
}
