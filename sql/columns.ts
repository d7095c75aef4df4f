import { TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { type SqlFragment, trusted } from './fragment.ts';

/** A column of the event table: its name is also its identifier in SQL, the only place identifiers come from. */
export interface EventColumn {
  readonly name: EventColumnName;
  readonly duckdbType: 'BIGINT' | 'INTEGER' | 'VARCHAR' | 'UBIGINT' | 'BOOLEAN' | 'BLOB';
}

/** The columns of a canonical event, as they are read from a journal. */
export const CANONICAL_COLUMNS: readonly EventColumn[] = [
  { name: 'shieldZoneId', duckdbType: 'INTEGER' },
  { name: 'timestamp', duckdbType: 'BIGINT' },
  { name: 'logId', duckdbType: 'VARCHAR' },
  ...TEXT_FIELDS.map((name) => ({ name, duckdbType: 'VARCHAR' }) as const),
  { name: 'ipHigh', duckdbType: 'UBIGINT' },
  { name: 'ipLow', duckdbType: 'UBIGINT' },
];

/** The columns of a hot table: `seq` is the ingest sequence that the feed is ordered by. */
export const HOT_COLUMNS: readonly EventColumn[] = [{ name: 'seq', duckdbType: 'BIGINT' }, ...CANONICAL_COLUMNS];

/**
 * Where the log of an event is. Of a sealed one: the number of the bundle in the upper bits, its row in there, from 0, in the lower. As one number it grows by
 * one from row to row, and takes a tenth of a byte. Of a hot one: its sequence with a minus.
 */
const LOG_PLACE: EventColumn = { name: 'logPlace', duckdbType: 'BIGINT' };

/** A bundle has fewer rows than 2 to the power of this. */
export const LOG_ROW_BITS = 32;

/**
 * What makes texts fast to search. A `url` is split behind its first `?`: what comes before repeats, what comes after hardly ever does. `unfolded` is
 * whether lower case changes `ip` or `urlTail` at all.
 */
const TEXT_AIDS: readonly EventColumn[] = [
  { name: 'urlHead', duckdbType: 'VARCHAR' },
  { name: 'urlTail', duckdbType: 'VARCHAR' },
  { name: 'unfolded', duckdbType: 'BOOLEAN' },
];

/**
 * The `logId` of a sealed event: an id of 32 hexadecimal digits, or a UUID, in 16 bytes, and `logIdText` is NULL, or `-` where there are hyphens between the
 * digits; any other id as it is in `logIdText`.
 */
export const LOG_ID_PARTS: readonly EventColumn[] = [
  { name: 'logIdBytes', duckdbType: 'BLOB' },
  { name: 'logIdText', duckdbType: 'VARCHAR' },
];

/** The columns of a segment. */
export const SEGMENT_COLUMNS: readonly EventColumn[] = [
  ...HOT_COLUMNS.filter(({ name }) => name !== 'logId' && name !== 'url'),
  ...LOG_ID_PARTS,
  ...TEXT_AIDS,
  LOG_PLACE,
];

/** The columns of events wherever they are. */
export const EVENT_COLUMNS: readonly EventColumn[] = [...HOT_COLUMNS, ...TEXT_AIDS, LOG_PLACE];

export type EventColumnName =
  | 'seq'
  | 'shieldZoneId'
  | 'timestamp'
  | 'logId'
  | 'logIdBytes'
  | 'logIdText'
  | TextField
  | 'urlHead'
  | 'urlTail'
  | 'unfolded'
  | 'ipHigh'
  | 'ipLow'
  | 'logPlace';

/** The quoted identifier of a column. */
export function column(name: EventColumnName): SqlFragment {
  return trusted(`"${name}"`);
}

/** The quoted identifiers of columns, comma-separated. */
export function columnList(columns: readonly EventColumn[]): SqlFragment {
  return trusted(columns.map(({ name }) => `"${name}"`).join(', '));
}

/** Columns with their types, as they are declared. */
export function columnDefinitions(columns: readonly EventColumn[]): SqlFragment {
  return trusted(columns.map(({ name, duckdbType }) => `"${name}" ${duckdbType}`).join(', '));
}
