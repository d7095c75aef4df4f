const ISO_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;

/**
 * Unix milliseconds of an ISO 8601 date and time with a zone, such as `2026-01-31T23:59:59.5+02:00`; finer than a millisecond is cut off.
 * Null where the text is none, names a day or time that does not exist, or lacks the zone.
 */
export function parseIsoTime(text: string): number | null {
  const match = ISO_TIME.exec(text);
  if (match === null) {
    return null;
  }
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number];
  const daysInMonth = new Date(Date.UTC(2000 + (y % 400), mo, 0)).getUTCDate();
  if (mo < 1 || mo > 12 || d < 1 || d > daysInMonth || h > 23 || mi > 59 || s > 59 || Number(zoneHour) > 23 || Number(zoneMinute) > 59) {
    return null;
  }
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  date.setUTCHours(h, mi, s, Number(fraction.padEnd(3, '0').slice(0, 3)));
  const offsetMinutes = Number(zoneHour) * 60 + Number(zoneMinute);
  return date.getTime() - (sign === '-' ? -offsetMinutes : offsetMinutes) * 60_000;
}
