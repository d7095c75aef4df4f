import type { EventFacts } from './event-facts.ts';
import { withJson, withObject, withText } from './json-members.ts';
import { type HostTexts, ocsfAddress } from './ocsf-host.ts';

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
export function destination({ event, host, url }: EventFacts, { ofEndpoint }: HostTexts): string {
  const members = `"uid":"${event.zoneId}"`;
  return withJson(host === undefined ? members : `${members},${ofEndpoint(host)}`, ',"port":', url?.port);
}

/** What analysts look other events up by; undefined where the event has none of it. */
export function observables({ address, addressKind, host }: EventFacts, { observable }: HostTexts): string | undefined {
  const ofHost = host === undefined ? '' : observable(host);
  if (addressKind === 'none') {
    return ofHost === '' ? undefined : `[${ofHost}]`;
  }
  const client = `[{"name":"src_endpoint.ip","type_id":2,"type":"IP Address","value":"${ocsfAddress(address)}"}`;
  return ofHost === '' ? `${client}]` : `${client},${ofHost}]`;
}
