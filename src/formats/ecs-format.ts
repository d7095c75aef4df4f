import type { FeedEvent } from '../../store/event-store.ts';
import { addressKind } from './address-kind.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { instantWriter } from './iso-instant.ts';
import { listMember, objectMember, quoteJson, rawMember, textMember } from './json-text.ts';
import { headerValue } from './log-details.ts';
import { writeNative } from './native-format.ts';
import { PRODUCT } from './product.ts';
import type { UrlParts } from './url-parts.ts';

/** https://www.elastic.co/docs/reference/ecs, of which only the fields below are written. */
const ECS_VERSION = '9.4.0';

const OBSERVER = objectMember(
  'observer',
  textMember('vendor', PRODUCT.vendor) +
    textMember('product', PRODUCT.name) +
    textMember('version', PRODUCT.version) +
    textMember('type', 'waf'),
);

/** Features that look for attacks. What the others do is a matter of the network: who may come, how often. */
const DETECTIONS: ReadonlySet<string> = new Set(['waf', 'bot-detection', 'ddos', 'upload-scanning', 'api-guardian']);

/** Writes events as documents of the Elastic Common Schema. */
export function ecsWriter(): (event: FeedEvent) => string {
  const factsOf = factsReader();
  const instant = instantWriter();
  const ingestInstant = instantWriter();
  return (event) => {
    const facts = factsOf(event);
    const { fields } = event;
    const { log, url, host } = facts;
    const head = `{"@timestamp":"${instant(event.timestamp)}","ecs":{"version":"${ECS_VERSION}"}${textMember('message', log.message)}`;
    return `${head}${eventObject(facts, ingestInstant(event.ingestedAtMs))}${OBSERVER}${ruleObject(facts)}${sourceObject(facts)}${
      url === undefined && host === undefined ? '' : urlObject(url, facts)
    }${objectMember('user_agent', textMember('original', fields.ua))}${referrerObject(facts)}${
      fields.ja4 ? `,"tls":{"client":{"ja4":${quoteJson(fields.ja4)}}}` : ''
    }${relatedObject(facts)}${labelsObject(facts)}}`;
  };
}

function eventObject({ event, uid, action }: EventFacts, ingested: string): string {
  const { fields } = event;
  const category = DETECTIONS.has(fields.feature?.toLowerCase() ?? '') ? 'intrusion_detection' : 'network';
  const kind = action.isAlert ? 'alert' : 'event';
  const classes = `"kind":"${kind}","category":["web","${category}"],"type":["${action.ecsTypes.join('","')}"]`;
  const source = `"module":"shieldlog","dataset":"shieldlog.events","provider":"shield"`;
  return `,"event":{${classes}${textMember('action', fields.action)}${textMember('outcome', action.ecsOutcome)},"id":${quoteJson(uid)},"sequence":${
    event.sequence
  },${source},"ingested":"${ingested}","original":${quoteJson(writeNative(event))}}`;
}

function ruleObject({ event: { fields } }: EventFacts): string {
  return objectMember(
    'rule',
    textMember('id', fields.ruleId) +
      textMember('name', fields.ruleName) +
      textMember('ruleset', fields.feature) +
      textMember('category', fields.feature),
  );
}

function sourceObject(facts: EventFacts): string {
  const { address, countryCode } = facts;
  return objectMember(
    'source',
    textMember('address', address) +
      (facts.addressKind === 'none' ? '' : textMember('ip', address)) +
      objectMember('as', rawMember('number', facts.asNumber)) +
      objectMember('geo', textMember('country_iso_code', countryCode)),
  );
}

function urlObject(url: UrlParts | undefined, { host }: EventFacts): string {
  const name =
    textMember('domain', host?.name) +
    textMember('registered_domain', host?.registeredDomain) +
    textMember('top_level_domain', host?.topLevelDomain) +
    textMember('subdomain', host?.subdomain);
  if (url === undefined) {
    return objectMember('url', name);
  }
  const { original, scheme, query } = url;
  return objectMember(
    'url',
    textMember('original', original) +
      (scheme === undefined ? '' : textMember('full', original)) +
      textMember('scheme', scheme) +
      textMember('username', url.username) +
      name +
      rawMember('port', url.port) +
      textMember('path', url.path) +
      // Empty says that there was a question mark.
      rawMember('query', query === undefined ? undefined : quoteJson(query)) +
      textMember('extension', url.extension) +
      textMember('fragment', url.fragment),
  );
}

function referrerObject({ log }: EventFacts): string {
  const referrer = headerValue(log.headers, 'referer');
  return referrer ? `,"http":{"request":{"referrer":${quoteJson(referrer)}}}` : '';
}

function relatedObject({ addressKind: kind, address, host, log: { remoteIp } }: EventFacts): string {
  const ips = kind === 'none' ? [] : [address];
  if (remoteIp !== undefined && remoteIp !== address && addressKind(remoteIp) !== 'none') {
    ips.push(remoteIp);
  }
  const hosts = host === undefined || host.ip !== undefined ? [] : [host.name];
  return objectMember('related', listMember('ip', ips) + listMember('hosts', hosts));
}

/** The zone, where in the request the rule matched, and the texts that the field with a type could not take. */
function labelsObject({ event, asNumber, countryCode, log }: EventFacts): string {
  const { fields, zoneId } = event;
  return `,"labels":{"shield_zone_id":"${zoneId}"${textMember('match_key', log.matchKey)}${textMember('match_value', log.matchValue)}${
    asNumber === undefined ? textMember('asn', fields.asn) : ''
  }${countryCode === undefined ? textMember('country', fields.country) : ''}}`;
}
