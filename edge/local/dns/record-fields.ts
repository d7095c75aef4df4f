import { MONITOR_TYPES, RECORD_TYPES, SMART_ROUTING_TYPES } from '../../operations/dns-zones.ts';
import { namesOf } from '../../operations/json-schema.ts';
import { shown } from '../../shown-value.ts';
import {
  hostName,
  hostNameOrNone,
  ipv4,
  ipv6,
  issuerPolicy,
  recordText,
  serviceBinding,
  tlsAssociation,
  webAddress,
  zoneFault,
} from './record-value.ts';

/** A pair of `EnviromentalVariables`. The interface spells the field so. */
interface RecordVariable {
  readonly Name: string;
  readonly Value: string;
}

/** The fields of a record but its `Type`, by the interface's names. */
export interface RecordFields {
  readonly Ttl: number;
  readonly Value: string;
  readonly Name: string;
  readonly Weight: number;
  readonly Priority: number;
  readonly Flags: number;
  readonly Tag: string;
  readonly Port: number;
  readonly PullZoneId: number;
  readonly ScriptId: number;
  readonly Accelerated: boolean;
  readonly GeolocationLatitude: number;
  readonly GeolocationLongitude: number;
  readonly LatencyZone: string;
  readonly Disabled: boolean;
  readonly EnviromentalVariables: readonly RecordVariable[];
  readonly Comment: string;
  readonly AutoSslIssuance: boolean;
  readonly MonitorType: number;
  readonly SmartRoutingType: number;
}

/** Reads a field. Throws the fault at `path` for a wrong value. */
type Reader<T> = (value: unknown, path: string) => T;

interface Field<T> {
  readonly read: Reader<T>;
  /** The value of an absent or null field. */
  readonly absent: T;
}

const INT32_MAX = 2_147_483_647;
export const MAX_RECORD_VARIABLES = 128;

function number(min: number, max: number, isWhole: boolean, absent: number): Field<number> {
  const read: Reader<number> = (value, path) => {
    if (typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
    throw zoneFault(path, `${shown(value)} is not taken; allowed: ${isWhole ? 'an integer' : 'a number'} from ${min} to ${max}`);
  };
  return { read, absent };
}

/** One of some numbers that have names, of which 0 means none. */
function choice(numbers: Readonly<Record<string, number>>): Field<number> {
  const read: Reader<number> = (value, path) => {
    const found = Object.values(numbers).find((number) => number === value);
    if (found === undefined) throw zoneFault(path, `${shown(value)} is not taken; allowed: ${namesOf(numbers)}`);
    return found;
  };
  return { read, absent: 0 };
}

/** A TAB is white space in the values of some types. */
const CONTROL = /[^\P{Cc}\t]/u;

function text(maxLength: number): Field<string> {
  const read: Reader<string> = (value, path) => {
    if (typeof value === 'string' && value.length <= maxLength && value.isWellFormed() && !CONTROL.test(value)) return value;
    throw zoneFault(path, `${shown(value)} is not taken; allowed: text of at most ${maxLength} characters without control characters`);
  };
  return { read, absent: '' };
}

/** Tags are compared without regard to case, and written in lower case (RFC 8659, 4.1). */
const tag: Field<string> = { read: (value, path) => text(15).read(value, path).toLowerCase(), absent: '' };

const flag: Field<boolean> = {
  read: (value, path) => {
    if (typeof value === 'boolean') return value;
    throw zoneFault(path, `${shown(value)} is not taken; allowed: true or false`);
  },
  absent: false,
};

const variables: Field<readonly RecordVariable[]> = {
  read: (value, path) => {
    if (!Array.isArray(value) || value.length > MAX_RECORD_VARIABLES) {
      throw zoneFault(path, `${shown(value)} is not taken; allowed: at most ${MAX_RECORD_VARIABLES} of {"Name", "Value"}`);
    }
    return value.map((entry: unknown, index) => readVariable(entry, `${path}[${index}]`));
  },
  absent: [],
};

function readVariable(entry: unknown, path: string): RecordVariable {
  const fields = plainObject(entry, path);
  const name = text(256).read(fields['Name'], `${path}.Name`);
  if (name === '') throw zoneFault(`${path}.Name`, 'is empty; allowed: 1 to 256 characters');
  return { Name: name, Value: text(4_096).read(fields['Value'] ?? '', `${path}.Value`) };
}

/** The properties of a JSON object. Throws the fault at `path` for any other value. */
export function plainObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw zoneFault(path, `${shown(value)} is not taken; allowed: an object`);
  }
  return { ...value };
}

