import type { FeedEvent } from '../../store/feed-event.ts';
import { ecsUrl } from './ecs-url.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { instantWriter } from './iso-instant.ts';
import { withJson, withObject, withText } from './json-members.ts';
import { headerValue } from './log-details.ts';
import { PRODUCT } from './product.ts';
import { relatedAddresses } from './related-addresses.ts';

/** https://www.elastic.co/docs/reference/ecs, of which only the fields below are written. */
const ECS_VERSION = '9.4.0';

const OBSERVER = `"observer":{"vendor":"${PRODUCT.vendor}","product":"${PRODUCT.name}","version":"${PRODUCT.version}","type":"waf"}`;
const SOURCE = '"module":"shieldlog","dataset":"shieldlog.events","provider":"shield"';

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
    const { log, quote } = facts;
    const referrer = headerValue(log.headers, 'referer');
    let members = `"@timestamp":"${instant(event.timestamp)}","ecs":{"version":"${ECS_VERSION}"}`;
    members = withText(members, ',"message":', log.message, quote);
    members += `,"event":${eventObject(facts, ingestInstant(event.ingestedAtMs))},${OBSERVER}`;
    members = withObject(members, ',"rule":', rule(facts));
    members = withObject(members, ',"source":', source(facts));
    members = withObject(members, ',"url":', ecsUrl(facts));
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
  const place = `"id":${quote(uid)},"sequence":${event.sequence},${SOURCE}`;
  return `{${members},${place},"ingested":"${ingested}","original":${JSON.stringify(event.json)}}`;
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

function related(facts: EventFacts): string {
  const { host, quote } = facts;
  const addresses = relatedAddresses(facts);
  const members = withJson('', ',"ip":', addresses.length === 0 ? undefined : `[${addresses.map(quote).join(',')}]`);
  return withJson(members, ',"hosts":', host === undefined || host.ip !== undefined ? undefined : `[${quote(host.name)}]`);
}

/** The zone, where in the request the rule matched, and the texts that the field with a type could not take. */
function labels({ event, asNumber, countryCode, log, quote }: EventFacts): string {
  const { fields, zoneId } = event;
  let members = withText(`"shield_zone_id":"${zoneId}"`, ',"match_key":', log.matchKey, quote);
  members = withText(members, ',"match_value":', log.matchValue, quote);
  members = asNumber === undefined ? withText(members, ',"asn":', fields.asn, quote) : members;
  return countryCode === undefined ? withText(members, ',"country":', fields.country, quote) : members;
}
