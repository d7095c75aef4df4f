import { columnDefinitions, columnList, JOURNAL_COLUMNS, rowsOfFiles } from './columns.ts';
import { duckdbStatement } from './dialect.ts';
import { type SqlStatement, sql, trusted } from './statement.ts';

/** Statements that make, fill and drop memtables. The store makes up table names. `duplicate-statements.ts` keeps duplicates out. */

export function createMemtableStatement(table: string): SqlStatement {
  return duckdbStatement(sql`CREATE TABLE ${trusted(table)} (${columnDefinitions(JOURNAL_COLUMNS)})`);
}

export function dropTableStatement(table: string): SqlStatement {
  return duckdbStatement(sql`DROP TABLE IF EXISTS ${trusted(table)}`);
}

/** Copies all events of a journal into a memtable. */
export function insertStatement(table: string, path: string): SqlStatement {
  return duckdbStatement(sql`INSERT INTO ${trusted(table)} SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${rowsOfFiles([path])}`);
}
