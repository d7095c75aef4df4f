import type { FeedEvent } from '../../store/feed-event.ts';
import { type AddressKind, addressKind } from './address-kind.ts';
import { asNumber } from './as-number.ts';
import { cached } from './bounded-cache.ts';
import { countryCode } from './country-code.ts';
import type { HostName } from './host-name.ts';
import { type Quote, quoteOf } from './json-text.ts';
import { headerValue, type LogDetails, logDetails } from './log-details.ts';
import { type ShieldAction, shieldAction } from './shield-action.ts';
import { parseAuthority, type UrlParts, urlParts } from './url-parts.ts';

/** What is known about an event, checked for the fields that have a type. An empty text counts as missing. */
export interface EventFacts {
  readonly event: FeedEvent;
  /** Tells the event apart from every other one, and is the same in every reading of it. */
  readonly uid: string;
  readonly action: ShieldAction;
  /** Who sent the request: an address where `addressKind` says so. Empty where nobody knows. */
  readonly address: string;
  readonly addressKind: AddressKind;
  /** Digits. */
  readonly asNumber: string | undefined;
  readonly countryCode: string | undefined;
  readonly url: UrlParts | undefined;
  /** The host that was asked: of the URL, or else of the `Host` header. */
  readonly host: HostName | undefined;
  readonly log: LogDetails;
  /** For the texts of the event and of its log, whole or in parts. */
  readonly quote: Quote;
}

const AUTHORITIES = 4096;
const ACTIONS = 256;

/** Reads the facts of events, and keeps what it found out about hosts and actions: of the same one it gives the same object. */
export function factsReader(): (event: FeedEvent) => EventFacts {
  // The cache cannot hold undefined.
  const authorities = cached(AUTHORITIES, (text) => parseAuthority(text) ?? null);
  const authorityOf = (text: string) => authorities(text) ?? undefined;
  const actionOf = cached(ACTIONS, shieldAction);
  return (event) => {
    const { fields, zoneId, timestamp, logId } = event;
    const log = logDetails(event.log);
    const address = fields.ip || log.remoteIp || '';
    const url = fields.url ? urlParts(fields.url, authorityOf) : undefined;
    return {
      event,
      uid: `${zoneId}:${timestamp}:${logId}`,
      action: actionOf(fields.action ?? ''),
      address,
      addressKind: address === '' ? 'none' : addressKind(address),
      asNumber: fields.asn === undefined ? undefined : asNumber(fields.asn),
      countryCode: fields.country === undefined ? undefined : countryCode(fields.country),
      url,
      host: url?.host ?? authorityOf(headerValue(log.headers, 'host') ?? '')?.host,
      log,
      quote: quoteOf(event),
    };
  };
}
