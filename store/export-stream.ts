import {
  BIGINT,
  type DuckDBConnection,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  LIST,
  listValue,
  UBIGINT,
  VARCHAR,
} from '@duckdb/node-api';
import type { SqlParam, SqlType } from '../sql/fragment.ts';
import type { SqlStatement } from '../sql/statement.ts';

const TYPES: Readonly<Record<SqlType, DuckDBType>> = { VARCHAR, 'VARCHAR[]': LIST(VARCHAR), INTEGER, BIGINT, UBIGINT };

/** An interrupt that comes before the engine has begun the query is lost, so it is repeated until the query has ended. */
const INTERRUPT_EVERY_MS = 10;

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
  signal.throwIfAborted();
  let repeated: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    repeated = setInterval(() => connection.interrupt(), INTERRUPT_EVERY_MS);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    return await streamedColumns(connection, statement, mostCharacters);
  } catch (error) {
    signal.throwIfAborted();
    if (isOutOfMemory(error)) {
      return undefined;
    }
    throw error;
  } finally {
    signal.removeEventListener('abort', interrupt);
    clearInterval(repeated);
  }
}

async function streamedColumns(
  connection: DuckDBConnection,
  statement: SqlStatement,
  mostCharacters: number,
): Promise<DuckDBValue[][] | undefined> {
  const types = statement.params.map(({ type }) => TYPES[type]);
  const result = await connection.stream(statement.text, statement.params.map(boundValue), types);
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

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Memory Error');
}

function boundValue({ value }: SqlParam): DuckDBValue {
  return typeof value === 'object' ? listValue(value as string[]) : value;
}
