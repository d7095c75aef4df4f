import type { DuckDBDataChunk, DuckDBValue } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import type { TimeWindow } from '../../../query/plan/search-plan.ts';
import type { EventRow } from '../../../query/plan/search-result.ts';
import { exportRowsStatement, type RowKey } from '../../../sql/row-statements.ts';
import type { SqlStatement } from '../../../sql/statement.ts';
import { unpackLog } from '../blob/unpacked-log.ts';
import { isOutOfMemory } from '../duckdb/memory-ladder.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import { readLogs } from '../search/log-reader.ts';
import type { SearchScope } from '../search/search-scope.ts';

/** The rows of an export to read next. */
export interface PieceOrder {
  readonly window: TimeWindow;
  /** The rows behind this one; undefined: from the first of the window on. */
  readonly after: RowKey | undefined;
  /** At least 1. */
  readonly limit: number;
  /** The most characters of the rows together, and the most bytes of their packed logs. */
  readonly maxCharacters: number;
}

/**
 * Rows as they were read. A text and the bytes of a log take less memory, and less of the garbage collector's time, than an object with
 * twelve fields; `rowOf` makes the objects of a few rows at a time.
 */
export interface Piece {
  /** JSON texts, see `exportRowsStatement`. */
  readonly rows: readonly string[];
  /** Packed logs, see `query/packed-log.ts`. */
  readonly logs: readonly Buffer[];
}

/** Reads a piece in the order of an export; undefined where it has more characters than ordered, or DuckDB has no memory for it. */
export async function readPiece(scope: SearchScope, order: PieceOrder): Promise<Piece | undefined> {
  const { window, after, limit, maxCharacters } = order;
  const statement = exportRowsStatement(scope.plan, scope.events(window), window, after, limit);
  const columns = await columnsWithin(scope.runner, statement, maxCharacters);
  if (columns === undefined) {
    return undefined;
  }
  const [rows = [], blobPointers = []] = columns as [string[], bigint[]];
  const logs = await readLogs(scope, blobPointers, maxCharacters);
  return logs && { rows, logs };
}

/** The row at an index of a piece. */
export function rowOf({ rows, logs }: Piece, index: number): EventRow {
  const [timestamp, logId, zoneId, ...texts] = JSON.parse(rows[index] as string) as (string | null)[];
  const fields: Record<string, string> = {};
  for (const [field, name] of TEXT_FIELDS.entries()) {
    const text = texts[field];
    if (typeof text === 'string') {
      fields[name] = text;
    }
  }
  return {
    zoneId: Number(zoneId),
    logId: logId as string,
    timestamp: Number(timestamp),
    log: unpackLog(logs[index] as Buffer, fields),
    fields,
  };
}

/**
 * The values of a statement, column by column; undefined where their texts have more than `maxCharacters` together, or where DuckDB's
 * memory is not enough. They are taken block by block, so that no more than one block beyond the limit is in memory.
 */
async function columnsWithin(
  runner: StatementRunner,
  statement: SqlStatement,
  maxCharacters: number,
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
    return (await runner.stream(statement, take)) ? columns : undefined;
  } catch (error) {
    if (isOutOfMemory(error)) {
      return undefined;
    }
    throw error;
  }
}

/** The characters of the last `rows` rows. */
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
