import type { DatabaseSync } from 'node:sqlite';
import type { Counters } from '../process-message.ts';
import type { Connection } from './connection.ts';
import type { PreparedStatement } from './prepare-statement.ts';
import type { TableName } from './statement-guard.ts';

/** The names of the row id in SQL. A column of the same name hides one. */
const ROWID_NAMES = ['rowid', '_rowid_', 'oid'];

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

type Columns = readonly unknown[];

function hasRowids(db: DatabaseSync, { schema, table }: TableName): boolean {
  const rows = db.prepare('SELECT "schema", type, wr FROM pragma_table_list(?)').all(table) as unknown as readonly Columns[];
  const [, type, isWithoutRowid] = rows.find(([of]) => of === schema) ?? [];
  return type !== 'view' && isWithoutRowid !== 1n;
}

/** Whether the table has a row of this id; null where all names of its row ids are hidden. */
function hasRow(db: DatabaseSync, { schema, table }: TableName, rowid: bigint): boolean | null {
  const columns = db.prepare('SELECT lower(name) FROM pragma_table_xinfo(?, ?)').all(table, schema) as unknown as readonly Columns[];
  const name = ROWID_NAMES.find((each) => !columns.some(([column]) => column === each));
  if (name === undefined) return null;
  return db.prepare(`SELECT 1 FROM ${quoted(schema)}.${quoted(table)} WHERE ${name} = ?`).get(rowid) !== undefined;
}

/** Whether the table's own definition makes rows of it give way to new ones. */
function definesReplace(db: DatabaseSync, { schema, table }: TableName): boolean {
  const found = db.prepare(`SELECT sql FROM ${quoted(schema)}.sqlite_schema WHERE type = 'table' AND name = ?`).get(table);
  const [sql = null] = (found ?? []) as unknown as Columns;
  return typeof sql === 'string' && /\breplace\b/i.test(sql);
}

/** Finds the row id that a statement inserted last, from the connection's counters `after` it. */
export type InsertedRowid = (after: Counters) => bigint | null;

/**
 * Call it before the statement runs. SQLite only tells the last row id of the connection, which stays as it is where no row with a row id
 * is inserted. A row may also get the id that it is already, such as the first of a second table. An upsert inserted none where its table
 * had a row of that id before, or has none afterwards. In doubt the answer is the connection's.
 */
export function watchInsertedRowid({ db }: Connection, { sql, effects }: PreparedStatement, before: Counters): InsertedRowid {
  const { insertsInto, isUpsert, triggersDelete } = effects;
  if (insertsInto === null) return () => null;
  const hadRow = isUpsert && hasRowids(db, insertsInto) ? hasRow(db, insertsInto, before.rowid) : null;

  function upserted(rowid: bigint, into: TableName): bigint | null {
    if (hadRow === null || triggersDelete) return rowid;
    if (hadRow) return /\breplace\b/i.test(sql) || definesReplace(db, into) ? rowid : null;
    return hasRow(db, into, rowid) === false ? null : rowid;
  }

  return (after) => {
    if (after.last === 0n) return null;
    if (after.rowid !== before.rowid) return after.rowid;
    if (!hasRowids(db, insertsInto)) return null;
    return isUpsert ? upserted(after.rowid, insertsInto) : after.rowid;
  };
}
