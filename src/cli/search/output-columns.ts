import { DIMENSIONS, type Dimension, TEXT_FIELDS } from '../../../query/event-fields.ts';
import { membersOf } from '../../../query/json-text.ts';
import { valueText } from '../../../query/search-line.ts';
import { type Cell, sparklineCell, textCell } from './table.ts';

/** How a column shows a value. An address, and what a group is of, is a text that should not be cut. */
type ColumnKind = 'text' | 'address' | 'key' | 'number' | 'time' | 'sparkline' | 'json';

/** A column of rows or groups. */
export interface OutputColumn {
  /** As `--columns` and the table's header have it. */
  readonly name: string;
  /** The member of the row or group that it shows. */
  readonly from: string;
  readonly kind: ColumnKind;
}

const column = (name: string, from: string, kind: ColumnKind): OutputColumn => ({ name, from, kind });

const kindOf = (name: string): ColumnKind => (name === 'ip' ? 'address' : 'text');

/** The columns that rows have. */
export const ROW_COLUMNS: readonly OutputColumn[] = [
  column('time', 'timestamp', 'time'),
  column('timestamp', 'timestamp', 'number'),
  column('logId', 'logId', 'text'),
  column('zone', 'shieldZoneId', 'number'),
  ...TEXT_FIELDS.map((name) => column(name, `fields.${name}`, kindOf(name))),
  column('log', 'log', 'json'),
];

/** The members of a row that are objects with columns in them. */
export const ROW_OBJECTS = ['fields'];

const USUAL_ROW_COLUMNS = ['time', 'zone', 'action', 'country', 'ip', 'ruleId', 'url'];

/** The columns of rows without `--columns`; of one zone without that of the zone. */
export function usualRowColumns(zone: string): readonly string[] {
  return /^-?\d+$/.test(zone) ? USUAL_ROW_COLUMNS.filter((name) => name !== 'zone') : USUAL_ROW_COLUMNS;
}

/** What groups are made by: the dimensions, and the zone. */
export const GROUP_KEYS = [...DIMENSIONS, 'zone'] as const;

export type GroupKey = Dimension | 'zone';

/** The name that requests and answers have for it. */
export function wireNameOf(key: GroupKey): string {
  return key === 'zone' ? 'shieldZoneId' : key;
}

/** The columns that groups have: their keys, and what is known of them. */
export function groupColumns(keys: readonly GroupKey[]): readonly OutputColumn[] {
  const isKey = (name: string): boolean => keys.some((key) => key === name);
  const context = [
    column('blocked', 'context.blocked', 'number'),
    column('challenged', 'context.challenged', 'number'),
    column('logged', 'context.logged', 'number'),
    column('country', 'context.country', 'text'),
    column('asn', 'context.asn', 'text'),
    column('features', 'context.features', 'text'),
    column('ruleIds', 'context.ruleIds', 'text'),
  ];
  return [
    ...keys.map((key) => column(key, `key.${wireNameOf(key)}`, 'key')),
    column('count', 'count', 'number'),
    column('sparkline', 'sparkline', 'sparkline'),
    column('firstSeen', 'firstSeen', 'time'),
    column('lastSeen', 'lastSeen', 'time'),
    ...context.filter(({ name }) => !isKey(name)),
  ];
}

/** The members of a group that are objects with columns in them. */
export const GROUP_OBJECTS = ['key', 'context'];

/** The columns of groups without `--columns`. */
export function usualGroupColumns(keys: readonly GroupKey[]): readonly string[] {
  return [...keys, 'count', 'sparkline', 'blocked', 'challenged', 'logged', 'lastSeen'];
}

/** A row or group as JSON texts by the names of its members; a member of a nested object has a name such as `fields.ip`. */
export type JsonRecord = ReadonlyMap<string, string>;

/** Reads a row or group whose members `nested` are objects. Throws SyntaxError. */
export function recordOf(json: string, nested: readonly string[]): JsonRecord {
  const members = membersOf(json).flatMap(({ name, text }) =>
    name !== null && nested.includes(name)
      ? membersOf(text).map((inner): [string, string] => [`${name}.${inner.name}`, inner.text])
      : [[String(name), text] as const],
  );
  return new Map(members);
}

/** Numbers of times and counts are exact, because they are below 2^53. */
function isoTime(json: string): string {
  const time = new Date(Number(json));
  return Number.isNaN(time.getTime()) ? json : time.toISOString();
}

/**
 * A value of a field as the search line has it behind the name of the field, so that it can be copied from a table into the next search.
 * Only what is special there is quoted. Other texts, and an empty one, stay as they are.
 */
function copyable(from: string, text: string): string {
  const field = DIMENSIONS.find((name) => from === `fields.${name}` || from === `key.${name}` || from === `context.${name}`);
  return field === undefined || text === '' ? text : valueText(field, text);
}

/** The cell of a record in a column; empty where the record has no such member. */
export function cellOf({ from, kind }: OutputColumn, record: JsonRecord): Cell {
  const value = record.get(from);
  if (value === undefined) return textCell('');
  switch (kind) {
    case 'text':
    case 'address':
    case 'key':
      return textCell(copyable(from, String(JSON.parse(value))));
    case 'number':
    case 'json':
      return textCell(value);
    case 'time':
      return textCell(isoTime(value));
    case 'sparkline':
      return sparklineCell(JSON.parse(value) as readonly number[]);
  }
}

/**
 * One JSON object of these columns, in their order, with values as they came and times in ISO 8601. A member that is missing is left out.
 */
export function recordJson(columns: readonly OutputColumn[], record: JsonRecord): string {
  const members = columns.flatMap(({ name, from, kind }) => {
    const value = record.get(from);
    return value === undefined ? [] : [`${JSON.stringify(name)}:${kind === 'time' ? JSON.stringify(isoTime(value)) : value}`];
  });
  return `{${members.join(',')}}`;
}
