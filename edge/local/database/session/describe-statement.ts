import type { Connection, Row } from './connection.ts';
import { firstKeyword } from './first-keyword.ts';
import { prepareOnly, thrownFor } from './prepare-statement.ts';
import { columnsJson } from './run-statement.ts';
import { sqlParameters } from './sql-parameters.ts';

/** Instructions that write, beside a `Transaction` whose second operand is not 0: what sqlite3_stmt_readonly() goes by. */
const WRITING: ReadonlySet<unknown> = new Set(['Checkpoint', 'IncrVacuum', 'JournalMode', 'Vacuum']);

function writes(row: Row): boolean {
  const [, opcode, , second] = row;
  return WRITING.has(opcode) || (opcode === 'Transaction' && second !== 0n);
}

/** What a statement would take and answer, in the protocol's JSON text, without running it. Throws StatementError. */
export function describeStatement(connection: Connection, sql: string): string {
  const { statement, sql: own } = prepareOnly(connection, sql, 'describe');
  const isExplain = firstKeyword(own) === 'EXPLAIN';
  try {
    connection.guard.enter('describe');
    // Explaining an explanation is a syntax error; and it only reads.
    const program = isExplain ? [] : (connection.db.prepare(`EXPLAIN ${own}`).all() as unknown as readonly Row[]);
    const params = JSON.stringify(sqlParameters(own).map((name) => ({ name })));
    return `{"params":${params},"cols":${columnsJson(statement.columns())},"is_explain":${isExplain},"is_readonly":${!program.some(writes)}}`;
  } catch (error) {
    throw thrownFor(error, connection);
  } finally {
    connection.guard.enter('run');
  }
}
