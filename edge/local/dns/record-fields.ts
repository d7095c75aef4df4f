import { shown } from '../../shown-value.ts';
import { zoneFault } from './dns-fault.ts';

/** A pair of `EnviromentalVariables`; the interface spells the field so. */
export interface RecordVariable {
  readonly Name: string;
  readonly Value: string;
}

/** The fields of a record beside its `Type`, as the interface names them. */
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
}

/** Reads one field; throws the fault of `place` for what it does not take. */
type Reader<T> = (value: unknown, place: string) => T;

interface Field<T> {
  readonly read: Reader<T>;
  /** What an absent or null field is. */
  readonly absent: T;
}

const INT32_MAX = 2_147_483_647;
export const MAX_VARIABLES = 128;

function number(least: number, most: number, isWhole: boolean, absent: number): Field<number> {
  const read: Reader<number> = (value, place) => {
    if (typeof value === 'number' && value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value;
    throw zoneFault(place, `${shown(value)} is not taken; allowed: ${isWhole ? 'an integer' : 'a number'} from ${least} to ${most}`);
  };
  return { read, absent };
}

function text(maxLength: number): Field<string> {
  const read: Reader<string> = (value, place) => {
    if (typeof value === 'string' && value.length <= maxLength && value.isWellFormed() && !/\p{Cc}/u.test(value)) return value;
    throw zoneFault(place, `${shown(value)} is not taken; allowed: text of at most ${maxLength} characters without control characters`);
  };
  return { read, absent: '' };
}

const flag: Field<boolean> = {
  read: (value, place) => {
    if (typeof value === 'boolean') return value;
    throw zoneFault(place, `${shown(value)} is not taken; allowed: true or false`);
  },
  absent: false,
};

const variables: Field<readonly RecordVariable[]> = {
  read: (value, place) => {
    if (!Array.isArray(value) || value.length > MAX_VARIABLES) {
      throw zoneFault(place, `${shown(value)} is not taken; allowed: at most ${MAX_VARIABLES} of {"Name", "Value"}`);
    }
    return value.map((entry: unknown, index) => readVariable(entry, `${place}[${index}]`));
  },
  absent: [],
};

function readVariable(entry: unknown, place: string): RecordVariable {
  const fields = plainObject(entry, place, ['Name', 'Value']);
  const name = text(256).read(fields['Name'], `${place}.Name`);
  if (name === '') throw zoneFault(`${place}.Name`, 'is empty; allowed: 1 to 256 characters');
  return { Name: name, Value: text(4_096).read(fields['Value'] ?? '', `${place}.Value`) };
}

/** A JSON object with no other properties than `allowed`. Throws the fault of `place`, which is `''` for the whole body. */
export function plainObject(value: unknown, place: string, allowed: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw zoneFault(place === '' ? 'body' : place, `${shown(value)} is not taken; allowed: an object`);
  }
  const unknown = Object.keys(value).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    throw zoneFault(place === '' ? unknown : `${place}.${unknown}`, `there is no such property; allowed: ${allowed.join(', ')}`);
  return { ...value };
}

const FIELDS: { readonly [K in keyof RecordFields]: Field<RecordFields[K]> } = {
  Ttl: number(0, INT32_MAX, true, 300),
  Value: text(65_535),
  Name: text(255),
  Weight: number(0, 100, true, 100),
  Priority: number(0, 65_535, true, 0),
  Flags: number(0, 255, true, 0),
  Tag: text(15),
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
};

const FIELD_NAMES = Object.keys(FIELDS) as (keyof RecordFields)[];

function readField<K extends keyof RecordFields>(name: K, given: Readonly<Record<string, unknown>>, place: string): RecordFields[K] {
  const { read, absent } = FIELDS[name];
  const value = given[name];
  return value === undefined || value === null ? absent : read(value, `${place}.${name}`);
}

/** The fields of the record at `place`, each within its range, the absent ones filled in. Does not look at what they mean together. */
export function readRecordFields(value: unknown, place: string): { readonly type: unknown; readonly fields: RecordFields } {
  const given = plainObject(value, place, ['Type', ...FIELD_NAMES]);
  const fields = Object.fromEntries(FIELD_NAMES.map((name) => [name, readField(name, given, place)]));
  return { type: given['Type'] ?? 0, fields: fields as unknown as RecordFields };
}
