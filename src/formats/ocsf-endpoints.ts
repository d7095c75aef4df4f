import type { EventFacts } from './event-facts.ts';
import { expandedAddress } from './expanded-address.ts';
import { objectMember, quoteJson, rawMember, textMember } from './json-text.ts';

/** The longest text of an address that OCSF takes. */
const LONGEST_ADDRESS = 40;

/** Who asked, if anybody knows, and who was asked: the shield zone, whose endpoint has the zone's number as its id. */
export function endpointMembers(facts: EventFacts): string {
  const { event, address, addressKind, host, url } = facts;
  const identity = addressKind === 'none' ? textMember('name', address) : `,"ip":${quoteJson(ocsfAddress(address))}`;
  const system = objectMember('autonomous_system', rawMember('number', facts.asNumber));
  const location = objectMember('location', textMember('country', facts.countryCode));
  const source = address === '' ? '' : `,"src_endpoint":{${identity.slice(1)}${system}${location}}`;
  const hostMember = host?.ip === undefined ? textMember('hostname', host?.name) : `,"ip":${quoteJson(ocsfAddress(host.ip))}`;
  return `${source},"dst_endpoint":{"uid":"${event.zoneId}"${hostMember}${rawMember('port', url?.port)}}`;
}

/** What analysts look other events up by. */
export function observablesMember({ address, addressKind, host }: EventFacts): string {
  const entries: string[] = [];
  if (addressKind !== 'none') {
    entries.push(`{"name":"src_endpoint.ip","type_id":2,"type":"IP Address","value":${quoteJson(ocsfAddress(address))}}`);
  }
  if (host !== undefined && host.ip === undefined) {
    entries.push(`{"name":"dst_endpoint.hostname","type_id":1,"type":"Hostname","value":${quoteJson(host.name)}}`);
  }
  return entries.length === 0 ? '' : `,"observables":[${entries.join(',')}]`;
}

function ocsfAddress(text: string): string {
  return text.length > LONGEST_ADDRESS ? expandedAddress(text) : text;
}
