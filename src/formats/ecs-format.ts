import { parseAddress } from '../../query/address.ts';
import type { FeedEvent } from '../../store/feed-event.ts';
import { MAX_DATE_MS } from './checked-values.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { withJson, withObject, withText } from './json-members.ts';
import { headerValue } from './log-details.ts';
import { PRODUCT } from './product.ts';

/** https://www.elastic.co/docs/reference/ecs */
const ECS_VERSION = '9.4.0';

const { vendor, name: product, version } = PRODUCT;
const OBSERVER = `"observer":{"vendor":"${vendor}","product":"${product}","version":"${version}","type":"waf"}`;
const SOURCE = '"module":"shieldlog","dataset":"shieldlog.events","provider":"shield"';

/** Features that detect attacks. The others limit access to the network, by client or by rate. */
const DETECTIONS: ReadonlySet<string> = new Set(['waf', 'bot-detection', 'ddos', 'upload-scanning', 'api-guardian']);

/** Writes events as documents of the Elastic Common Schema. */
export function ecsWriter(): (event: FeedEvent) => string {
  const factsOf = factsReader();
  const instant = instantWriter();
  const ingestInstant = instantWriter();
  return (event) => {
    const facts = factsOf(event);
    const { fields } = event;
    const { log, quote } = facts;
    const referrer = headerValue(log.headers, 'referer');
    let members = `"@timestamp":"${instant(event.timestamp)}","ecs":{"version":"${ECS_VERSION}"}`;
    members = withText(members, ',"message":', log.message, quote);
    members += `,"event":${eventObject(facts, ingestInstant(event.ingestedAtMs))},${OBSERVER}`;
    members = withObject(members, ',"rule":', rule(facts));
    members = withObject(members, ',"source":', source(facts));
    members = withObject(members, ',"url":', urlMembers(facts));
    members = withObject(members, ',"user_agent":', withText('', ',"original":', fields.ua, quote));
    members = withObject(members, ',"http":', withObject('', ',"request":', withText('', ',"referrer":', referrer, quote)));
    members = withObject(members, ',"tls":', withObject('', ',"client":', withText('', ',"ja4":', fields.ja4, quote)));
    members = withObject(members, ',"related":', related(facts));
    return `{${members},"labels":{${labels(facts)}}}`;
  };
}

function eventObject({ event, uid, action, quote }: EventFacts, ingested: string): string {
  const { fields } = event;
  const category = DETECTIONS.has(fields.feature?.toLowerCase() ?? '') ? 'intrusion_detection' : 'network';
  const kind = action.isAlert ? 'alert' : 'event';
  let members = `"kind":"${kind}","category":["web","${category}"],"type":["access","${action.ecsType}"]`;
  members = withText(members, ',"action":', fields.action, quote);
  members = withText(members, ',"outcome":', action.ecsOutcome, quote);
  const ids = `"id":${quote(uid)},"sequence":${event.sequence},${SOURCE}`;
  return `{${members},${ids},"ingested":"${ingested}","original":${JSON.stringify(event.json)}}`;
}

function rule({ event: { fields }, quote }: EventFacts): string {
  let members = withText('', ',"id":', fields.ruleId, quote);
  members = withText(members, ',"name":', fields.ruleName, quote);
  members = withText(members, ',"ruleset":', fields.feature, quote);
  return withText(members, ',"category":', fields.feature, quote);
}

function source({ address, addressKind, asNumber, countryCode, quote }: EventFacts): string {
  let members = withText('', ',"address":', address, quote);
  members = addressKind === 'none' ? members : withText(members, ',"ip":', address, quote);
  members = withObject(members, ',"as":', withJson('', ',"number":', asNumber));
  return withObject(members, ',"geo":', withText('', ',"country_iso_code":', countryCode, quote));
}

/** The members of `url`. The domain of a URL that is only a path is the requested host. */
function urlMembers({ url, host, quote }: EventFacts): string {
  let members = withText('', ',"domain":', host?.name, quote);
  members = withText(members, ',"registered_domain":', host?.registeredDomain, quote);
  members = withText(members, ',"top_level_domain":', host?.topLevelDomain, quote);
  members = withText(members, ',"subdomain":', host?.subdomain, quote);
  if (url === undefined) {
    return members;
  }
  const { original, scheme, query } = url;
  members = withText(members, ',"original":', original, quote);
  members = scheme === undefined ? members : withText(members, ',"full":', original, quote);
  members = withText(members, ',"scheme":', scheme, quote);
  members = withText(members, ',"username":', url.username, quote);
  members = withJson(members, ',"port":', url.port);
  members = withText(members, ',"path":', url.path, quote);
  // An empty query says that the URL has a question mark.
  members = query === undefined ? members : withJson(members, ',"query":', quote(query));
  members = withText(members, ',"extension":', url.extension, quote);
  return withText(members, ',"fragment":', url.fragment, quote);
}

function related(facts: EventFacts): string {
  const { host, quote } = facts;
  const addresses = relatedAddresses(facts);
  const members = withJson('', ',"ip":', addresses.length === 0 ? undefined : `[${addresses.map(quote).join(',')}]`);
  return withJson(members, ',"hosts":', host === undefined || host.ip !== undefined ? undefined : `[${quote(host.name)}]`);
}

/** The client's address, and the peer's where the log names another one. */
function relatedAddresses({ address, addressKind, log: { remoteIp } }: EventFacts): readonly string[] {
  const client = addressKind === 'none' ? [] : [address];
  if (remoteIp === undefined || remoteIp === address) {
    return client;
  }
  const peer = parseAddress(remoteIp);
  return peer === null || peer === parseAddress(address) ? client : [...client, remoteIp];
}

/** The zone, the match, and the texts that do not fit a field with a type. */
function labels({ event, asNumber, countryCode, log, quote }: EventFacts): string {
  const { fields, zoneId } = event;
  let members = withText(`"shield_zone_id":"${zoneId}"`, ',"match_key":', log.matchKey, quote);
  members = withText(members, ',"match_value":', log.matchValue, quote);
  members = asNumber === undefined ? withText(members, ',"asn":', fields.asn, quote) : members;
  return countryCode === undefined ? withText(members, ',"country":', fields.country, quote) : members;
}

const THOUSANDTHS = Array.from({ length: 1000 }, (_, ms) => `.${String(ms).padStart(3, '0')}Z`);

/**
 * Makes a function that writes Unix ms as `2026-01-31T23:59:59.500Z`, and keeps the text of the last second. Years outside 0..9999 get a
 * sign and six digits; times outside the range of a Date become the nearest in it.
 */
export function instantWriter(): (unixMs: number) => string {
  let second = Number.NaN;
  let text = '';
  return (unixMs) => {
    const ms = Math.min(MAX_DATE_MS, Math.max(-MAX_DATE_MS, unixMs));
    const flooredSecond = Math.floor(ms / 1000);
    if (flooredSecond !== second) {
      text = new Date(flooredSecond * 1000).toISOString().slice(0, -5);
      second = flooredSecond;
    }
    return text + THOUSANDTHS[ms - flooredSecond * 1000];
  };
}
