import { shown } from '../../shown-value.ts';
import { zoneFault } from './dns-fault.ts';
import { plainObject, type RecordFields, readRecordFields } from './record-fields.ts';
import { recordValue } from './record-type.ts';
import { recordName, zoneDomain } from './zone-domain.ts';

export type NewRecord = RecordFields & { readonly Type: number };

/** A zone to be made: every name and value is as DNS carries it. */
export interface NewZone {
  readonly domain: string;
  readonly records: readonly NewRecord[];
}

/** A zone whose records are JSON texts, as they are kept. */
export interface WrittenZone {
  readonly domain: string;
  readonly records: readonly string[];
}

export const MAX_RECORDS = 5_000;

function readRecord(value: unknown, domain: string, place: string): NewRecord {
  const { type, fields } = readRecordFields(value, place);
  // Anything but a number is no index of the types and is refused there.
  const Type = typeof type === 'number' ? type : Number.NaN;
  return { Type, ...fields, Name: recordName(fields.Name, domain, `${place}.Name`), Value: recordValue(Type, fields, place) };
}

/** The body of a request for a new zone. Throws EdgeError 400 that names the field. */
export function readZoneRequest(body: unknown): NewZone {
  const { Domain, Records } = plainObject(body, '', ['Domain', 'Records']);
  if (typeof Domain !== 'string') throw zoneFault('Domain', `${shown(Domain)} is not taken; allowed: a domain name such as "example.com"`);
  const domain = zoneDomain(Domain);
  const records: unknown = Records ?? [];
  if (!Array.isArray(records)) throw zoneFault('Records', `${shown(records)} is not taken; allowed: an array of records`);
  if (records.length > MAX_RECORDS) throw zoneFault('Records', `there are ${records.length}; allowed: at most ${MAX_RECORDS}`);
  return { domain, records: records.map((record, index) => readRecord(record, domain, `Records[${index}]`)) };
}

/** Likewise, with its records written. */
export function readWrittenZone(body: unknown): WrittenZone {
  const { domain, records } = readZoneRequest(body);
  return { domain, records: records.map((record) => JSON.stringify(record)) };
}
