import type { FeedEvent } from '../../store/feed-event.ts';
import { ocsfAddress } from './address-text.ts';
import { type EventFacts, factsReader } from './event-facts.ts';
import { type Quote, quoteJson, withJson, withObject, withText } from './json-members.ts';
import { headerValue, type LogHeader } from './log-details.ts';
import { memoizeByObject } from './memoize.ts';
import { PRODUCT } from './product.ts';
import type { ShieldAction } from './shield-action.ts';
import type { HostName } from './url-parts.ts';

/** https://schema.ocsf.io/1.8.0/classes/http_activity?profiles=security_control */
const OCSF_VERSION = '1.8.0';

// The activity is unknown, because events do not have the method of the request.
const CLASS =
  '"activity_id":0,"activity_name":"Unknown","category_uid":4,"category_name":"Network Activity",' +
  '"class_uid":4002,"class_name":"HTTP Activity","type_uid":400200,"type_name":"HTTP Activity: Unknown"';
const METADATA = `"version":"${OCSF_VERSION}","profiles":["security_control"]`;
const PRODUCT_MEMBERS = `"vendor_name":"${PRODUCT.vendor}","name":"${PRODUCT.name}","version":"${PRODUCT.version}"`;

/** A JA4 fingerprint: ten characters of the handshake, and two hashes of twelve hexadecimal digits. */
const JA4 = /^[a-z][0-9a-z]{9}_[0-9a-f]{12}_[0-9a-f]{12}$/;

/** Writes events as HTTP Activity (class 4002) of the Open Cybersecurity Schema Framework, with the profile for security controls. */
export function ocsfWriter(): (event: FeedEvent) => string {
  const factsOf = factsReader();
  const actionPartOf = memoizeByObject(actionPart);
  const hosts = hostTexts();
  return (event) => {
    const facts = factsOf(event);
    const { ja4 } = event.fields;
    const { log, quote } = facts;
    let members = `${CLASS},"time":${event.timestamp},"metadata":{${metadata(facts)}},${actionPartOf(facts.action)}`;
    members = withText(members, ',"message":', log.message, quote);
    members = withObject(members, ',"firewall_rule":', firewallRule(facts));
    // The class requires a request or a response, even an empty one.
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

function actionPart({ isAlert, ocsfAction, ocsfDisposition, ocsfSeverity }: ShieldAction): string {
  const [severityId, severity] = ocsfSeverity;
  const [actionId, actionCaption] = ocsfAction;
  const [dispositionId, dispositionCaption] = ocsfDisposition;
  const action = `"action_id":${actionId},"action":${quoteJson(actionCaption)}`;
  const disposition = `"disposition_id":${dispositionId},"disposition":${quoteJson(dispositionCaption)}`;
  return `"severity_id":${severityId},"severity":"${severity}",${action},${disposition},"is_alert":${isAlert}`;
}

/** Empty for an event without a rule; OCSF requires a name or an id. */
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

/** The values for which the class has no attribute, and the texts that do not fit an attribute with a type. */
function unmapped({ event, address, asNumber, countryCode, log, quote }: EventFacts): string {
  const { fields, zoneId } = event;
  let members = withText(`"shield_zone_id":${zoneId}`, ',"action":', fields.action, quote);
  // Without an address there is no source endpoint to hold the AS number and the country.
  members = asNumber === undefined || address === '' ? withText(members, ',"asn":', fields.asn, quote) : members;
  members = countryCode === undefined || address === '' ? withText(members, ',"country":', fields.country, quote) : members;
  if (fields.ruleId || fields.ruleName) {
    return members;
  }
  members = withText(members, ',"match_key":', log.matchKey, quote);
  return withText(members, ',"match_value":', log.matchValue, quote);
}

function httpRequest(facts: EventFacts, hosts: HostTexts): string {
  const { event, log, quote } = facts;
  let members = withObject('', ',"url":', url(facts, hosts));
  members = withText(members, ',"user_agent":', event.fields.ua, quote);
  members = withText(members, ',"referrer":', headerValue(log.headers, 'referer'), quote);
  return withJson(members, ',"http_headers":', log.headers.length === 0 ? undefined : headerList(log.headers, quote));
}

/** `url_string` has complete URLs and texts that cannot be split. A path alone is not a URL, so it stands only in `path`. */
function url({ url: parts, quote }: EventFacts, { urlMembers }: HostTexts): string {
  if (parts === undefined) {
    return '';
  }
  const { original, scheme, host, path } = parts;
  const isPath = scheme === undefined && path !== undefined;
  let members = isPath ? '' : withText('', ',"url_string":', original, quote);
  members = withText(members, ',"scheme":', scheme, quote);
  // A URL with a host has a scheme, so `members` is not empty here.
  members = host === undefined ? members : `${members},${urlMembers(host)}`;
  members = withJson(members, ',"port":', parts.port);
  members = withText(members, ',"path":', path, quote);
  return withText(members, ',"query_string":', parts.query, quote);
}

function headerList(headers: readonly LogHeader[], quote: Quote): string {
  let entries = '';
  for (const { name, value } of headers) {
    entries += `${entries === '' ? '' : ','}{"name":${quote(name)},"value":${quote(value)}}`;
  }
  return `[${entries}]`;
}

/** The client. Empty where the event does not name it. */
function source({ address, addressKind, asNumber, countryCode, quote }: EventFacts): string {
  if (address === '') {
    return '';
  }
  let members = addressKind === 'none' ? `"name":${quote(address)}` : `"ip":"${ocsfAddress(address)}"`;
  members = withObject(members, ',"autonomous_system":', withJson('', ',"number":', asNumber));
  return withObject(members, ',"location":', withText('', ',"country":', countryCode, quote));
}

/** The shield zone, whose number is the endpoint's id. */
function destination({ event, host, url: parts }: EventFacts, { endpointMember }: HostTexts): string {
  const members = `"uid":"${event.zoneId}"`;
  return withJson(host === undefined ? members : `${members},${endpointMember(host)}`, ',"port":', parts?.port);
}

/** The addresses and names by which analysts look up related events; undefined where there are none. */
function observables({ address, addressKind, host }: EventFacts, { hostObservable }: HostTexts): string | undefined {
  const ofHost = host === undefined ? '' : hostObservable(host);
  if (addressKind === 'none') {
    return ofHost === '' ? undefined : `[${ofHost}]`;
  }
  const client = `[{"name":"src_endpoint.ip","type_id":2,"type":"IP Address","value":"${ocsfAddress(address)}"}`;
  return ofHost === '' ? `${client}]` : `${client},${ofHost}]`;
}

/** The texts about a host, which are the same for all of its events. */
interface HostTexts {
  readonly urlMembers: (host: HostName) => string;
  readonly endpointMember: (host: HostName) => string;
  /** Empty where the host is an address. */
  readonly hostObservable: (host: HostName) => string;
}

function hostTexts(): HostTexts {
  return {
    urlMembers: memoizeByObject(({ name, registeredDomain, subdomain }) => {
      const members = withText(`"hostname":${quoteJson(name)}`, ',"domain":', registeredDomain, quoteJson);
      return withText(members, ',"subdomain":', subdomain, quoteJson);
    }),
    endpointMember: memoizeByObject(({ name, ip }) => {
      return ip === undefined ? `"hostname":${quoteJson(name)}` : `"ip":"${ocsfAddress(ip)}"`;
    }),
    hostObservable: memoizeByObject(({ name, ip }) => {
      return ip === undefined ? `{"name":"dst_endpoint.hostname","type_id":1,"type":"Hostname","value":${quoteJson(name)}}` : '';
    }),
  };
}
