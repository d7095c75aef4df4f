import { allColumns, CANONICAL_COLUMNS, column, EVENT_COLUMNS, type EventColumn } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, textList, trusted } from './fragment.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/**
 * What the embedded store asks of DuckDB besides searching: loading journals, finding duplicates, writing segments.
 * Table names are the store's own; file paths are bound.
 */

/** An event is at most 1 MiB on the wire. One without a log is its own log, which makes the line twice as long and a little. */
const LONGEST_LINE_BYTES = 2.5 * 1024 * 1024;

/** What makes two events the same one. */
const IDENTITY = joinSql([column('shieldZoneId'), column('timestamp'), column('logId')], ', ');

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

const columnList = (columns: readonly EventColumn[]) =>
  trusted(columns.map(({ name, duckdbType }) => `"${name}" ${duckdbType}`).join(', '));

/** How many threads a query may use, all connections together. */
export function setThreadsStatement(threads: number): SqlStatement {
  return render(sql`SET threads = ${int32(threads)}`);
}

export function createHotTableStatement(table: string): SqlStatement {
  return render(sql`CREATE TABLE ${trusted(table)} (${columnList(EVENT_COLUMNS)})`);
}

export function dropTableStatement(table: string): SqlStatement {
  return render(sql`DROP TABLE IF EXISTS ${trusted(table)}`);
}

/**
 * Reads a journal into a new table in file order. A line that is not a canonical event becomes a row of NULLs in its place,
 * and so does the trailer.
 */
export function readJournalStatement(table: string, path: string): SqlStatement {
  const types = trusted(`{${CANONICAL_COLUMNS.map(({ name, duckdbType }) => `'${name}': '${duckdbType}'`).join(', ')}}`);
  return render(
    sql`CREATE OR REPLACE TABLE ${trusted(table)} AS SELECT * FROM read_json(${text(path)}, format = 'newline_delimited', columns = ${types}, ignore_errors = true, maximum_object_size = ${int32(LONGEST_LINE_BYTES)})`,
  );
}

/** Columns: lines, events, distinctEvents (by identity; the unreadable count as one), firstMs, lastMs. */
export function inspectTableStatement(table: string): SqlStatement {
  return render(
    sql`SELECT count(*) AS "lines", count(${column('shieldZoneId')}) AS events, count(DISTINCT hash(${IDENTITY})) AS "distinctEvents", min(${column('timestamp')}) AS "firstMs", max(${column('timestamp')}) AS "lastMs" FROM ${trusted(table)}`,
  );
}

/** The places (from 0) of the lines that could not be read, the trailer among them. */
export function unreadableLinesStatement(table: string): SqlStatement {
  return render(sql`SELECT rowid FROM ${trusted(table)} WHERE ${column('shieldZoneId')} IS NULL ORDER BY rowid`);
}

/** A table in memory that events are searched in. */
export interface HotSource {
  readonly name: string;
  /** The sequence of the first row of a table as it was read from a journal; null for one whose rows have a `seq`. */
  readonly firstSequence: bigint | null;
}

