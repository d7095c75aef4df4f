/** A date and time as texts of digits, without blanks or signs. */
export interface WrittenTime {
  readonly year: string;
  /** From 1. */
  readonly month: string;
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
  /** Digits behind the point of the second; empty where there are none. Finer than a millisecond is cut off. */
  readonly fraction: string;
  /** By how many minutes its zone is ahead of UTC. */
  readonly offsetMinutes: number;
}

/** Unix milliseconds; null for a day or time that does not exist. */
export function unixMsOf({ year, month, day, hour, minute, second, fraction, offsetMinutes }: WrittenTime): number | null {
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number];
  const daysInMonth = new Date(Date.UTC(2000 + (y % 400), mo, 0)).getUTCDate();
  if (mo < 1 || mo > 12 || d < 1 || d > daysInMonth || h > 23 || mi > 59 || s > 59) {
    return null;
  }
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  date.setUTCHours(h, mi, s, Number(fraction.padEnd(3, '0').slice(0, 3)));
  return date.getTime() - offsetMinutes * 60_000;
}

const OFFSET = /^([+-])(\d\d)(?::?(\d\d))?$/;

/** Minutes of an offset from UTC such as `+02:00`, `-0400` or `Z`; null where the text is none. */
export function offsetMinutesOf(text: string): number | null {
  if (text === 'Z' || text === 'z') {
    return 0;
  }
  const [, sign, hours, minutes = '0'] = OFFSET.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) {
    return null;
  }
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -offset : offset;
}

const ISO_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d\d(?::?\d\d)?)$/;

/**
 * Unix milliseconds of an ISO 8601 date and time with a zone, such as `2026-01-31T23:59:59.5+02:00`; finer than a millisecond is cut off.
 * Null where the text is none, names a day or time that does not exist, or lacks the zone.
 */
export function parseIsoTime(text: string): number | null {
  const match = ISO_TIME.exec(text);
  if (match === null) {
    return null;
  }
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '0', fraction = '', zone = ''] = match;
  const offsetMinutes = offsetMinutesOf(zone);
  return offsetMinutes === null ? null : unixMsOf({ year, month, day, hour, minute, second, fraction, offsetMinutes });
}
