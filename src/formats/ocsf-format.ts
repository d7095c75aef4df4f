import type { FeedEvent } from '../../store/feed-event.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { withJson, withObject, withText } from './json-members.ts';
import { type Quote, quoteJson } from './json-text.ts';
import { destination, observables, source } from './ocsf-endpoints.ts';
import { hostTexts } from './ocsf-host.ts';
import { httpRequest } from './ocsf-http-request.ts';
import { PRODUCT } from './product.ts';
import { remembered } from './remembered-text.ts';
import type { ShieldAction } from './shield-action.ts';

/** https://schema.ocsf.io/1.8.0/classes/http_activity?profiles=security_control */
const OCSF_VERSION = '1.8.0';

/** The method of a request is not among what the shield tells, so the activity is unknown: 0. */
const CLASS =
  '"activity_id":0,"activity_name":"Unknown","category_uid":4,"category_name":"Network Activity","class_uid":4002,"class_name":"HTTP Activity","type_uid":400200,"type_name":"HTTP Activity: Unknown"';
const METADATA = `"version":"${OCSF_VERSION}","profiles":["security_control"]`;
const PRODUCT_MEMBERS = `"vendor_name":"${PRODUCT.vendor}","name":"${PRODUCT.name}","version":"${PRODUCT.version}"`;

/** `JA4`: version and shape of the handshake, and two hashes of twelve hexadecimal digits. */
const JA4 = /^[a-z][0-9a-z]{9}_[0-9a-f]{12}_[0-9a-f]{12}$/;

/** Writes events as HTTP Activity (class 4002) of the Open Cybersecurity Schema Framework, with the profile for security controls. */
export function ocsfWriter(): (event: FeedEvent) => string {
  const factsOf = factsReader();
  const verdictOf = remembered(verdict);
  const hosts = hostTexts();
  return (event) => {
    const facts = factsOf(event);
    const { ja4 } = event.fields;
    const { log, quote } = facts;
    let members = `${CLASS},"time":${event.timestamp},"metadata":{${metadata(facts)}},${verdictOf(facts.action)}`;
    members = withText(members, ',"message":', log.message, quote);
    members = withObject(members, ',"firewall_rule":', firewallRule(facts));
    // Always there, though it may be empty: HTTP Activity is of a request or a response.
    members += `,"http_request":{${httpRequest(facts, hosts)}}`;
    members = withObject(members, ',"src_endpoint":', source(facts));
    members += `,"dst_endpoint":{${destination(facts, hosts)}}`;
    members = withJson(members, ',"ja4_fingerprint_list":', ja4 ? ja4List(ja4, quote) : undefined);
    members = withJson(members, ',"observables":', observables(facts, hosts));
    return `{${members},"raw_data":${JSON.stringify(event.json)},"unmapped":{${unmapped(facts)}}}`;
  };
}

function metadata({ event, uid, quote }: EventFacts): string {
  const { fields, logId, sequence, timestamp, ingestedAtMs } = event;
  const product = withObject(PRODUCT_MEMBERS, ',"feature":', withText('', ',"name":', fields.feature, quote));
  const ids = `"uid":${quote(uid)},"original_event_uid":${quote(logId)},"sequence":${sequence}`;
  return `${METADATA},"product":{${product}},${ids},"logged_time":${ingestedAtMs},"original_time":"${timestamp}"`;
}

function verdict({ isAlert, ocsfAction, ocsfDisposition, ocsfSeverity }: ShieldAction): string {
  const [severityId, severity] = ocsfSeverity;
  const [actionId, action] = ocsfAction;
  const [dispositionId, disposition] = ocsfDisposition;
  const outcome = `"action_id":${actionId},"action":${quoteJson(action)},"disposition_id":${dispositionId},"disposition":${quoteJson(disposition)}`;
  return `"severity_id":${severityId},"severity":"${severity}",${outcome},"is_alert":${isAlert}`;
}

/** A rule has a name or an id. What it matched is told with it. */
function firewallRule({ event: { fields }, log, quote }: EventFacts): string {
  let members = withText('', ',"uid":', fields.ruleId, quote);
  members = withText(members, ',"name":', fields.ruleName, quote);
  if (members === '') {
    return '';
  }
  members = withText(members, ',"category":', fields.feature, quote);
  members = withText(members, ',"match_location":', log.matchKey, quote);
  return withJson(members, ',"match_details":', log.matchValue === undefined ? undefined : `[${quote(log.matchValue)}]`);
}

function ja4List(value: string, quote: Quote): string {
  const type = JA4.test(value) ? '"type_id":1,"type":"JA4"' : '"type_id":99,"type":"Other"';
  return `[{${type},"value":${quote(value)}}]`;
}

/** What has no place in the class, and the texts that the attribute with a type could not take. */
function unmapped({ event, address, asNumber, countryCode, log, quote }: EventFacts): string {
  const { fields, zoneId } = event;
  let members = withText(`"shield_zone_id":${zoneId}`, ',"action":', fields.action, quote);
  // Without an address there is no endpoint that they could belong to.
  members = asNumber === undefined || address === '' ? withText(members, ',"asn":', fields.asn, quote) : members;
  members = countryCode === undefined || address === '' ? withText(members, ',"country":', fields.country, quote) : members;
  if (fields.ruleId || fields.ruleName) {
    return members;
  }
  members = withText(members, ',"match_key":', log.matchKey, quote);
  return withText(members, ',"match_value":', log.matchValue, quote);
}