/** The events of hot tables and segments as one relation to select from. `endSequence` hides what hot tables received later. */
export function eventsRelation(hotTables: readonly HotSource[], segmentPaths: readonly string[], endSequence: bigint): SqlFragment {
  const hot = hotTables.map(({ name, firstSequence }) =>
    firstSequence === null
      ? sql`SELECT ${allColumns()} FROM ${trusted(name)} WHERE ${column('seq')} < ${int64(endSequence)}`
      : sql`SELECT ${int64(firstSequence)} + rowid, ${canonicalColumns()} FROM ${trusted(name)} WHERE ${column('shieldZoneId')} IS NOT NULL`,
  );
  const sealed = segmentPaths.length === 0 ? [] : [sql`SELECT ${allColumns()} FROM read_parquet(${textList(segmentPaths)})`];
  const parts = [...hot, ...sealed];
  if (parts.length === 0) {
    const nothing = EVENT_COLUMNS.map(({ name, duckdbType }) => `NULL::${duckdbType} AS "${name}"`).join(', ');
    return trusted(`(SELECT ${nothing} WHERE false) AS events`);
  }
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** How many of the `known` events between `firstMs` and `lastMs` (both included) are in `table` too. */
export function countKnownStatement(table: string, known: SqlFragment, firstMs: bigint, lastMs: bigint): SqlStatement {
  return render(
    sql`SELECT count(*) FROM (SELECT ${IDENTITY} FROM ${known} WHERE ${column('timestamp')} BETWEEN ${int64(firstMs)} AND ${int64(lastMs)}) AS known SEMI JOIN ${trusted(table)} USING (${IDENTITY})`,
  );
}

/** Moves the events of `table` into a hot table, numbered by their place in the journal. */
export function insertStatement(hotTable: string, table: string, firstSequence: bigint): SqlStatement {
  return render(
    sql`INSERT INTO ${trusted(hotTable)} SELECT ${int64(firstSequence)} + rowid, ${canonicalColumns()} FROM ${trusted(table)} WHERE ${column('shieldZoneId')} IS NOT NULL`,
  );
}

/** The same, leaving out events that are `known` already and all but the first of those that are in `table` several times. */
export function insertNewStatement(
  hotTable: string,
  table: string,
  firstSequence: bigint,
  known: SqlFragment,
  firstMs: bigint,
  lastMs: bigint,
): SqlStatement {
  return render(
    sql`INSERT INTO ${trusted(hotTable)} SELECT ${int64(firstSequence)} + place, ${canonicalColumns()} FROM (SELECT rowid AS place, * FROM ${trusted(table)} WHERE rowid IN (SELECT min(rowid) FROM ${trusted(table)} WHERE ${column('shieldZoneId')} IS NOT NULL GROUP BY ${IDENTITY})) AS arrived ANTI JOIN (SELECT ${IDENTITY} FROM ${known} WHERE ${column('timestamp')} BETWEEN ${int64(firstMs)} AND ${int64(lastMs)}) AS known USING (${IDENTITY})`,
  );
}

/** How many events of each zone lie in each time slab. Columns: slab (number since the epoch), zone, events, and the bounds of time and sequence. */
export function slabZoneCountStatement(events: SqlFragment, slabMs: number): SqlStatement {
  return render(
    sql`SELECT ${column('timestamp')} // ${int64(slabMs)} AS slab, ${column('shieldZoneId')} AS zone, count(*) AS events, min(${column('timestamp')}) AS "minTimestamp", max(${column('timestamp')}) AS "maxTimestamp", min(${column('seq')}) AS "minSequence", max(${column('seq')}) AS "maxSequence" FROM ${events} GROUP BY slab, zone ORDER BY slab, zone`,
  );
}

export interface SegmentSlice {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly firstZone: number;
  /** Inclusive. */
  readonly lastZone: number;
}

/** Writes a slice of the events as a Parquet file, sorted by zone and time so that its row groups prune by both. */
export function writeSegmentStatement(events: SqlFragment, slice: SegmentSlice, path: string): SqlStatement {
  const quotedPath = trusted(`'${path.replaceAll("'", "''")}'`);
  return render(
    sql`COPY (SELECT ${allColumns()} FROM ${events} WHERE ${column('timestamp')} >= ${int64(slice.fromMs)} AND ${column('timestamp')} < ${int64(slice.toMs)} AND ${column('shieldZoneId')} BETWEEN ${int32(slice.firstZone)} AND ${int32(slice.lastZone)} ORDER BY ${column('shieldZoneId')}, ${column('timestamp')}) TO ${quotedPath} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 8192)`,
  );
}

function canonicalColumns(): SqlFragment {
  return trusted(CANONICAL_COLUMNS.map(({ name }) => `"${name}"`).join(', '));
}
