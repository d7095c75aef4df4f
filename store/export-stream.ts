import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import type { SqlStatement } from '../sql/statement.ts';
import { boundTo, interruptible, isOutOfMemory } from './duckdb-engine.ts';

/**
 * The values of a statement, column by column, where their texts have no more than `mostCharacters` together; undefined where they have more, or where DuckDB's own memory does not hold them.
 * They are taken over block by block, so that what is too much is never in memory: at most one block of rows beyond the limit is.
 * `signal` interrupts the statement; the call then rejects with the signal's reason.
 */
export async function columnsWithin(
  connection: DuckDBConnection,
  statement: SqlStatement,
  mostCharacters: number,
  signal: AbortSignal,
): Promise<DuckDBValue[][] | undefined> {
  try {
    return await interruptible(connection, signal, () => streamedColumns(connection, statement, mostCharacters));
  } catch (error) {
    if (!signal.aborted && isOutOfMemory(error)) {
      return undefined;
    }
    throw error;
  }
}

async function streamedColumns(
  connection: DuckDBConnection,
  statement: SqlStatement,
  mostCharacters: number,
): Promise<DuckDBValue[][] | undefined> {
  const result = await connection.stream(statement.text, ...boundTo(statement));
  const columns: DuckDBValue[][] = Array.from({ length: result.columnCount }, () => []);
  let characters = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    chunk.appendToColumns(columns);
    characters += charactersIn(columns, chunk.rowCount);
    if (characters > mostCharacters) {
      // A statement that is not read to its end keeps its memory until the next one begins.
      await connection.run('SELECT 1');
      return undefined;
    }
  }
  return columns;
}

/** In the last rows, so many of them. */
function charactersIn(columns: readonly (readonly DuckDBValue[])[], rows: number): number {
  let characters = 0;
  for (const column of columns) {
    for (let row = column.length - rows; row < column.length; row += 1) {
      const value = column[row];
      characters += typeof value === 'string' ? value.length : 0;
    }
  }
  return characters;
}
