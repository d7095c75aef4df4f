import { hash } from 'node:crypto';
import type { FeedEvent } from '../../store/feed-event.ts';
import { dottedQuad } from './address-kind.ts';
import { extensionText, headerText } from './cef-text.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { headerValue } from './log-details.ts';
import { PRODUCT } from './product.ts';

/** The longest values of the keys that the standard has, as its dictionary gives them. */
const LIMITS = {
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
const LONGEST_CLASS_ID = 1023;
const LONGEST_NAME = 512;

const PREFIX = `CEF:0|${PRODUCT.vendor}|${PRODUCT.name}|${PRODUCT.version}|`;

/** Writes events in the Common Event Format, version 0. */
export function cefWriter(): (event: FeedEvent) => string {
  const factsOf = factsReader();
  return (event) => {
    const facts = factsOf(event);
    return `${PREFIX}${header(facts)}|${times(event)}${identity(event)}${verdict(facts)}${client(facts)}${request(facts)}${customs(facts)}`;
  };
}

function header({ event: { fields }, action }: EventFacts): string {
  const { ruleId, ruleName, feature } = fields;
  const name = ruleName || [feature, fields.action].filter(Boolean).join(' ') || 'Shield event';
  return `${headerText(ruleId || feature || 'event', LONGEST_CLASS_ID)}|${headerText(name, LONGEST_NAME)}|${action.cefSeverity}`;
}

function times({ timestamp, ingestedAtMs }: FeedEvent): string {
  return `rt=${timestamp} deviceCustomDate1=${ingestedAtMs} deviceCustomDate1Label=Ingested`;
}

/**
 * Zone, time and log id tell an event apart. A log id that is too long is there as the start of its SHA-256, and whole in a custom text.
 */
function identity({ zoneId, logId }: FeedEvent): string {
  const isShort = Buffer.byteLength(logId) <= LIMITS.externalId;
  const externalId = isShort ? logId : hash('sha256', logId, 'hex').slice(0, 32);
  return ` deviceExternalId=${zoneId}${text('externalId', externalId)}${isShort ? '' : custom('cs6', 'Log id', logId)}`;
}

function verdict({ event: { fields }, action, log }: EventFacts): string {
  return text('act', fields.action) + text('outcome', action.ecsOutcome) + text('cat', fields.feature) + text('msg', log.message);
}

/** `src` is for IPv4; the custom address that the standard sets aside for the source takes IPv6. */
function client({ event: { fields }, address, addressKind, asNumber, log }: EventFacts): string {
  const asn = asNumber === undefined ? custom('cs5', 'Source AS', fields.asn) : ` cn1=${asNumber} cn1Label=Source AS number`;
  return `${source(address, addressKind)}${asn}${custom('cs2', 'Source country', fields.country)}${text(
    'requestClientApplication',
    fields.ua,
  )}${text('requestContext', headerValue(log.headers, 'referer'))}`;
}

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

function text(key: keyof typeof LIMITS, value: string | undefined): string {
  return value === undefined || value === '' ? '' : ` ${key}=${extensionText(value, LIMITS[key])}`;
}

function custom(key: 'cs1' | 'cs2' | 'cs3' | 'cs4' | 'cs5' | 'cs6', label: string, value: string | undefined): string {
  return value === undefined || value === '' ? '' : `${text(key, value)} ${key}Label=${label}`;
}
