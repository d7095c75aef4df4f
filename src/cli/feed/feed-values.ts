import { ZONE_ID_RANGE, zoneIdIn } from '../../config/zone-id.ts';
import { UsageError } from '../command-line.ts';

function refuse(flag: string, text: string, allowed: string): never {
  throw new UsageError(`--${flag} "${text}" is not allowed; allowed: ${allowed}`);
}

export function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : refuse(flag, text, `a whole number ${least}..${most}`);
}

export function choice<Name extends string>(flag: string, text: string, names: readonly Name[]): Name {
  return names.find((name) => name === text) ?? refuse(flag, text, names.join(', '));
}

/** The zone place of the feed's path: `all`, or zone ids in ascending order. */
export function zoneList(text: string): string {
  if (text === 'all') return text;
  const ids = text.split(',').map((item) => zoneIdIn(item.trim()));
  if (!ids.every((id) => id !== null)) return refuse('zone', text, `all, or zone ids ${ZONE_ID_RANGE} separated by commas`);
  return [...new Set(ids)].sort((a, b) => a - b).join(',');
}

const BYTES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** `500`, `64k`, `100M`, `2G` in bytes. */
export function byteSize(flag: string, text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,12})([kmg]?)$/i.exec(text) ?? [];
  const size = Number(digits) * (BYTES[unit.toLowerCase()] ?? 0);
  return size >= 1 && size <= Number.MAX_SAFE_INTEGER ? size : refuse(flag, text, 'a size such as 500000, 64k, 100M, 2G');
}

const DAY_MS = 86_400_000;
const MILLISECONDS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** `30s`, `15m`, `1h`, `1d` in milliseconds; at most `maxDays`. */
export function duration(flag: string, text: string, maxDays = Number.POSITIVE_INFINITY): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const lengthMs = Number(digits) * (MILLISECONDS[unit] ?? 0);
  const most = Number.isFinite(maxDays) ? `, up to ${maxDays}d` : '';
  return lengthMs >= 1_000 && lengthMs <= maxDays * DAY_MS ? lengthMs : refuse(flag, text, `a time such as 30s, 15m, 1h, 1d${most}`);
}

/** A name in a syslog header (RFC 5424): printable ASCII without blanks. */
export function syslogName(flag: string, text: string, longest: number): string {
  return /^[\x21-\x7e]+$/.test(text) && text.length <= longest
    ? text
    : refuse(flag, text, `1 to ${longest} printable ASCII characters without blanks`);
}
