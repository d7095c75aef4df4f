import { column, columnList, JOURNAL_COLUMNS, LOG_ROW_BITS, SEGMENT_COLUMNS } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, textList, trusted } from './fragment.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/** How unflushed events become segments, and how those are read one by one. Table names and paths are the store's own. */

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

/** Zone by zone, so that row groups can be skipped by zone and by time; `seq` makes it one order only. */
const FLUSHED_ORDER = joinSql([column('shieldZoneId'), column('timestamp'), column('seq')], ', ');

/** As small as can be, and as quickly read as can be. */
const SMALL = 'zstd, COMPRESSION_LEVEL 1';
const QUICK = 'lz4_raw';

/**
 * What suits a segment of large zones, and one of small zones. Of a large zone many rows are searched: in large row groups, quickly
 * decompressed, for a quarter more room. Of a small one every search reads a whole row group, which had better be small, and there are many
 * of them.
 */
const LAYOUTS = {
  large: { rowGroup: 32_768, compression: QUICK },
  small: { rowGroup: 8_192, compression: SMALL },
} as const;

const quotedPath = (path: string) => trusted(`'${path.replaceAll("'", "''")}'`);

const parquetOptions = ({ rowGroup, compression }: (typeof LAYOUTS)[keyof typeof LAYOUTS]) =>
  trusted(
    `FORMAT parquet, PARQUET_VERSION v2, COMPRESSION ${compression}, ROW_GROUP_SIZE ${rowGroup}, DICTIONARY_SIZE_LIMIT ${rowGroup / 2}`,
  );

/**
 * How many events of each zone lie in each time partition. Columns: time partition (number since the epoch), zone, events, and the bounds
 * of time and sequence.
 */
export function partitionZoneCountStatement(events: SqlFragment, partitionMs: number): SqlStatement {
  return render(
    sql`SELECT ${column('timestamp')} // ${int64(partitionMs)} AS partition, ${column('shieldZoneId')} AS zone, count(*) AS events, min(${column('timestamp')}) AS "minTimestamp", max(${column('timestamp')}) AS "maxTimestamp", min(${column('seq')}) AS "minSequence", max(${column('seq')}) AS "maxSequence" FROM ${events} GROUP BY partition, zone ORDER BY partition, zone`,
  );
}

/** For the rows of a table or of a relation, in their order: a double each, how far its sequence is from `first`. */
function placesOf(rows: SqlFragment, first: bigint): SqlStatement {
  return render(sql`SELECT (${column('seq')} - ${int64(first)})::DOUBLE FROM ${rows}`);
}

export function logRowsInTableStatement(table: string, first: bigint): SqlStatement {
  return placesOf(trusted(table), first);
}

/** Of segments, one behind the other. */
export function logRowsInSegmentsStatement(paths: readonly string[], first: bigint): SqlStatement {
  return placesOf(sql`read_parquet(${textList(paths)})`, first);
}

/** Rows of segments, and whether they come in the order that segments have. */
export interface SegmentRows {
  readonly rows: SqlFragment;
  readonly inOrder: boolean;
}

const numbered = (blobFile: number, row: SqlFragment) => sql`${int64(blobPointerTo(blobFile, 0))} + ${row} AS ${column('logPlace')}`;

/** Rows of journals, sorted. The row of each is the row of its log in the blob file. */
function sorted(rows: SqlFragment): SqlFragment {
  return sql`SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${rows} ORDER BY ${FLUSHED_ORDER}`;
}

/**
 * A slice of rows of journals, whose logs are to be in the blob file from row `first` on, as rows of a segment, sorted on the way into its
 * file.
 */
export function sliceInOrder(rows: SqlFragment, slice: SegmentSlice, blobFile: number, first: number): SegmentRows {
  const inSlice = sql`(SELECT * FROM ${rows} WHERE ${liesIn(slice)}) AS slice`;
  // A window without an order numbers the rows as they come.
  const row = sql`row_number() OVER () + ${int64(first - 1)}`;
  return { rows: sql`(SELECT *, ${numbered(blobFile, row)} FROM (${sorted(inSlice)}) AS sorted) AS events`, inOrder: true };
}

/** Sorts rows of journals once, into a table, for several segments. */
export function flushingTableStatement(table: string, rows: SqlFragment): SqlStatement {
  return render(sql`CREATE OR REPLACE TABLE ${trusted(table)} AS ${sorted(rows)}`);
}

/** The rows of such a table as rows of segments. */
export function flushingRows(table: string, blobFile: number): SegmentRows {
  return { rows: sql`(SELECT *, ${numbered(blobFile, trusted('rowid'))} FROM ${trusted(table)}) AS events`, inOrder: true };
}

export interface SegmentSlice {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly firstZone: number;
  /** Inclusive. */
  readonly lastZone: number;
  /** What is in it mostly. */
  readonly zones: keyof typeof LAYOUTS;
}

function liesIn({ fromMs, toMs, firstZone, lastZone }: SegmentSlice): SqlFragment {
  return sql`${column('timestamp')} >= ${int64(fromMs)} AND ${column('timestamp')} < ${int64(toMs)} AND ${column('shieldZoneId')} BETWEEN ${int32(firstZone)} AND ${int32(lastZone)}`;
}

/** Writes a slice of the rows as a segment. */
export function writeSegmentStatement({ rows, inOrder }: SegmentRows, slice: SegmentSlice, path: string): SqlStatement {
  const order = inOrder ? trusted('') : sql` ORDER BY ${FLUSHED_ORDER}`;
  return render(
    sql`COPY (SELECT ${columnList(SEGMENT_COLUMNS)} FROM ${rows} WHERE ${liesIn(slice)}${order}) TO ${quotedPath(path)} (${parquetOptions(LAYOUTS[slice.zones])})`,
  );
}

/** The blob pointer of a flushed event whose log is in this row of this blob file. */
export function blobPointerTo(blobFile: number, row: number): bigint {
  return (BigInt(blobFile) << BigInt(LOG_ROW_BITS)) + BigInt(row);
}

/** The blob file and the row in it that the blob pointer of a flushed event stands for. */
export function logRow(blobPointer: bigint): { readonly blobFile: number; readonly row: number } {
  return { blobFile: Number(blobPointer >> BigInt(LOG_ROW_BITS)), row: Number(BigInt.asUintN(LOG_ROW_BITS, blobPointer)) };
}
