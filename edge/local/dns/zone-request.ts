import { parse } from 'tldts';
import { RECORD_TYPES } from '../../operations/dns-zones.ts';
import { shown } from '../../shown-value.ts';
import { asciiName } from '../ascii-name.ts';
import { type RecordFields, readRecordFields, recordValue, typeName } from './record-fields.ts';
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
 * name that has no record of its own. A name that ends in the zone's, with a final dot or without, is the same name written whole.
 */
function recordName(text: string, domain: string, field: string): string {
  if (text === '' || text === '@') return '';
  if (text === '*') return text;
  const wildcard = text.startsWith('*.') ? '*.' : '';
  const given = text.slice(wildcard.length);
  const ascii = asciiName(given);
  const isWhole = ascii === domain || ascii.endsWith(`.${domain}`);
  if (!isWhole && given.endsWith('.')) {
    throw zoneFault(field, `${shown(text)} ends with a dot and is not in ${domain}; allowed: a name relative to ${domain}, such as "www"`);
  }
  const full = hostName(isWhole ? ascii : `${given}.${domain}`, field);
  return full === domain ? wildcard.slice(0, 1) : `${wildcard}${full.slice(0, -domain.length - 1)}`;
}

/** A new zone. Every name and value is as DNS has it. */
interface NewZone {
  readonly domain: string;
  readonly records: readonly RecordFields[];
}

/** A new zone with its records as JSON texts. */
export interface WrittenZone {
  readonly domain: string;
  readonly records: readonly string[];
}

type GivenRecord = Readonly<Record<string, unknown>>;

function readRecord(given: GivenRecord, domain: string, path: string): RecordFields {
  const fields = readRecordFields(given, path);
  return { ...fields, Name: recordName(fields.Name, domain, `${path}.Name`), Value: recordValue(fields, path) };
}

const pathOf = (index: number): string => `Records[${index}]`;

/** A record that is not disabled, and where it is in the body. */
interface Served {
  readonly record: RecordFields;
  readonly path: string;
}

/** Throws the fault of `one`, which cannot be served beside `other`. */
function refuseBeside(one: Served, other: Served, rule: string): never {
  const [oneType, otherType] = [one, other].map(({ record }) => typeName(record.Type));
  const name = one.record.Name === '' ? '@' : one.record.Name;
  throw zoneFault(one.path, `${oneType} at ${shown(name)} stands beside ${other.path}, ${otherType}; allowed: ${rule}`);
}

/** Throws the fault of a record that is there twice, which DNS does not know (RFC 2181, 5). `Ttl` and `Comment` do not tell two apart. */
function requireDistinct(served: readonly Served[]): void {
  const seen = new Map<string, Served>();
  for (const one of served) {
    const text = JSON.stringify({ ...one.record, Ttl: 0, Comment: '' });
    const same = seen.get(text);
    if (same !== undefined) refuseBeside(one, same, 'each record once, Ttl, Comment and disabled records aside');
    seen.set(text, one);
  }
}

/** Throws the fault of records of one name that no name server may serve together. */
function requireCompatible(served: readonly Served[]): void {
  const alias = served.find(({ record }) => record.Type === RECORD_TYPES.CNAME);
  const beside = served.find((candidate) => candidate !== alias);
  if (alias !== undefined && beside !== undefined) {
    refuseBeside(alias, beside, 'one CNAME alone at its name (RFC 1034, 3.6.2), disabled records aside');
  }
  const mail = served.filter(({ record }) => record.Type === RECORD_TYPES.MX);
  const none = mail.find(({ record }) => record.Value === '.');
  const host = mail.find((candidate) => candidate !== none);
  if (none !== undefined && host !== undefined) {
    refuseBeside(none, host, 'an MX of "." as the only MX of its name (RFC 7505, 3), disabled records aside');
  }
  requireDistinct(served);
}

/** Throws the fault of a name server of the zone itself, disabled records aside. The zone comes with its own. */
function requireDelegation({ record, path }: Served): void {
  if (record.Type !== RECORD_TYPES.NS || record.Name !== '') return;
  throw zoneFault(`${path}.Name`, `NS at "@" stands beside the name servers that the zone has; allowed: NS at names below the zone's own`);
}

/** Reads the body of a request for a new zone, which its schema has let through. Throws EdgeError 400 that names the field. */
export function readZoneRequest(body: unknown): NewZone {
  const { Domain, Records } = body as { readonly Domain: string; readonly Records?: readonly GivenRecord[] | null };
  const domain = zoneDomain(Domain);
  const read = (Records ?? []).map((given, index) => ({ record: readRecord(given, domain, pathOf(index)), path: pathOf(index) }));
  const served = read.filter(({ record }) => !record.Disabled);
  for (const one of served) requireDelegation(one);
  for (const ofName of Map.groupBy(served, ({ record }) => record.Name).values()) requireCompatible(ofName);
  return { domain, records: read.map(({ record }) => record) };
}

/** Reads the same with the records as JSON texts. */
export function readWrittenZone(body: unknown): WrittenZone {
  const { domain, records } = readZoneRequest(body);
  return { domain, records: records.map((record) => JSON.stringify(record)) };
}
