import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { HOUR, NOW } from '../event/raw-events.ts';

export type Expected =
  | { readonly kind: 'rejected' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'accepted'; readonly event: Readonly<Record<string, unknown>> };

const TEXTS = ['feature', 'ruleId', 'ruleName', 'ip', 'ja4', 'ua', 'url', 'country', 'action'];
/** A number in these is the text of its digits. */
const NUMBER_TEXTS = ['feature', 'ruleId', 'ruleName', 'ja4', 'country', 'action', 'logId'];
const KNOWN = [...TEXTS, 'logId', 'shieldZoneId', 'timestamp', 'asn', 'log'];
const INTEGER = /^-?[0-9]+$/;

/** Judges an event by the rules with `JSON.parse`: slow, and without code of the intake. */
export function expectedOf(text: string, derivedLogId: string): Expected {
  const sources = new Map<string, string>();
  const given = text.replace(/^\ufeff/, '');
  const json = withoutHalves(given);
  const event = JSON.parse(json) as Record<string, unknown>;
  const whole = JSON.parse(json) as Record<string, unknown>;
  // The reviver sees nested members too; the event's own come last.
  JSON.parse(json, function (this: unknown, key: string, value: unknown, context?: { source?: string }) {
    sources.set(key, context?.source ?? '');
    return value;
  } as (key: string, value: unknown) => unknown);
  readNumbers(event, sources);
  const [zone, time] = [event['shieldZoneId'], timeOf(event['timestamp'], sources.get('timestamp') ?? '')];
  const asn = asnOf(event['asn'], sources.get('asn') ?? '');
  const { logId: givenId } = JSON.parse(given) as Record<string, unknown>;
  const hasHalfId = typeof givenId === 'string' && !givenId.isWellFormed();
  const logId = (hasHalfId ? null : event['logId']) ?? derivedLogId;
  const log = event['log'] ?? whole;
  const wrong =
    typeof zone !== 'number' ||
    !INTEGER.test(sources.get('shieldZoneId') ?? '') ||
    zone !== (zone | 0) ||
    time === undefined ||
    time > NOW + 600_000 ||
    asn === undefined ||
    typeof logId !== 'string' ||
    logId === '' ||
    Buffer.byteLength(logId) > 512 ||
    typeof log !== 'object' ||
    Array.isArray(log) ||
    TEXTS.some((name) => !['string', 'undefined'].includes(typeof (event[name] ?? undefined)));
  if (wrong) {
    return { kind: 'rejected' };
  }
  if (time < NOW - 72 * HOUR) {
    return { kind: 'expired' };
  }
  const texts = Object.fromEntries(TEXTS.map((name) => [name, event[name] ?? undefined]));
  const homeless = log === whole ? {} : Object.fromEntries(Object.entries(event).filter(([name]) => !KNOWN.includes(name)));
  const ip = typeof texts['ip'] === 'string' ? bareAddress(texts['ip']) : undefined;
  const lost = log === whole || ip === texts['ip'] ? {} : { ip: texts['ip'] };
  const all = {
    logId,
    shieldZoneId: zone | 0,
    timestamp: BigInt(time),
    ...texts,
    ip,
    asn,
    ...numberOf(ip),
    log: { ...homeless, ...lost, ...log },
  };
  return { kind: 'accepted', event: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null)) };
}

/** Makes texts of numbers and numbers of texts, where either stands for the other. */
function readNumbers(event: Record<string, unknown>, sources: Map<string, string>): void {
  for (const name of NUMBER_TEXTS) {
    if (typeof event[name] === 'number') event[name] = sources.get(name);
  }
  for (const name of ['shieldZoneId', 'timestamp']) {
    const text = event[name];
    const [, fraction] = /^[0-9]+(\.[0-9]+)?$/.exec(typeof text === 'string' ? text : '-') ?? ['', null];
    if (fraction !== null) {
      sources.set(name, fraction === undefined ? String(text) : 'no integer');
      event[name] = fraction === undefined ? Number(text) : Number.NaN;
    }
  }
}

function timeOf(value: unknown, source: string): number | undefined {
  if (typeof value === 'number') {
    const isAllowed = (time: number) => time >= NOW - 72 * HOUR && time <= NOW + 600_000;
    if (!isAllowed(value) && [value * 1000, value * 1e-3, value * 1e-6].some(isAllowed)) {
      return undefined;
    }
    // A fraction so small that a double has none of it.
    if (value === 0 && /[1-9]/.test(source.replace(/e.*/i, ''))) {
      return undefined;
    }
    const whole = INTEGER.test(source) ? BigInt(source) : Number.isInteger(value) ? BigInt(value) : null;
    return whole !== null && BigInt.asIntN(64, whole) === whole ? value : undefined;
  }
  const parsed = typeof value === 'string' && /^\d{4}-.*T.*Z$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** Null: the event has none. Undefined: it is wrong. */
function asnOf(value: unknown, source: string): string | null | undefined {
  if (value === null || value === undefined || value === '') {
    return null;
  }
  const text = typeof value === 'number' ? source : typeof value === 'string' ? value.replace(/^as/i, '') : '';
  return /^[0-9]+$/.test(text) ? String(BigInt(text)) : undefined;
}

/** Without the blanks around it and the port, where an address is left; else the text as it is. */
function bareAddress(text: string): string {
  const trimmed = text.trim();
  const end = trimmed.lastIndexOf(':');
  const [host, port] = [trimmed.slice(0, Math.max(end, 0)), trimmed.slice(end + 1)];
  if ((isIP(trimmed) !== 0 && !trimmed.includes('%')) || firstOfMasked(trimmed) !== trimmed) {
    return trimmed;
  }
  const isPort = /^\d{1,5}$/.test(port) && Number(port) < 65_536;
  const bare = isIP(host) === 4 ? host : host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : '';
  const family = isIP(bare);
  return isPort && !bare.includes('%') && (host === bare ? family === 4 : family === 6) ? bare : text;
}

/** The first address of the network that a masked address stands for; any other text as it is. */
function firstOfMasked(text: string): string {
  const groups = text.split(/::?/);
  const [first, beside] = groups.length > 1 ? [text.replace(/::?\*$/, '::'), 5] : [text.replace(/\*$/, '0'), 1];
  return text.endsWith('*') && groups.length === beside && isIP(first) !== 0 ? first : text;
}

/** By the URL parser, which writes IPv6 in hexadecimal groups only: of an IPv4 at the end ipaddr.js has ideas of its own. */
function numberOf(text: unknown): Record<string, bigint> {
  const ip = typeof text === 'string' ? firstOfMasked(text) : text;
  if (typeof ip !== 'string' || ip.includes('%') || isIP(ip) === 0) {
    return {};
  }
  const groups = isIP(ip) === 4 ? `::ffff:${ip}` : ip;
  const all = ipaddr.parse(new URL(`http://[${groups}]/`).hostname.slice(1, -1)).toByteArray();
  const word = (from: number) =>
    BigInt(
      `0x${all
        .slice(from, from + 8)
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')}`,
    );
  return { ipHigh: word(0), ipLow: word(8) };
}

/** With U+FFFD for each half of a surrogate pair in an escape. */
function withoutHalves(json: string): string {
  const escapes = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)/g;
  return json.replaceAll(escapes, (written) => (/^\\u[dD][89a-fA-F]..$/.test(written) ? '\\ufffd' : written));
}
