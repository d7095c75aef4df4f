import type { StatementColumnMetadata } from 'node:sqlite';
import { valueJson } from '../sql-value.ts';
import { StatementError } from '../statement-error.ts';
import type { StatementPlan } from '../stream-plan.ts';
import { type BoundArguments, bindArguments } from './bind-arguments.ts';
import type { Connection, Row } from './connection.ts';
import { type PreparedStatement, prepareOnly, thrownFor } from './prepare-statement.ts';

/** What is left of the limits of an answer; `bytes` shrinks as results are written. */
export interface AnswerBudget {
  readonly rows: number;
  bytes: number;
}

/** What stands in every result beside its columns and rows. */
const RESULT_BYTES = 256;

/** Takes bytes off the budget. Throws StatementError `RESPONSE_TOO_LARGE` with `otherwise` where it has fewer. */
export function charge(budget: AnswerBudget, bytes: number, otherwise: string): void {
  if (bytes > budget.bytes) throw new StatementError('RESPONSE_TOO_LARGE', otherwise);
  budget.bytes -= bytes;
}

/** libsql's own way to begin a transaction that only reads; to SQLite, READONLY is the transaction's name. */
const BEGIN_READ_ONLY = /^[\s;]*BEGIN\s+TRANSACTION\s+READONLY[\s;]*$/i;

/** The columns of a prepared statement, in JSON text. */
export function columnsJson(columns: readonly StatementColumnMetadata[]): string {
  return JSON.stringify(columns.map(({ name, type }) => ({ name, decltype: type })));
}

const ROWS_TOO_LARGE = 'the statement changed nothing: its rows would make the answer larger than is allowed; ask for fewer with LIMIT';

/** No more than its JSON text has. */
function minBytes(row: Row): number {
  let bytes = 0;
  for (const value of row) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length;
  return bytes;
}

function rowJson(row: Row, budget: AnswerBudget): string {
  // A row of hundreds of large values is not copied into a text first.
  if (minBytes(row) > budget.bytes) throw new StatementError('RESPONSE_TOO_LARGE', ROWS_TOO_LARGE);
  const json = `[${row.map(valueJson).join(',')}]`;
  charge(budget, Buffer.byteLength(json) + 1, ROWS_TOO_LARGE);
  return json;
}

/** Runs to the end; the rows as JSON texts, or none where they are not wanted. Closes the statement in every case. */
function step({ statement }: PreparedStatement, bound: BoundArguments, wantRows: boolean, budget: AnswerBudget): readonly string[] {
  const rows: string[] = [];
  for (const row of statement.iterate(bound.named, ...bound.positional)) {
    if (!wantRows) continue;
    if (rows.length === budget.rows) {
      throw new StatementError(
        'RESPONSE_TOO_LARGE',
        `the statement changed nothing: it answers more than ${budget.rows} rows; ask for fewer with LIMIT`,
      );
    }
    rows.push(rowJson(row as unknown as Row, budget));
  }
  return rows;
}

/** Runs what was prepared. Throws StatementError, or ForbiddenWrite; a statement that throws has changed nothing. */
export function runPrepared(
  connection: Connection,
  prepared: PreparedStatement,
  bound: BoundArguments,
  wantRows: boolean,
  budget: AnswerBudget,
): readonly string[] {
  const { db, guard, log } = connection;
  const onlyReads = BEGIN_READ_ONLY.test(prepared.sql);
  const run = (): readonly string[] => step(prepared, bound, wantRows, budget);
  try {
    if (!onlyReads) log.makeRoom(prepared.effects);
    // RETURNING: the engine has changed everything before the first row, which may turn out to be too large to answer.
    const returning = prepared.effects.changesRows && prepared.statement.columns().length > 0;
    const rows = returning ? connection.atomically(run) : run();
    if (onlyReads) guard.setReadOnlyTransaction(true);
    return rows;
  } catch (error) {
    throw thrownFor(error, connection);
  } finally {
    if (!db.isTransaction) guard.setReadOnlyTransaction(false);
    connection.followTransaction();
  }
}

/** Runs one statement; its result as the protocol's JSON text. Throws StatementError, or ForbiddenWrite. */
export function executeStatement(connection: Connection, plan: StatementPlan, budget: AnswerBudget): string {
  const startedAt = performance.now();
  const prepared = prepareOnly(connection, plan.sql);
  const columns = columnsJson(prepared.statement.columns());
  charge(
    budget,
    Buffer.byteLength(columns) + RESULT_BYTES,
    'the statement was not run: the names of its columns would make the answer larger than is allowed',
  );
  const before = connection.counters();
  const rows = runPrepared(connection, prepared, bindArguments(prepared.sql, plan), plan.wantRows, budget);
  const after = connection.counters();
  const { inserts, changesRows } = prepared.effects;
  const changed = after.total !== before.total;
  const rowid = inserts && changed ? `"${after.rowid}"` : 'null';
  return (
    `{"cols":${columns},"rows":[${rows.join(',')}],` +
    `"affected_row_count":${changesRows && changed ? after.last : 0},"last_insert_rowid":${rowid},` +
    `"rows_read":${rows.length},"rows_written":${after.total - before.total},` +
    `"query_duration_ms":${(performance.now() - startedAt).toFixed(3)}}`
  );
}
