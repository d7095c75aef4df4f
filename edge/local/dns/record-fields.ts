import { RECORD_DEFAULTS, RECORD_TYPES, type RecordVariable } from '../../operations/dns-zones.ts';
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

/** The fields of a record, by the interface's names. */
export type RecordFields = Readonly<typeof RECORD_DEFAULTS>;

/** Characters of the texts of a record. */
const TEXT_LENGTHS = { Value: 65_535, Name: 255, Tag: 15, LatencyZone: 64, Comment: 512 } as const;

export const MAX_RECORD_VARIABLES = 128;
const VARIABLE_LENGTHS = { Name: 256, Value: 4_096 } as const;

/** A TAB is white space in the values of some types. */
const CONTROL = /[^\P{Cc}\t]/u;

/** Returns the text. Throws the fault at `path` for one that cannot be kept. */
function requireText(text: string, maxLength: number, path: string): string {
  if (text.length <= maxLength && text.isWellFormed() && !CONTROL.test(text)) return text;
  throw zoneFault(path, `${shown(text)} is not taken; allowed: text of at most ${maxLength} characters without control characters`);
}

type GivenVariable = Pick<RecordVariable, 'Name'> & { readonly Value?: string | null };

function readVariables(given: readonly GivenVariable[], path: string): readonly RecordVariable[] {
  if (given.length > MAX_RECORD_VARIABLES) {
    throw zoneFault(path, `there are ${given.length}; allowed: at most ${MAX_RECORD_VARIABLES} of {"Name", "Value"}`);
  }
  return given.map(({ Name, Value }, index) => {
    const at = `${path}[${index}]`;
    if (Name === '') throw zoneFault(`${at}.Name`, `is empty; allowed: 1 to ${VARIABLE_LENGTHS.Name} characters`);
    return {
      Name: requireText(Name, VARIABLE_LENGTHS.Name, `${at}.Name`),
      Value: requireText(Value ?? '', VARIABLE_LENGTHS.Value, `${at}.Value`),
    };
  });
}

/**
 * Reads the fields of the record at `path`, whose types and ranges the schema of the request has checked, with defaults. Relations between
 * fields are not checked. Other properties are passed over, because clients send what an answer had, and fields that the platform has had.
 */
export function readRecordFields(given: Readonly<Record<string, unknown>>, path: string): RecordFields {
  const known = Object.entries(given).filter(([name, value]) => Object.hasOwn(RECORD_DEFAULTS, name) && value !== null);
  const fields = { ...RECORD_DEFAULTS, ...(Object.fromEntries(known) as Partial<RecordFields>) };
  for (const name of Object.keys(TEXT_LENGTHS) as (keyof typeof TEXT_LENGTHS)[]) {
    requireText(fields[name], TEXT_LENGTHS[name], `${path}.${name}`);
  }
  return {
    ...fields,
    // Tags are compared without regard to case, and written in lower case (RFC 8659, 4.1).
    Tag: fields.Tag.toLowerCase(),
    EnviromentalVariables: readVariables(fields.EnviromentalVariables, `${path}.EnviromentalVariables`),
  };
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

type RecordType = keyof typeof RECORD_TYPES;

/** The reader of the value of each type. */
const VALUES: Readonly<Record<RecordType, ReadValue>> = {
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

const TYPE_NAMES = new Map<number, RecordType>(Object.entries(RECORD_TYPES).map(([name, type]) => [type, name as RecordType]));

/** The name of a type of records. */
export function typeName(type: number): RecordType {
  const name = TYPE_NAMES.get(type);
  if (name === undefined) throw new Error(`the schema of the request lets the record type ${type} through`);
  return name;
}

/** Checks the value of a record by the rules of its type and returns it as it is kept. Throws the fault of a field at `path`. */
export function recordValue(fields: RecordFields, path: string): string {
  return VALUES[typeName(fields.Type)](fields, path);
}
