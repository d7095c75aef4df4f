import { parse } from 'tldts';
import { shown } from '../../shown-value.ts';
import { plainObject, type RecordFields, readRecordFields, recordValue } from './record-fields.ts';
import { hostName, zoneFault } from './record-value.ts';

/**
 * The domain of a zone as DNS has it (see `hostName`). Throws for a domain that nobody can own: an address, a single label, a public suffix
 * such as `co.uk`, and a name with underscores.
 */
function zoneDomain(text: string): string {
  const domain = hostName(text, 'Domain');
  if (domain.includes('_')) throw zoneFault('Domain', `${shown(text)} has an underscore; allowed: letters, digits and hyphens`);
  const { domain: registrable, publicSuffix } = parse(domain);
  if (registrable === null) {
    throw zoneFault(
      'Domain',
      `${shown(text)} is ${publicSuffix === domain ? 'a public suffix' : 'not a domain'}; allowed: a name below one, such as "example.com"`,
    );
  }
  return domain;
}

/**
 * The name of a record relative to its zone, as DNS has it: `''` for the zone itself (also written `@`), `*` as the first label for every
 * name that has no record of its own.
 */
function recordName(text: string, domain: string, field: string): string {
  if (text === '' || text === '@') return '';
  if (text.endsWith('.')) throw zoneFault(field, `${shown(text)} ends with a dot; allowed: a name relative to ${domain}, such as "www"`);
  if (text === '*') return text;
  const wildcard = text.startsWith('*.') ? '*.' : '';
  const full = hostName(`${text.slice(wildcard.length)}.${domain}`, field);
  return `${wildcard}${full.slice(0, -domain.length - 1)}`;
}

type NewRecord = RecordFields & { readonly Type: number };

/** A new zone. Every name and value is as DNS has it. */
interface NewZone {
  readonly domain: string;
  readonly records: readonly NewRecord[];
}

/** A new zone with its records as JSON texts. */
export interface WrittenZone {
  readonly domain: string;
  readonly records: readonly string[];
}

export const MAX_RECORDS = 5_000;

function readRecord(value: unknown, domain: string, path: string): NewRecord {
  const { type, fields } = readRecordFields(value, path);
  // Any other type is not in the table of types and is refused there.
  const Type = typeof type === 'number' ? type : Number.NaN;
  return { Type, ...fields, Name: recordName(fields.Name, domain, `${path}.Name`), Value: recordValue(Type, fields, path) };
}

/** Reads the body of a request for a new zone. Throws EdgeError 400 that names the field. */
export function readZoneRequest(body: unknown): NewZone {
  const { Domain, Records } = plainObject(body, 'body');
  if (typeof Domain !== 'string') throw zoneFault('Domain', `${shown(Domain)} is not taken; allowed: a domain name such as "example.com"`);
  const domain = zoneDomain(Domain);
  const records: unknown = Records ?? [];
  if (!Array.isArray(records)) throw zoneFault('Records', `${shown(records)} is not taken; allowed: an array of records`);
  if (records.length > MAX_RECORDS) throw zoneFault('Records', `there are ${records.length}; allowed: at most ${MAX_RECORDS}`);
  return { domain, records: records.map((record, index) => readRecord(record, domain, `Records[${index}]`)) };
}

/** Reads the same with the records as JSON texts. */
export function readWrittenZone(body: unknown): WrittenZone {
  const { domain, records } = readZoneRequest(body);
  return { domain, records: records.map((record) => JSON.stringify(record)) };
}
