import { column, columnDefinitions, columnList, JOURNAL_COLUMNS } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { eventsRelation } from './events-relation.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/**
 * How journals become searchable: finding duplicates, copying what is in small ones. Table names are the store's own; file paths are bound.
 */

/** What makes two events the same one. */
const DEDUP_COLUMNS = joinSql([column('shieldZoneId'), column('timestamp'), column('logId')], ', ');

/** The same of rows that have an id in parts. */
const DEDUP_COLUMNS_OF_ROW = joinSql([column('shieldZoneId'), column('timestamp'), column('logIdBytes'), column('logIdText')], ', ');

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

const ofFile = (path: string) => sql`read_parquet(${text(path)})`;

/** How many threads a query may use, all connections together. */
export function setThreadsStatement(threads: number): SqlStatement {
  return render(sql`SET threads = ${int32(threads)}`);
}

export function createMemtableStatement(table: string): SqlStatement {
  return render(sql`CREATE TABLE ${trusted(table)} (${columnDefinitions(JOURNAL_COLUMNS)})`);
}

export function dropTableStatement(table: string): SqlStatement {
  return render(sql`DROP TABLE IF EXISTS ${trusted(table)}`);
}

/** The dedup key of each row, a hash of 53 bits. Columns: key (a whole number), timestamp, zone, all of them doubles. */
function dedupKeys(rows: SqlFragment): SqlFragment {
  return sql`SELECT (hash(${DEDUP_COLUMNS_OF_ROW}) >> 11)::DOUBLE, ${column('timestamp')}::DOUBLE, ${column('shieldZoneId')}::DOUBLE FROM ${rows}`;
}

/** Of the events of a journal. */
export function dedupKeysStatement(path: string): SqlStatement {
  return render(dedupKeys(ofFile(path)));
}

/** The same of those `rows` of journals or segments that are from `fromMs` on and before `toMs`. */
export function dedupKeysBetweenStatement(rows: SqlFragment, fromMs: number, toMs: number): SqlStatement {
  return render(sql`${dedupKeys(rows)} WHERE ${column('timestamp')} >= ${int64(fromMs)} AND ${column('timestamp')} < ${int64(toMs)}`);
}

/** Copies the events of a journal into a memtable. */
export function insertStatement(table: string, path: string): SqlStatement {
  return render(sql`INSERT INTO ${trusted(table)} SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${ofFile(path)}`);
}

/**
 * Copies the events of a journal that are not in `known` into a memtable, and of equal ones in the journal the first.
 * Only `known` events from `firstMs` to `lastMs`, both included, are compared. Column: the sequence of each copied event, a double.
 */
export function insertNewStatement(table: string, path: string, known: SqlFragment, firstMs: number, lastMs: number): SqlStatement {
  const events = eventsRelation([{ path }], [], 0n);
  const first = sql`SELECT min(${column('seq')}) FROM (SELECT ${column('seq')}, ${DEDUP_COLUMNS} FROM ${events} ANTI JOIN (SELECT ${DEDUP_COLUMNS} FROM ${known} WHERE ${column('timestamp')} BETWEEN ${int64(firstMs)} AND ${int64(lastMs)}) AS known USING (${DEDUP_COLUMNS})) AS arrived GROUP BY ${DEDUP_COLUMNS}`;
  return render(
    sql`INSERT INTO ${trusted(table)} SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${ofFile(path)} WHERE ${column('seq')} IN (${first}) RETURNING ${column('seq')}::DOUBLE`,
  );
}
