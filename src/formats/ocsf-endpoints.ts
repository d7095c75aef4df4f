import type { EventFacts } from './event-facts.ts';
import { expandedAddress } from './expanded-address.ts';
import { withJson, withObject, withText } from './json-members.ts';

/** The longest text of an address that OCSF takes. */
const LONGEST_ADDRESS = 40;

/** The members of `src_endpoint`: who asked. None where nothing names the client. */
export function source({ address, addressKind, asNumber, countryCode, quote }: EventFacts): string {
  if (address === '') {
    return '';
  }
  let members = addressKind === 'none' ? `"name":${quote(address)}` : `"ip":"${ocsfAddress(address)}"`;
  members = withObject(members, ',"autonomous_system":', withJson('', ',"number":', asNumber));
  return withObject(members, ',"location":', withText('', ',"country":', countryCode, quote));
}

/** The members of `dst_endpoint`: who was asked. That is the shield zone, whose number is the endpoint's id. */
export function destination({ event, host, url, quote }: EventFacts): string {
  let members = `"uid":"${event.zoneId}"`;
  members = host?.ip === undefined ? withText(members, ',"hostname":', host?.name, quote) : `${members},"ip":"${ocsfAddress(host.ip)}"`;
  return withJson(members, ',"port":', url?.port);
}

/** What analysts look other events up by; undefined where the event has none of it. */
export function observables({ address, addressKind, host, quote }: EventFacts): string | undefined {
  const client =
    addressKind === 'none' ? '' : `{"name":"src_endpoint.ip","type_id":2,"type":"IP Address","value":"${ocsfAddress(address)}"}`;
  if (host === undefined || host.ip !== undefined) {
    return client === '' ? undefined : `[${client}]`;
  }
  const hostName = `{"name":"dst_endpoint.hostname","type_id":1,"type":"Hostname","value":${quote(host.name)}}`;
  return client === '' ? `[${hostName}]` : `[${client},${hostName}]`;
}

function ocsfAddress(text: string): string {
  return text.length > LONGEST_ADDRESS ? expandedAddress(text) : text;
}