const FIELDS: { readonly [K in keyof RecordFields]: Field<RecordFields[K]> } = {
  Ttl: number(0, INT32_MAX, true, 300),
  Value: text(65_535),
  Name: text(255),
  Weight: number(0, 100, true, 100),
  Priority: number(0, 65_535, true, 0),
  Flags: number(0, 255, true, 0),
  Tag: tag,
  Port: number(0, 65_535, true, 0),
  PullZoneId: number(0, Number.MAX_SAFE_INTEGER, true, 0),
  ScriptId: number(0, Number.MAX_SAFE_INTEGER, true, 0),
  Accelerated: flag,
  GeolocationLatitude: number(-90, 90, false, 0),
  GeolocationLongitude: number(-180, 180, false, 0),
  LatencyZone: text(64),
  Disabled: flag,
  EnviromentalVariables: variables,
  Comment: text(512),
  AutoSslIssuance: flag,
  MonitorType: choice(MONITOR_TYPES),
  SmartRoutingType: choice(SMART_ROUTING_TYPES),
};

const FIELD_NAMES = Object.keys(FIELDS) as (keyof RecordFields)[];

function readField<K extends keyof RecordFields>(name: K, given: Readonly<Record<string, unknown>>, path: string): RecordFields[K] {
  const { read, absent } = FIELDS[name];
  const value = given[name];
  return value === undefined || value === null ? absent : read(value, `${path}.${name}`);
}

/**
 * Reads the fields of the record at `path`, each within its range, with defaults. Relations between fields are not checked. Other
 * properties are passed over, because clients send what an answer had, and fields that the platform has had.
 */
export function readRecordFields(value: unknown, path: string): { readonly type: unknown; readonly fields: RecordFields } {
  const given = plainObject(value, path);
  const fields = Object.fromEntries(FIELD_NAMES.map((name) => [name, readField(name, given, path)]));
  return { type: given['Type'] ?? 0, fields: fields as unknown as RecordFields };
}

/** Returns the value as it is kept. Throws the fault of a field at `path`. */
type ReadValue = (fields: RecordFields, path: string) => string;

const ofText =
  (read: (text: string, field: string) => string): ReadValue =>
  (fields, path) =>
    read(fields.Value, `${path}.Value`);

/** Where an object of the platform is the target, `Value` is only a name. */
const ofObject =
  (id: 'PullZoneId' | 'ScriptId'): ReadValue =>
  (fields, path) => {
    if (fields[id] === 0) throw zoneFault(`${path}.${id}`, 'is missing; allowed: an integer from 1');
    return fields.Value;
  };

function serviceLocation(fields: RecordFields, path: string): string {
  if (fields.Port === 0 && fields.Value !== '.') throw zoneFault(`${path}.Port`, 'is missing; allowed: an integer from 1 to 65535');
  return hostNameOrNone(fields.Value, `${path}.Value`);
}

function authorityPolicy(fields: RecordFields, path: string): string {
  if (!/^[a-z0-9]{1,15}$/.test(fields.Tag)) {
    throw zoneFault(`${path}.Tag`, `${shown(fields.Tag)} is not a tag; allowed: issue, issuewild, iodef, or 1 to 15 letters and digits`);
  }
  return issuerPolicy(fields.Value, fields.Tag, `${path}.Value`);
}

/** The reader of the value of each type. */
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
  SVCB: (fields, path) => serviceBinding(fields.Value, fields.Priority, `${path}.Value`),
  HTTPS: (fields, path) => serviceBinding(fields.Value, fields.Priority, `${path}.Value`),
  TLSA: ofText(tlsAssociation),
};

const BY_NUMBER = new Map<number, ReadValue>(
  Object.entries(VALUES).map(([name, read]) => [RECORD_TYPES[name as keyof typeof RECORD_TYPES], read]),
);

/** Checks the value of a record by the rules of `type` and returns it as it is kept. Throws the fault of a field at `path`. */
export function recordValue(type: number, fields: RecordFields, path: string): string {
  const read = BY_NUMBER.get(type);
  if (read === undefined) throw zoneFault(`${path}.Type`, `${shown(type)} is not a record type; allowed: ${namesOf(RECORD_TYPES)}`);
  return read(fields, path);
}
