import { CANONICAL_COLUMNS, column, columnDefinitions, columnList, HOT_COLUMNS } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/**
 * How journals become hot tables: loading them, finding duplicates. Table names are the store's own; file paths are bound.
 */

/** An event is at most 1 MiB on the wire. Its line is that without the log, and a little more. */
const LONGEST_LINE_BYTES = 1.25 * 1024 * 1024;

/** What makes two events the same one. */
const IDENTITY = joinSql([column('shieldZoneId'), column('timestamp'), column('logId')], ', ');

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

/** How many threads a query may use, all connections together. */
export function setThreadsStatement(threads: number): SqlStatement {
  return render(sql`SET threads = ${int32(threads)}`);
}

export function createHotTableStatement(table: string): SqlStatement {
  return render(sql`CREATE TABLE ${trusted(table)} (${columnDefinitions(HOT_COLUMNS)})`);
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

/** Columns: lines, events, distinctEvents (by identity; the unreadable count as one), firstMs, lastMs, zones (a list). */
export function inspectTableStatement(table: string): SqlStatement {
  return render(
    sql`SELECT count(*) AS "lines", count(${column('shieldZoneId')}) AS events, count(DISTINCT hash(${IDENTITY})) AS "distinctEvents", min(${column('timestamp')}) AS "firstMs", max(${column('timestamp')}) AS "lastMs", list(DISTINCT ${column('shieldZoneId')}) FILTER (WHERE ${column('shieldZoneId')} IS NOT NULL) AS zones FROM ${trusted(table)}`,
  );
}

/** The places (from 0) of the lines that could not be read, the trailer among them. */
export function unreadableLinesStatement(table: string): SqlStatement {
  return render(sql`SELECT rowid FROM ${trusted(table)} WHERE ${column('shieldZoneId')} IS NULL ORDER BY rowid`);
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
    sql`INSERT INTO ${trusted(hotTable)} SELECT ${int64(firstSequence)} + rowid, ${columnList(CANONICAL_COLUMNS)} FROM ${trusted(table)} WHERE ${column('shieldZoneId')} IS NOT NULL`,
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
    sql`INSERT INTO ${trusted(hotTable)} SELECT ${int64(firstSequence)} + place, ${columnList(CANONICAL_COLUMNS)} FROM (SELECT rowid AS place, * FROM ${trusted(table)} WHERE rowid IN (SELECT min(rowid) FROM ${trusted(table)} WHERE ${column('shieldZoneId')} IS NOT NULL GROUP BY ${IDENTITY})) AS arrived ANTI JOIN (SELECT ${IDENTITY} FROM ${known} WHERE ${column('timestamp')} BETWEEN ${int64(firstMs)} AND ${int64(lastMs)}) AS known USING (${IDENTITY})`,
  );
}
