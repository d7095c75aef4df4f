import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { wholeNumberIn } from '../../query/integer-ranges.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { UsageError } from './command.ts';

/** Throws the UsageError of a flag that has a wrong value. `flag` is without `--`. */
export function refuseFlag(flag: string, text: string, allowed: string): never {
  throw new UsageError(`--${flag} "${text}" is not allowed; allowed: ${allowed}`);
}

/** A value that is not empty, as that of a flag is where a script has nothing in its variable. */
export function nonEmpty(flag: string, text: string, allowed: string): string {
  return text === '' ? refuseFlag(flag, text, allowed) : text;
}

/** Parses a flag that may be absent; null: it is. */
export function optional<Value>(
  flags: Readonly<Record<string, string>>,
  name: string,
  parse: (text: string, flag: string) => Value,
): Value | null {
  const text = flags[name];
  return text === undefined ? null : parse(text, name);
}

export function wholeNumberFlag(flag: string, text: string, min: number, max: number): number {
  const value = wholeNumberIn(text, min, max);
  return value === null ? refuseFlag(flag, text, `a whole number ${min}..${max}`) : Number(value);
}

export function choice<Name extends string>(flag: string, text: string, names: readonly Name[]): Name {
  return names.find((name) => name === text) ?? refuseFlag(flag, text, names.join(', '));
}

/** Several names with commas between, each once. */
export function choices<Name extends string>(flag: string, text: string, names: readonly Name[]): readonly Name[] {
  const allowed = `${names.join(', ')}, several with commas between, each once`;
  const found = text.split(',').map((part) => names.find((name) => name.toLowerCase() === part.trim().toLowerCase()));
  if (found.every((name) => name !== undefined) && new Set(found).size === found.length) return found;
  return refuseFlag(flag, text, allowed);
}

/** `all`, or zone ids, ascending and each once. */
export function zoneList(text: string): string {
  if (text === 'all') return text;
  const ids = text.split(',').map((item) => zoneIdIn(item.trim()));
  if (!ids.every((id) => id !== null)) return refuseFlag('zone', text, `all, or zone ids ${ZONE_ID_RANGE} separated by commas`);
  return [...new Set(ids)].sort((a, b) => a - b).join(',');
}

const MILLISECONDS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Parses `30s`, `15m`, `1h`, `1d` to milliseconds, up to `maxDays`. */
export function duration(flag: string, text: string, maxDays = Number.POSITIVE_INFINITY): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const lengthMs = Number(digits) * (MILLISECONDS[unit] ?? 0);
  const range = Number.isFinite(maxDays) ? `, up to ${maxDays}d` : '';
  return lengthMs >= 1_000 && lengthMs <= maxDays * DAY_MS ? lengthMs : refuseFlag(flag, text, `a time such as 30s, 15m, 1h, 1d${range}`);
}

const TIME_FORMS = 'Unix milliseconds, a date (of UTC), or a time with its zone, such as 2026-12-01T18:20:00Z';

const TIME = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Parses a point in time to Unix ms. A time without a zone would mean another one on each machine. */
export function pointInTime(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [whole, year, month, day] = TIME.exec(text) ?? [];
  const timeMs = whole === undefined ? Number.NaN : Date.parse(whole);
  // Date.parse makes the 2nd of March of the 30th of February.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return Number.isNaN(timeMs) || !isDay ? refuseFlag(flag, text, TIME_FORMS) : timeMs;
}

/** The number of a shield zone. */
export function zoneNumber(text: string, flag: string): number {
  return zoneIdIn(text) ?? refuseFlag(flag, text, `a whole number ${ZONE_ID_RANGE}`);
}
