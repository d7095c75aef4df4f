import { BATCH_COLUMNS, type BatchColumn } from '../query/batch-columns.ts';
import { type GroupDimension, TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { type SqlFragment, sql, textList, trusted } from './statement.ts';

/** A column of the event table: its name is also its identifier in SQL, the only source of identifiers. */
export interface EventColumn {
  readonly name: EventColumnName;
  readonly duckdbType: 'BIGINT' | 'INTEGER' | 'VARCHAR' | 'UBIGINT' | 'BOOLEAN' | 'BLOB';
  /** The version of the table of fields that has the column first; absent: 1. */
  readonly since?: number;
}

export type EventColumnName = BatchColumn | TextField | 'seq' | 'logId' | 'zoneText' | 'unfolded' | 'logPlace';

const DUCKDB_TYPES = { int32: 'INTEGER', int64: 'BIGINT', uint64: 'UBIGINT', text: 'VARCHAR', bytes: 'BLOB' } as const;

/** The ingest sequence, by which the feed is ordered. */
const SEQUENCE: EventColumn = { name: 'seq', duckdbType: 'BIGINT' };

/**
 * Whether `ip` or `urlTail` has upper case or more than ASCII, so that lower case may change it. On disk the column keeps the name
 * `unfolded`.
 */
const HAS_UPPERCASE_OR_NON_ASCII: EventColumn = { name: 'unfolded', duckdbType: 'BOOLEAN' };

/**
 * The blob pointer, which says where the log of an event is; on disk the column keeps an old name. The one of a flushed event is the number
 * of the blob file in the upper bits and its row in there, from 0, in the lower. As one number it grows by one from row to row, and takes a
 * tenth of a byte. The one of an unflushed event is its sequence with a minus.
 */
const BLOB_POINTER: EventColumn = { name: 'logPlace', duckdbType: 'BIGINT' };

/** A blob file has fewer rows than 2 to the power of this. */
export const LOG_ROW_BITS = 32;

/** The columns of a journal and of a memtable; `query/batch-columns.ts` says what most of them hold. */
export const JOURNAL_COLUMNS: readonly EventColumn[] = [
  SEQUENCE,
  ...BATCH_COLUMNS.map(({ name, type, since }) => ({ name, duckdbType: DUCKDB_TYPES[type], since })),
  HAS_UPPERCASE_OR_NON_ASCII,
];

/** The columns of a segment. */
export const SEGMENT_COLUMNS: readonly EventColumn[] = [...JOURNAL_COLUMNS, BLOB_POINTER];

/** Columns of events that no file has: they are put together from those of a file. */
const COMPUTED_COLUMNS: readonly EventColumn[] = (['logId', 'zoneText', ...TEXT_FIELDS] as const)
  .filter((name) => SEGMENT_COLUMNS.every((stored) => stored.name !== name))
  .map((name) => ({ name, duckdbType: 'VARCHAR' }));

/** The columns of an id, which is asked for only as a whole. */
const ID_PARTS: readonly EventColumnName[] = ['logIdBytes', 'logIdText'];

/** The columns of events wherever they are. */
export const EVENT_COLUMNS: readonly EventColumn[] = [
  ...COMPUTED_COLUMNS,
  ...SEGMENT_COLUMNS.filter(({ name }) => !ID_PARTS.includes(name)),
];

/** The quoted identifier of a column. */
export function column(name: EventColumnName): SqlFragment {
  return trusted(`"${name}"`);
}

/** The column whose values are those of a dimension. */
export function dimensionColumn(dimension: GroupDimension): EventColumnName {
  return dimension === 'shieldZoneId' ? 'zoneText' : dimension;
}

/** The quoted identifiers of columns, comma-separated. */
export function columnList(columns: readonly EventColumn[]): SqlFragment {
  return trusted(columns.map(({ name }) => `"${name}"`).join(', '));
}

/** Columns with their types, as they are declared. */
export function columnDefinitions(columns: readonly EventColumn[]): SqlFragment {
  return trusted(columns.map(({ name, duckdbType }) => `"${name}" ${duckdbType}`).join(', '));
}

/**
 * The rows of journals or segments, in which a column that a file was written without is NULL. DuckDB takes the columns from the first file
 * unless it is told them, which costs some 1.5 ms a query; so it is told only once a later version of the fields has added one.
 */
export function rowsOfFiles(paths: readonly string[], columns: readonly EventColumn[] = SEGMENT_COLUMNS): SqlFragment {
  const schema = columns.some(({ since = 1 }) => since > 1) ? schemaOf(columns) : '';
  return parquetFiles(paths, schema);
}

/**
 * The rows of Parquet files, whatever the folders above them are called: DuckDB takes `*`, `?` and `[` in a path for a pattern, which may
 * match files of another store, and a folder `country=de` for a column whose value it is. `options` begin with a comma.
 */
export function parquetFiles(paths: readonly string[], options = ''): SqlFragment {
  // Told only where there may be such a folder, because every option costs time in every statement.
  const partitions = paths.some((path) => path.includes('=')) ? ', hive_partitioning = false' : '';
  return sql`read_parquet(${textList(paths.map(literalPath))}${trusted(partitions + options)})`;
}

/**
 * A path as the pattern that matches it alone. A path with a backslash stays as it is: patterns with one match nothing, and DuckDB takes
 * what matches nothing as it is.
 */
function literalPath(path: string): string {
  return path.includes('\\') ? path : path.replace(/[*?[]/g, '[$&]');
}

function schemaOf(columns: readonly EventColumn[]): string {
  const rows = columns.map(({ name, duckdbType }) => `'${name}': {name: '${name}', type: '${duckdbType}', default_value: NULL}`);
  return `, schema = MAP {${rows.join(', ')}}`;
}
