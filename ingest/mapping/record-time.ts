import { offsetMinutesOf, parseIsoTime, unixMsOf } from '../event/iso-time.ts';

/** The forms of a time, by their words in a mapping, each with a time that is in it. */
export const TIME_EXAMPLES = {
  iso: '2026-11-28T04:28:10Z, with a zone',
  unix: '1795678975',
  clf: '28/Nov/2026:04:28:10 +0000',
  ctime: 'Sat Nov 28 04:28:10 2026',
  'yyyy-MM-dd HH:mm:ss': '2026-11-28 04:28:10',
} as const;
export type TimeForm = keyof typeof TIME_EXAMPLES;
export const TIME_FORMS = Object.keys(TIME_EXAMPLES) as readonly TimeForm[];

/** The forms that never have a zone of their own. */
export const FORMS_WITHOUT_ZONE: readonly TimeForm[] = ['ctime', 'yyyy-MM-dd HH:mm:ss'];

/** Unix milliseconds of a text in the form; null where it is none. `zoneMinutes` is for a text without a zone; null: that is none. */
const READERS: Readonly<Record<TimeForm, (text: string, zoneMinutes: number | null) => number | null>> = {
  iso: parseIsoTime,
  unix: unixTime,
  clf: (text, zoneMinutes) => timeIn(CLF, text, zoneMinutes),
  ctime: (text, zoneMinutes) => timeIn(CTIME, text, zoneMinutes),
  'yyyy-MM-dd HH:mm:ss': (text, zoneMinutes) => timeIn(PLAIN, text, zoneMinutes),
};

/** Unix milliseconds of a text in one of the forms; null where it is in none. What is finer than a millisecond is cut off. */
export function parseTime(text: string, forms: readonly TimeForm[], zoneMinutes: number | null): number | null {
  for (const form of forms) {
    const found = READERS[form](text, zoneMinutes);
    if (found !== null) return found;
  }
  return null;
}

const UNIX = /^(\d{1,19})(?:\.(\d*))?$/;
/** Some programs write large numbers as `1.795838661558e+12`. */
const WITH_EXPONENT = /^\d(?:\.\d+)?[eE]\+?\d\d?$/;
/** From as many digits on, a time is in a finer unit: 11 digits are seconds until the year 5138, and milliseconds since 1973. */
const [MS_DIGITS, US_DIGITS, NS_DIGITS] = [12, 15, 18];

/** Seconds, milliseconds, microseconds or nanoseconds since 1970, told by their size. Texts of digits, so that none is lost. */
function unixTime(text: string): number | null {
  const found = UNIX.exec(text) ?? (WITH_EXPONENT.test(text) ? UNIX.exec(String(Number(text))) : null);
  const [, whole, fraction = ''] = found ?? [];
  if (whole === undefined) {
    return null;
  }
  const digits = whole.startsWith('0') ? whole.replace(/^0+(?=\d)/, '') : whole;
  if (digits.length < MS_DIGITS) {
    return Number(digits + fraction.padEnd(3, '0').slice(0, 3));
  }
  return Number(digits.slice(0, digits.length - (digits.length < US_DIGITS ? 0 : digits.length < NS_DIGITS ? 3 : 6)));
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const CLOCK = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)(?:[.,](?<fraction>\\d{1,9}))?';

/** `28/Nov/2026:04:28:10 +0000`, as access logs have it. */
const CLF = new RegExp(`^\\[?(?<day>\\d\\d)/(?<month>[a-z]{3})/(?<year>\\d{4}):${CLOCK}(?: (?<zone>[+-]\\d{4}))?\\]?$`, 'i');
/** `Mon May  9 09:41:59 2022`, as ctime of C writes it. */
const CTIME = new RegExp(`^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \\d]\\d) ${CLOCK} (?<year>\\d{4})$`, 'i');
/** `2026-11-28 04:28:10`, also with slashes, with a T, or with a fraction. */
const PLAIN = new RegExp(`^(?<year>\\d{4})([-/])(?<month>\\d\\d)\\2(?<day>\\d\\d)[ T]${CLOCK}$`, 'i');

function timeIn(pattern: RegExp, text: string, zoneMinutes: number | null): number | null {
  const { year, month = '', day, hour, minute, second, fraction = '', zone } = pattern.exec(text)?.groups ?? {};
  const offsetMinutes = zone === undefined ? zoneMinutes : offsetMinutesOf(zone);
  if (
    year === undefined ||
    day === undefined ||
    hour === undefined ||
    minute === undefined ||
    second === undefined ||
    offsetMinutes === null
  ) {
    return null;
  }
  const number = /^\d/.test(month) ? month : String(MONTHS.indexOf(month.toLowerCase()) + 1);
  return unixMsOf({ year, month: number, day: day.trim(), hour, minute, second, fraction, offsetMinutes });
}
