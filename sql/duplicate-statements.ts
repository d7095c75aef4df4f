import { column, columnList, JOURNAL_COLUMNS, rowsOfFiles, SEGMENT_COLUMNS } from './columns.ts';
import { duckdbStatement } from './dialect.ts';
import { eventsRelation } from './events-relation.ts';
import { int64, joinSql, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** When two events are the same, and the statements that keep the later ones of them out. The store makes up table names. */

/** Two events are the same where these columns are equal. */
const DEDUP_COLUMNS = joinSql([column('shieldZoneId'), column('timestamp'), column('logId')]);

/** The same in rows of files, which have the id in parts. */
const DEDUP_COLUMNS_OF_ROW = joinSql([column('shieldZoneId'), column('timestamp'), column('logIdBytes'), column('logIdText')]);

/**
 * Copies the events of a journal that are not among `stored` into a memtable, and the first of equal ones in the journal. Only `stored`
 * events from `firstMs` to `lastMs`, both included, are compared. Column: the sequence of each copied event, a double.
 */
export function insertNewStatement(table: string, path: string, stored: SqlFragment, firstMs: number, lastMs: number): SqlStatement {
  const events = eventsRelation([{ path }], [], 0n);
  const compared = sql`SELECT ${DEDUP_COLUMNS} FROM ${stored} WHERE ${column('timestamp')} BETWEEN ${int64(firstMs)} AND ${int64(lastMs)}`;
  const arrived = sql`SELECT ${column('seq')}, ${DEDUP_COLUMNS} FROM ${events} ANTI JOIN (${compared}) AS known USING (${DEDUP_COLUMNS})`;
  const first = sql`SELECT min(${column('seq')}) FROM (${arrived}) AS arrived GROUP BY ${DEDUP_COLUMNS}`;
  return duckdbStatement(
    sql`INSERT INTO ${trusted(table)} SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${rowsOfFiles([path])}
      WHERE ${column('seq')} IN (${first}) RETURNING ${column('seq')}::DOUBLE`,
  );
}

/**
 * The rows of a segment whose events are not among `stored`. Only `stored` events from `firstMs` to `lastMs`, both included, are compared.
 */
export function rowsNotStored(path: string, stored: SqlFragment, firstMs: number, lastMs: number): SqlFragment {
  const events = eventsRelation([], [path], 0n);
  const compared = sql`SELECT ${DEDUP_COLUMNS} FROM ${stored} WHERE ${column('timestamp')} BETWEEN ${int64(firstMs)} AND ${int64(lastMs)}`;
  const again = sql`SELECT ${column('seq')} FROM ${events} SEMI JOIN (${compared}) AS known USING (${DEDUP_COLUMNS})`;
  return sql`(SELECT ${columnList(SEGMENT_COLUMNS)} FROM ${rowsOfFiles([path])} WHERE ${column('seq')} NOT IN (${again})) AS events`;
}

/** The dedup key of each event of a journal, a hash of 53 bits. Columns: key (a whole number), timestamp, zone, all of them doubles. */
export function dedupKeysStatement(path: string): SqlStatement {
  return duckdbStatement(dedupKeys(rowsOfFiles([path])));
}

/** The same of the `rows` of journals or segments from `fromMs` on and before `toMs`. */
export function dedupKeysBetweenStatement(rows: SqlFragment, fromMs: number, toMs: number): SqlStatement {
  return duckdbStatement(
    sql`${dedupKeys(rows)} WHERE ${column('timestamp')} >= ${int64(fromMs)} AND ${column('timestamp')} < ${int64(toMs)}`,
  );
}

function dedupKeys(rows: SqlFragment): SqlFragment {
  return sql`SELECT (hash(${DEDUP_COLUMNS_OF_ROW}) >> 11)::DOUBLE, ${column('timestamp')}::DOUBLE, ${column('shieldZoneId')}::DOUBLE
    FROM ${rows}`;
}
