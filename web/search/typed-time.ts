import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { TOLERANCE_SECONDS } from '../../query/search-limits.ts';
import type { Window } from '../api/explore.ts';
import { isCalendarDay, REACH_MINUTES, REACH_MS } from '../state/time-range.ts';
import { timeText } from '../widgets/format.ts';
import { shownByClock } from '../widgets/wall-clock.ts';

type Clock = 'local' | 'utc';

const WRITTEN = /^(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{1,2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?)?\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;

/** As the logs of web servers have it, `[24/Nov/2026:09:09:30 +0100]`. */
const COMMON_LOG = /^\[?(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}.*?)\]?$/;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/**
 * A time as people type or paste it, in Unix milliseconds: `2026-11-24 09:09`, with seconds or a zone if they like, a time of day of today,
 * `24/Nov/2026:09:09:30 +0100`, seconds, milliseconds or microseconds since 1970, `now`, or `now-1h`. Less than a millisecond is left out.
 * Without a zone it is by the clock: the earlier one of a time that the clock shows twice, and `skipped` for one that it never shows,
 * because it is put forward. Null for anything else.
 */
export function readTypedTime(typed: string, clock: Clock, now: number): number | 'skipped' | null {
  const text = isoOfCommonLog(typed.trim());
  const [isNow, back = '0', unit = 's'] = /^now(?:\s*-\s*(\d{1,6})\s*([smhd]))?$/i.exec(text) ?? [];
  if (isNow !== undefined) return now - Number(back) * (UNITS_MS[unit.toLowerCase()] ?? 0);
  if (/^\d{10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{13}(\d{3})?$/.test(text)) return Number(text.slice(0, 13));
  const day = shownByClock(now, clock).slice(0, 10);
  const [, date, time = '00:00', seconds = '', zone] = WRITTEN.exec(/^\d{1,2}:\d{2}/.test(text) ? `${day} ${text}` : text) ?? [];
  if (date === undefined || !isCalendarDay(date)) return null;
  const milliseconds = seconds.replace(',', '.').slice(0, ':00.000'.length);
  const written = `${date}T${time.padStart(5, '0')}${milliseconds}${zoneText(zone, clock)}`;
  const ms = Date.parse(written);
  if (Number.isNaN(ms)) return null;
  const isSkipped = zone === undefined && !time.startsWith('24') && !shownByClock(ms, clock).startsWith(written.slice(0, 16));
  return isSkipped ? 'skipped' : ms;
}

function zoneText(zone: string | undefined, clock: Clock): string {
  if (zone === undefined) return clock === 'utc' ? 'Z' : '';
  if (/^(z|utc)$/i.test(zone)) return 'Z';
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3) || '00'}`;
}

/** The day of a web server's log in front, as ISO has it; any other text as it is. */
function isoOfCommonLog(text: string): string {
  const [, day, name = '', year, rest] = COMMON_LOG.exec(text) ?? [];
  const month = MONTHS.indexOf(name) + 1;
  return month === 0 ? text : `${year}-${String(month).padStart(2, '0')}-${day} ${rest}`;
}

/** `2026-11-24 09:09:00 – 09:36:00 UTC`. {@link typedEnds} reads it. */
export function windowText(window: Window, clock: Clock): string {
  const [from, to] = [timeText(window.from, clock), timeText(window.to, clock)];
  return `${from} – ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}${clock === 'utc' ? ' UTC' : ''}`;
}

const ENDS = /^(\d{4}-\d{2}-\d{2})?(.*?)\s+(?:–|—|to)\s+(\d{4}-\d{2}-\d{2})?(.*?)(\s*UTC)?$/s;

/**
 * The texts of the two ends of a window as the page shows it, the day and the zone in each of them; null for any other text, and as long as
 * one of the ends is none that can be read, because it is still being typed.
 */
export function typedEnds(typed: string, clock: Clock, now: number): { readonly from: string; readonly to: string } | null {
  const [isRead, day = '', begin = '', nextDay = day, end = '', utc = ''] = ENDS.exec(typed.trim()) ?? [];
  if (isRead === undefined) return null;
  const ends = { from: `${day}${begin}${utc}`, to: `${nextDay} ${end.trim()}${utc}`.trim() };
  return Object.values(ends).some((one) => readTypedTime(one, clock, now) === null) ? null : ends;
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
