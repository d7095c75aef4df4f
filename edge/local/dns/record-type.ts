import { shown } from '../../shown-value.ts';
import { zoneFault } from './dns-fault.ts';
import { hostName } from './host-name.ts';
import type { RecordFields } from './record-fields.ts';
import { hostNameOrNone, ipv4, ipv6, issuerPolicy, recordText, tlsAssociation, webAddress } from './record-value.ts';
import { serviceBinding } from './service-binding.ts';

interface RecordType {
  readonly name: string;
  /** The value as it is kept; throws the fault of a field at `place`. */
  readonly value: (fields: RecordFields, place: string) => string;
}

const ofText =
  (read: (text: string, field: string) => string): RecordType['value'] =>
  (fields, place) =>
    read(fields.Value, `${place}.Value`);

/** Where the platform's own object is the target, `Value` is only what the record is called. */
const ofObject =
  (id: 'PullZoneId' | 'ScriptId'): RecordType['value'] =>
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

/** By the number that the interface gives them in `Type`. */
const RECORD_TYPES: readonly RecordType[] = [
  { name: 'A', value: ofText(ipv4) },
  { name: 'AAAA', value: ofText(ipv6) },
  { name: 'CNAME', value: ofText(hostName) },
  { name: 'TXT', value: ofText(recordText) },
  { name: 'MX', value: ofText(hostNameOrNone) },
  { name: 'Redirect', value: ofText(webAddress) },
  { name: 'Flatten', value: ofText(hostName) },
  { name: 'PullZone', value: ofObject('PullZoneId') },
  { name: 'SRV', value: serviceLocation },
  { name: 'CAA', value: authorityPolicy },
  { name: 'PTR', value: ofText(hostName) },
  { name: 'Script', value: ofObject('ScriptId') },
  { name: 'NS', value: ofText(hostName) },
  { name: 'SVCB', value: (fields, place) => serviceBinding(fields.Value, fields.Priority, `${place}.Value`) },
  { name: 'HTTPS', value: (fields, place) => serviceBinding(fields.Value, fields.Priority, `${place}.Value`) },
  { name: 'TLSA', value: ofText(tlsAssociation) },
];

/** The value of a record of `type`, checked by that type's rules and as it is kept. Throws the fault of a field at `place`. */
export function recordValue(type: number, fields: RecordFields, place: string): string {
  const rule = RECORD_TYPES[type];
  if (rule === undefined || !Number.isInteger(type)) {
    const names = RECORD_TYPES.map(({ name }, index) => `${index} ${name}`).join(', ');
    throw zoneFault(`${place}.Type`, `${shown(type)} is not a record type; allowed: ${names}`);
  }
  return rule.value(fields, place);
}
