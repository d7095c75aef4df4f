import type { FeedEvent } from '../../store/event-store.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { quoteJson, textMember } from './json-text.ts';
import { writeNative } from './native-format.ts';
import { endpointMembers, observablesMember } from './ocsf-endpoints.ts';
import { httpRequestMember } from './ocsf-http-request.ts';
import { PRODUCT } from './product.ts';

/** https://schema.ocsf.io/1.8.0/classes/http_activity?profiles=security_control */
const OCSF_VERSION = '1.8.0';

/** The method of a request is not among what the shield tells, so the activity is unknown: 0. */
const CLASS =
  '"activity_id":0,"activity_name":"Unknown","category_uid":4,"category_name":"Network Activity","class_uid":4002,"class_name":"HTTP Activity","type_uid":400200,"type_name":"HTTP Activity: Unknown"';

/** `JA4`: version and shape of the handshake, and two hashes of twelve hexadecimal digits. */
const JA4 = /^[a-z][0-9a-z]{9}_[0-9a-f]{12}_[0-9a-f]{12}$/;

/** Writes events as HTTP Activity (class 4002) of the Open Cybersecurity Schema Framework, with the profile for security controls. */
export function ocsfWriter(): (event: FeedEvent) => string {
  const factsOf = factsReader();
  return (event) => {
    const facts = factsOf(event);
    const { fields } = event;
    return `{${CLASS},"time":${event.timestamp}${metadata(facts)}${verdict(facts)}${textMember('message', facts.log.message)}${firewallRule(
      facts,
    )}${httpRequestMember(facts)}${endpointMembers(facts)}${fields.ja4 ? ja4List(fields.ja4) : ''}${observablesMember(facts)},"raw_data":${quoteJson(
      writeNative(event),
    )}${unmapped(facts)}}`;
  };
}

function metadata({ event, uid }: EventFacts): string {
  const { fields, logId, sequence, timestamp, ingestedAtMs } = event;
  const feature = fields.feature ? `,"feature":{"name":${quoteJson(fields.feature)}}` : '';
  const product = `{"vendor_name":"${PRODUCT.vendor}","name":"${PRODUCT.name}","version":"${PRODUCT.version}"${feature}}`;
  return `,"metadata":{"version":"${OCSF_VERSION}","profiles":["security_control"],"product":${product},"uid":${quoteJson(
    uid,
  )},"original_event_uid":${quoteJson(logId)},"sequence":${sequence},"logged_time":${ingestedAtMs},"original_time":"${timestamp}"}`;
}

function verdict({ action: { isAlert, ocsfAction, ocsfDisposition, ocsfSeverity } }: EventFacts): string {
  return `${choice('severity', ocsfSeverity)}${choice('action', ocsfAction)}${choice('disposition', ocsfDisposition)},"is_alert":${isAlert}`;
}

function choice(name: string, [id, caption]: readonly [number, string]): string {
  return `,"${name}_id":${id},"${name}":${quoteJson(caption)}`;
}

/** A rule has a name or an id. What it matched is told with it. */
function firewallRule({ event: { fields }, log }: EventFacts): string {
  const rule = textMember('uid', fields.ruleId) + textMember('name', fields.ruleName);
  if (rule === '') {
    return '';
  }
  const details = log.matchValue === undefined ? '' : `,"match_details":[${quoteJson(log.matchValue)}]`;
  return `,"firewall_rule":{${rule.slice(1)}${textMember('category', fields.feature)}${textMember('match_location', log.matchKey)}${details}}`;
}

function ja4List(value: string): string {
  const [id, caption] = JA4.test(value) ? [1, 'JA4'] : [99, 'Other'];
  return `,"ja4_fingerprint_list":[{"type_id":${id},"type":"${caption}","value":${quoteJson(value)}}]`;
}

/** What has no place in the class, and the texts that the attribute with a type could not take. */
function unmapped({ event, address, asNumber, countryCode, log }: EventFacts): string {
  const { fields, zoneId } = event;
  const hasRule = (fields.ruleId || fields.ruleName) !== undefined && (fields.ruleId || fields.ruleName) !== '';
  // Without anything that names the source there is no source that they could belong to.
  const asn = asNumber === undefined || address === '' ? textMember('asn', fields.asn) : '';
  const country = countryCode === undefined || address === '' ? textMember('country', fields.country) : '';
  const match = hasRule ? '' : textMember('match_key', log.matchKey) + textMember('match_value', log.matchValue);
  return `,"unmapped":{"shield_zone_id":${zoneId}${textMember('action', fields.action)}${asn}${country}${match}}`;
}
