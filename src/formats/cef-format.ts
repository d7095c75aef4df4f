import { hash } from 'node:crypto';
import type { FeedEvent } from '../../store/feed-event.ts';
import { dottedQuad } from './address-text.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { headerValue } from './log-details.ts';
import { PRODUCT } from './product.ts';

/** The maximum length of each key's value, from the dictionary of the standard. */
const MAX_BYTES = {
  act: 63,
  app: 31,
  cat: 1023,
  cs1: 4000,
  cs2: 4000,
  cs3: 4000,
  cs4: 4000,
  cs5: 4000,
  cs6: 4000,
  deviceExternalId: 255,
  dhost: 1023,
  externalId: 40,
  msg: 1023,
  outcome: 63,
  request: 1023,
  requestClientApplication: 1023,
  requestContext: 2048,
} as const;
const MAX_CLASS_ID_BYTES = 1023;
const MAX_NAME_BYTES = 512;

const PREFIX = `CEF:0|${PRODUCT.vendor}|${PRODUCT.name}|${PRODUCT.version}|`;

/** Finds the receipt time, Unix ms, which `cefWriter` writes first after the seven fields of the header. */
export const CEF_TIME = /^(?:(?:[^|\\]|\\.)*\|){7}rt=(-?\d{1,16})(?= |$)/;

/** Finds the id of the event, as it is escaped, between the times and the next key. */
export const CEF_ID = /^(?:(?:[^|\\]|\\.)*\|){7}rt=\S+ (?:device\w+=\S+ ){3}externalId=((?:[^\\ =]|\\.| (?!\w+=))*)/;

/** Writes events in the Common Event Format, version 0. */
export function cefWriter(): (event: FeedEvent) => string {
  const factsOf = factsReader();
  return (event) => {
    const facts = factsOf(event);
    const extension = identity(event) + actionPart(facts) + client(facts) + request(facts) + customs(facts);
    return `${PREFIX}${header(facts)}|${times(event)}${extension}`;
  };
}

function header({ event: { fields }, action }: EventFacts): string {
  const { ruleId, ruleName, feature } = fields;
  const name = ruleName || [feature, fields.action].filter(Boolean).join(' ') || 'Shield event';
  return `${headerText(ruleId || feature || 'event', MAX_CLASS_ID_BYTES)}|${headerText(name, MAX_NAME_BYTES)}|${action.cefSeverity}`;
}

function times({ timestamp, ingestedAtMs }: FeedEvent): string {
  return `rt=${timestamp} deviceCustomDate1=${ingestedAtMs} deviceCustomDate1Label=Ingested`;
}

/** Zone, time and log id identify an event. A log id over the limit becomes a prefix of its SHA-256; a custom text has the whole id. */
function identity({ zoneId, logId }: FeedEvent): string {
  const isShort = Buffer.byteLength(logId) <= MAX_BYTES.externalId;
  const externalId = isShort ? logId : hash('sha256', logId, 'hex').slice(0, 32);
  return ` deviceExternalId=${zoneId}${text('externalId', externalId)}${isShort ? '' : custom('cs6', 'Log id', logId)}`;
}

function actionPart({ event: { fields }, action, log }: EventFacts): string {
  return text('act', fields.action) + text('outcome', action.ecsOutcome) + text('cat', fields.feature) + text('msg', log.message);
}

function client({ event: { fields }, address, addressKind, asNumber, log }: EventFacts): string {
  const asn = asNumber === undefined ? custom('cs5', 'Source AS', fields.asn) : ` cn1=${asNumber} cn1Label=Source AS number`;
  const referrer = text('requestContext', headerValue(log.headers, 'referer'));
  const country = custom('cs2', 'Source country', fields.country);
  return source(address, addressKind) + asn + country + text('requestClientApplication', fields.ua) + referrer;
}

/** The standard allows only IPv4 in `src`, and reserves the custom address `c6a2` for an IPv6 source. */
function source(address: string, kind: EventFacts['addressKind']): string {
  switch (kind) {
    case 'ipv4':
      return ` src=${dottedQuad(address)}`;
    case 'ipv6':
      return ` c6a2=${address} c6a2Label=Source IPv6 Address`;
    case 'none':
      return custom('cs3', 'Source address', address);
  }
}

function request({ url, host }: EventFacts): string {
  const port = url?.port === undefined ? '' : ` dpt=${url.port}`;
  return text('request', url?.original) + text('app', url?.scheme) + text('dhost', host?.name) + port;
}

function customs({ event: { fields }, log: { matchKey, matchValue } }: EventFacts): string {
  const match = [matchKey, matchValue].filter((part) => part !== undefined).join(': ');
  return custom('cs1', 'JA4', fields.ja4) + custom('cs4', 'Match', match);
}

function text(key: keyof typeof MAX_BYTES, value: string | undefined): string {
  return value === undefined || value === '' ? '' : ` ${key}=${extensionText(value, MAX_BYTES[key])}`;
}

function custom(key: 'cs1' | 'cs2' | 'cs3' | 'cs4' | 'cs5' | 'cs6', label: string, value: string | undefined): string {
  return value === undefined || value === '' ? '' : `${text(key, value)} ${key}Label=${label}`;
}

/** Matches control characters and line separators other than tab, line feed and carriage return. */
const CONTROLS = /[^\t\n\r -~\u00a0-\u2027\u202a-\uffff]/g;
const HEADER_SPECIAL = /[\\|]/g;
const EXTENSION_SPECIAL = /[\\=\n\r]/g;
const PLAIN = /^[ !-<>-[\]-~]*$/;

const EXTENSION_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '=': '\\=', '\n': '\\n', '\r': '\\r' };

/** Escapes `|` and `\` with a backslash. A header has no escape for line ends, so they become blanks. */
function headerText(value: string, maxBytes: number): string {
  return cutToBytes(value, maxBytes)
    .replace(HEADER_SPECIAL, '\\$&')
    .replace(/[\n\r]/g, ' ')
    .replace(CONTROLS, ' ');
}

/** Escapes `=` and `\` with a backslash, and writes line ends as `\n` and `\r`. */
function extensionText(value: string, maxBytes: number): string {
  const cut = cutToBytes(value, maxBytes);
  return PLAIN.test(cut) ? cut : cut.replace(EXTENSION_SPECIAL, (found) => EXTENSION_ESCAPES[found] ?? found).replace(CONTROLS, ' ');
}

const MAX_BYTES_PER_UNIT = 3;

/**
 * Cuts a text between two characters to at most `maxBytes` of UTF-8. The standard counts "characters" without a definition, and bytes are
 * the strictest reading.
 */
function cutToBytes(value: string, maxBytes: number): string {
  // A unit of UTF-16 takes at most three bytes.
  if (value.length * MAX_BYTES_PER_UNIT <= maxBytes || Buffer.byteLength(value) <= maxBytes) {
    return value;
  }
  const bytes = Buffer.from(value.slice(0, maxBytes));
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end -= 1;
  }
  return bytes.toString('utf8', 0, end);
}
