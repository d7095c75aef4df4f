import type { DuckDBConnection } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import type { TimeWindow } from '../../../query/search-plan.ts';
import type { EventRow } from '../../../query/search-result.ts';
import { exportRowsStatement, type RowKey } from '../../../sql/export-statements.ts';
import { unpackLog } from '../blob/unpack-log.ts';
import { readLogs } from '../search/log-reader.ts';
import type { SearchScope } from '../search/search-scope.ts';
import { columnsWithin } from './export-stream.ts';

/** Which rows of an export to read next. */
export interface PieceOrder {
  readonly window: TimeWindow;
  /** Those behind this one; undefined: from the first of the window on. */
  readonly after: RowKey | undefined;
  /** At least 1. */
  readonly limit: number;
  /** How many characters the rows may have together, and how many bytes their packed logs. */
  readonly maxCharacters: number;
}

/** One connection for as long as one piece takes. */
export interface PieceReader {
  readonly scope: SearchScope;
  readonly connection: DuckDBConnection;
  readonly signal: AbortSignal;
}

/**
 * Rows as they were read. Two texts a row take less memory, and less of the collector's time, than an object with twelve; `rowOf` makes
 * those of a few at a time.
 */
export interface Piece {
  /** The JSON texts of `exportRowsStatement`. */
  readonly rows: readonly string[];
  /** As they are packed. */
  readonly logs: readonly string[];
}

/** A piece, in the order of an export; undefined where it has more characters than ordered. */
export async function readPiece(reader: PieceReader, order: PieceOrder): Promise<Piece | undefined> {
  const { scope, connection, signal } = reader;
  const { window, after, limit, maxCharacters } = order;
  const statement = exportRowsStatement(scope.plan, scope.events(window), window, after, limit);
  const columns = await columnsWithin(connection, statement, maxCharacters, signal);
  if (columns === undefined) {
    return undefined;
  }
  const [rows = [], blobPointers = []] = columns as [string[], bigint[]];
  const logs = await readLogs(scope, blobPointers, maxCharacters);
  return logs && { rows, logs };
}

/** The row at an index of a piece. */
export function rowOf({ rows, logs }: Piece, index: number): EventRow {
  const [timestamp, logId, ...texts] = JSON.parse(rows[index] as string) as (string | null)[];
  const fields: Record<string, string> = {};
  for (const [place, name] of TEXT_FIELDS.entries()) {
    const text = texts[place];
    if (typeof text === 'string') {
      fields[name] = text;
    }
  }
  return { logId: logId as string, timestamp: Number(timestamp), logJson: unpackLog(logs[index] as string, fields), fields };
}
