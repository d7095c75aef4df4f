import { column, columnList, JOURNAL_COLUMNS, LOG_ROW_BITS, parquetFiles, SEGMENT_COLUMNS } from './columns.ts';
import { duckdbStatement } from './dialect.ts';
import { ROW_GROUP_ROWS, SEGMENT_ORDER, VECTOR_ROWS, type ZoneSize } from './segment-layout.ts';
import { int32, int64, joinSql, NO_SQL, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** Statements that write unflushed events as segments and read segments one by one. The store makes up table names and paths. */

const FLUSHED_ORDER = joinSql(SEGMENT_ORDER.map(column));

/** LZ4 decompresses quickly, for a quarter more room: a search in a large zone reads many rows. There are many small zones. */
const COMPRESSION: Readonly<Record<ZoneSize, string>> = { large: 'lz4_raw', small: 'zstd, COMPRESSION_LEVEL 1' };

const quotedPath = (path: string) => trusted(`'${path.replaceAll("'", "''")}'`);

function parquetOptions(zones: ZoneSize): SqlFragment {
  const rows = ROW_GROUP_ROWS[zones];
  const rowGroups = `ROW_GROUP_SIZE ${rows}, DICTIONARY_SIZE_LIMIT ${rows / 2}`;
  return trusted(`FORMAT parquet, PARQUET_VERSION v2, COMPRESSION ${COMPRESSION[zones]}, ${rowGroups}`);
}

/**
 * Counts the events of each zone in each time partition. Columns: time partition (number since the epoch), zone, events, and the bounds of
 * time and sequence.
 */
export function partitionZoneCountStatement(events: SqlFragment, partitionMs: number): SqlStatement {
  const [time, sequence] = [column('timestamp'), column('seq')];
  return duckdbStatement(
    sql`SELECT ${time} // ${int64(partitionMs)} AS partition, ${column('shieldZoneId')} AS zone, count(*) AS events,
      min(${time}) AS "minTimestamp", max(${time}) AS "maxTimestamp",
      min(${sequence}) AS "minSequence", max(${sequence}) AS "maxSequence"
      FROM ${events} GROUP BY partition, zone ORDER BY partition, zone`,
  );
}

/** For each of the rows, in their order, its sequence minus `first`. Column: a double. */
export function logRowsStatement(rows: SqlFragment, first: bigint): SqlStatement {
  return duckdbStatement(sql`SELECT (${column('seq')} - ${int64(first)})::DOUBLE FROM ${rows}`);
}

/** The most bytes that a column of texts has in a vector of a segment whose row groups are of whole vectors, but for the last. */
export function largestVectorStatement(path: string): SqlStatement {
  const texts = SEGMENT_COLUMNS.filter(({ duckdbType }) => duckdbType === 'VARCHAR');
  // Each length takes four bytes, as in the file.
  const bytes = joinSql(texts.map(({ name }) => sql`coalesce(sum(strlen(${column(name)}) + 4), 0)`));
  const rows = parquetFiles([path], ', file_row_number = true');
  return duckdbStatement(
    sql`SELECT coalesce(max(bytes), 0)::DOUBLE
      FROM (SELECT greatest(${bytes}) AS bytes FROM ${rows} GROUP BY file_row_number // ${int64(VECTOR_ROWS)}) AS vectors`,
  );
}

/** Rows of segments. `inOrder` says that they come in the order of segments. */
export interface SegmentRelation {
  readonly rows: SqlFragment;
  readonly inOrder: boolean;
}

/**
 * A slice of the rows of journals as rows of a segment, which are sorted while the segment is written. Their logs are in the blob file, in
 * the same order, from row `first` on.
 */
export function sliceInOrder(rows: SqlFragment, slice: SegmentSlice, blobFile: number, first: number): SegmentRelation {
  const sorted = sql`SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${rows} WHERE ${liesIn(slice)} ORDER BY ${FLUSHED_ORDER}`;
  // A window without an order numbers the rows in the order in which they come.
  const pointer = sql`row_number() OVER () + ${int64(blobPointerTo(blobFile, first) - 1n)} AS ${column('logPlace')}`;
  return { rows: sql`(SELECT *, ${pointer} FROM (${sorted}) AS sorted) AS events`, inOrder: true };
}

export interface SegmentSlice {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly firstZone: number;
  /** Inclusive. */
  readonly lastZone: number;
  /** The size of the zones of the slice on average. */
  readonly zones: ZoneSize;
}

function liesIn({ fromMs, toMs, firstZone, lastZone }: SegmentSlice): SqlFragment {
  return sql`${column('timestamp')} >= ${int64(fromMs)} AND ${column('timestamp')} < ${int64(toMs)}
    AND ${column('shieldZoneId')} BETWEEN ${int32(firstZone)} AND ${int32(lastZone)}`;
}

/** Writes a slice of the rows as a segment. */
export function writeSegmentStatement({ rows, inOrder }: SegmentRelation, slice: SegmentSlice, path: string): SqlStatement {
  const order = inOrder ? NO_SQL : sql` ORDER BY ${FLUSHED_ORDER}`;
  return duckdbStatement(
    sql`COPY (SELECT ${columnList(SEGMENT_COLUMNS)} FROM ${rows} WHERE ${liesIn(slice)}${order})
      TO ${quotedPath(path)} (${parquetOptions(slice.zones)})`,
  );
}

/** The blob pointer of an event whose log is in a row of a blob file. */
export function blobPointerTo(blobFile: number, row: number): bigint {
  return (BigInt(blobFile) << BigInt(LOG_ROW_BITS)) + BigInt(row);
}

/** The blob file and the row in it to which the blob pointer of a flushed event points. */
export function logRow(blobPointer: bigint): { readonly blobFile: number; readonly row: number } {
  return { blobFile: Number(blobPointer >> BigInt(LOG_ROW_BITS)), row: Number(BigInt.asUintN(LOG_ROW_BITS, blobPointer)) };
}

/** Reads nothing of a segment but its footer, which DuckDB would not need if it were told the columns. */
export function footerStatement(path: string): SqlStatement {
  return duckdbStatement(sql`SELECT NULL FROM ${parquetFiles([path])} LIMIT 0`);
}
