import type { FeedEvent } from '../../store/feed-event.ts';
import { type AddressKind, addressKind } from './address-text.ts';
import { asNumber, countryCode } from './checked-values.ts';
import { type Quote, quoteOf } from './json-members.ts';
import { headerValue, type LogDetails, logDetails } from './log-details.ts';
import { memoizeByText } from './memoize.ts';
import { type ShieldAction, shieldAction } from './shield-action.ts';
import { type HostName, parseAuthority, type UrlParts, urlParts } from './url-parts.ts';

/** The values of an event that the formats share, checked for fields that have a type. An empty text counts as absent. */
export interface EventFacts {
  readonly event: FeedEvent;
  /** Unique among all events, and the same each time the event is read. */
  readonly uid: string;
  readonly action: ShieldAction;
  /** The client: an address unless `addressKind` is `none`. Empty where the event names no client. */
  readonly address: string;
  readonly addressKind: AddressKind;
  /** Decimal digits. */
  readonly asNumber: string | undefined;
  readonly countryCode: string | undefined;
  readonly url: UrlParts | undefined;
  /** The requested host, from the URL or else from the `Host` header. */
  readonly host: HostName | undefined;
  readonly log: LogDetails;
  /** Quotes texts of the event and of its log, whole or in parts. */
  readonly quote: Quote;
}

const CACHED_AUTHORITIES = 4096;
const CACHED_ACTIONS = 256;

/** Makes a function that reads the facts of events. It caches hosts and actions: the same text gives the same object. */
export function factsReader(): (event: FeedEvent) => EventFacts {
  // The cache cannot hold undefined.
  const authorities = memoizeByText(CACHED_AUTHORITIES, (text) => parseAuthority(text) ?? null);
  const authorityOf = (text: string) => authorities(text) ?? undefined;
  const actionOf = memoizeByText(CACHED_ACTIONS, shieldAction);
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
