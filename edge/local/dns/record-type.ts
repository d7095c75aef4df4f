import { RECORD_TYPES } from '../../schemas/dns-zone.ts';
import { namesOf } from '../../schemas/object-schema.ts';
import { shown } from '../../shown-value.ts';
import { zoneFault } from './dns-fault.ts';
import { hostName } from './host-name.ts';
import type { RecordFields } from './record-fields.ts';
import { hostNameOrNone, ipv4, ipv6, issuerPolicy, recordText, tlsAssociation, webAddress } from './record-value.ts';
import { serviceBinding } from './service-binding.ts';

/** The value as it is kept; throws the fault of a field at `place`. */
type ReadValue = (fields: RecordFields, place: string) => string;

const ofText =
  (read: (text: string, field: string) => string): ReadValue =>
  (fields, place) =>
    read(fields.Value, `${place}.Value`);

/** Where the platform's own object is the target, `Value` is only what the record is called. */
const ofObject =
  (id: 'PullZoneId' | 'ScriptId'): ReadValue =>
  (fields, place) => {
    if (fields[id] === 0) throw zoneFault(`${place}.${id}`, 'is missing; allowed: an integer from 1');
    return fields.Value;
  };

function serviceLocation(fields: RecordFields, place: string): string {
  if (fields.Port === 0 && fields.Value !== '.') throw zoneFault(`${place}.Port`, 'is missing; allowed: an integer from 1 to 65535');
  return hostNameOrNone(fields.Value, `${place}.Value`);
}

function authorityPolicy(fields: RecordFields, place: string): string {
  if (!/^[a-z0-9]{1,15}$/.test(fields.Tag)) {
    throw zoneFault(
      `${place}.Tag`,
      `${shown(fields.Tag)} is not a tag; allowed: issue, issuewild, iodef, or 1 to 15 lower-case letters and digits`,
    );
  }
  return issuerPolicy(fields.Value, fields.Tag, `${place}.Value`);
}

/** How the value of each type is read. */
const VALUES: Readonly<Record<keyof typeof RECORD_TYPES, ReadValue>> = {
  A: ofText(ipv4),
  AAAA: ofText(ipv6),
  CNAME: ofText(hostName),
  TXT: ofText(recordText),
  MX: ofText(hostNameOrNone),
  Redirect: ofText(webAddress),
  Flatten: ofText(hostName),
  PullZone: ofObject('PullZoneId'),
  SRV: serviceLocation,
  CAA: authorityPolicy,
  PTR: ofText(hostName),
  Script: ofObject('ScriptId'),
  NS: ofText(hostName),
  SVCB: (fields, place) => serviceBinding(fields.Value, fields.Priority, `${place}.Value`),
  HTTPS: (fields, place) => serviceBinding(fields.Value, fields.Priority, `${place}.Value`),
  TLSA: ofText(tlsAssociation),
};

const BY_NUMBER = new Map<number, ReadValue>(
  Object.entries(VALUES).map(([name, read]) => [RECORD_TYPES[name as keyof typeof RECORD_TYPES], read]),
);

/** The value of a record of `type`, checked by that type's rules and as it is kept. Throws the fault of a field at `place`. */
export function recordValue(type: number, fields: RecordFields, place: string): string {
  const read = BY_NUMBER.get(type);
  if (read === undefined) throw zoneFault(`${place}.Type`, `${shown(type)} is not a record type; allowed: ${namesOf(RECORD_TYPES)}`);
  return read(fields, place);
}
