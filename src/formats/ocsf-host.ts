import { expandedAddress } from './expanded-address.ts';
import type { HostName } from './host-name.ts';
import { withText } from './json-members.ts';
import { quoteJson } from './json-text.ts';
import { remembered } from './remembered-text.ts';

/** The longest text of an address that OCSF takes. */
const LONGEST_ADDRESS = 40;

/** What is said about a host in the places where it is named. It is the same for all of its many events. */
export interface HostTexts {
  /** Members of `url`. */
  readonly ofUrl: (host: HostName) => string;
  /** A member of `dst_endpoint`. */
  readonly ofEndpoint: (host: HostName) => string;
  /** An observable; empty where the host is an address. */
  readonly observable: (host: HostName) => string;
}

export function hostTexts(): HostTexts {
  return { ofUrl: remembered(urlMembers), ofEndpoint: remembered(endpointMember), observable: remembered(hostObservable) };
}

/** An address in as many characters as OCSF takes. */
export function ocsfAddress(text: string): string {
  return text.length > LONGEST_ADDRESS ? expandedAddress(text) : text;
}

function urlMembers({ name, registeredDomain, subdomain }: HostName): string {
  const members = withText(`"hostname":${quoteJson(name)}`, ',"domain":', registeredDomain, quoteJson);
  return withText(members, ',"subdomain":', subdomain, quoteJson);
}

function endpointMember({ name, ip }: HostName): string {
  return ip === undefined ? `"hostname":${quoteJson(name)}` : `"ip":"${ocsfAddress(ip)}"`;
}

function hostObservable({ name, ip }: HostName): string {
  return ip === undefined ? `{"name":"dst_endpoint.hostname","type_id":1,"type":"Hostname","value":${quoteJson(name)}}` : '';
}
