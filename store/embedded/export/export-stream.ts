import type { DuckDBConnection, DuckDBDataChunk, DuckDBValue } from '@duckdb/node-api';
import type { SqlStatement } from '../../../sql/statement.ts';
import { isOutOfMemory, streamStatement } from '../duckdb/duckdb-engine.ts';

/**
 * The values of a statement, column by column, where their texts have no more than `maxCharacters` together; undefined where they have
 * more, or where DuckDB's own memory does not hold them. They are taken over block by block, so that what is too much is never in memory:
 * at most one block of rows beyond the limit is. `signal` interrupts the statement; the call then rejects with the signal's reason.
 */
export async function columnsWithin(
  connection: DuckDBConnection,
  statement: SqlStatement,
  maxCharacters: number,
  signal: AbortSignal,
): Promise<DuckDBValue[][] | undefined> {
  const columns: DuckDBValue[][] = [];
  let characters = 0;
  const take = (chunk: DuckDBDataChunk): boolean => {
    while (columns.length < chunk.columnCount) {
      columns.push([]);
    }
    chunk.appendToColumns(columns);
    characters += charactersIn(columns, chunk.rowCount);
    return characters <= maxCharacters;
  };
  try {
    return (await streamStatement(connection, statement, signal, take)) ? columns : undefined;
  } catch (error) {
    if (!signal.aborted && isOutOfMemory(error)) {
      return undefined;
    }
    throw error;
  }
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
