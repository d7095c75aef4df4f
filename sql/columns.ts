import { BATCH_COLUMNS, type BatchColumn } from '../query/batch-columns.ts';
import { TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { type SqlFragment, trusted } from './fragment.ts';

/** A column of the event table: its name is also its identifier in SQL, the only place identifiers come from. */
export interface EventColumn {
  readonly name: EventColumnName;
  readonly duckdbType: 'BIGINT' | 'INTEGER' | 'VARCHAR' | 'UBIGINT' | 'BOOLEAN' | 'BLOB';
}

/** What is asked for of an event: what a page, a filter, a feed knows it by. */
const FIELD_COLUMNS: readonly EventColumn[] = [
  { name: 'seq', duckdbType: 'BIGINT' },
  { name: 'shieldZoneId', duckdbType: 'INTEGER' },
  { name: 'timestamp', duckdbType: 'BIGINT' },
  { name: 'logId', duckdbType: 'VARCHAR' },
  ...TEXT_FIELDS.map((name) => ({ name, duckdbType: 'VARCHAR' }) as const),
  { name: 'ipHigh', duckdbType: 'UBIGINT' },
  { name: 'ipLow', duckdbType: 'UBIGINT' },
];

const DUCKDB_TYPES = { int32: 'INTEGER', int64: 'BIGINT', uint64: 'UBIGINT', text: 'VARCHAR', bytes: 'BLOB' } as const;

/**
 * Whether `ip` or `urlTail` has upper case or more than ASCII, so that lower case may change it. On disk the column keeps the name
 * `unfolded`.
 */
const HAS_UPPERCASE_OR_NON_ASCII: EventColumn = { name: 'unfolded', duckdbType: 'BOOLEAN' };

/**
 * The columns of a journal and of a memtable. `seq` is the ingest sequence that the feed is ordered by; see `query/batch-columns.ts` for
 * the others.
 */
export const JOURNAL_COLUMNS: readonly EventColumn[] = [
  { name: 'seq', duckdbType: 'BIGINT' },
  ...BATCH_COLUMNS.map(({ name, type }) => ({ name, duckdbType: DUCKDB_TYPES[type] })),
  HAS_UPPERCASE_OR_NON_ASCII,
];

/**
 * The blob pointer, which says where the log of an event is; on disk the column keeps an old name. The one of a flushed event is the number
 * of the blob file in the upper bits and its row in there, from 0, in the lower. As one number it grows by one from row to row, and takes a
 * tenth of a byte. The one of an unflushed event is its sequence with a minus.
 */
const BLOB_POINTER: EventColumn = { name: 'logPlace', duckdbType: 'BIGINT' };

/** A blob file has fewer rows than 2 to the power of this. */
export const LOG_ROW_BITS = 32;

/**
 * What makes texts fast to search, of an event wherever it is. What comes before the first `?` of a url repeats, what comes after hardly
 * ever does.
 */
const TEXT_AIDS: readonly EventColumn[] = [
  { name: 'urlHead', duckdbType: 'VARCHAR' },
  { name: 'urlTail', duckdbType: 'VARCHAR' },
  HAS_UPPERCASE_OR_NON_ASCII,
];

/** The columns of a segment. */
export const SEGMENT_COLUMNS: readonly EventColumn[] = [...JOURNAL_COLUMNS, BLOB_POINTER];

/** The columns of events wherever they are. */
export const EVENT_COLUMNS: readonly EventColumn[] = [...FIELD_COLUMNS, ...TEXT_AIDS, BLOB_POINTER];

export type EventColumnName = BatchColumn | TextField | 'seq' | 'logId' | 'unfolded' | 'logPlace';

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
