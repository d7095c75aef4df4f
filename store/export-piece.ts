import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../query/event-fields.ts';
import type { TimeWindow } from '../query/search-plan.ts';
import type { EventRow } from '../query/search-result.ts';
import { exportLogsStatement, exportRowsStatement, type RowKey } from '../sql/export-statements.ts';
import { logRow } from '../sql/segment-statements.ts';
import { columnsWithin } from './export-stream.ts';
import type { SearchScope } from './search-scope.ts';
import { StoreError } from './store-error.ts';
import { unpackLog } from './unpack-log.ts';

/** Which rows of an export to read next. */
export interface PieceOrder {
  readonly window: TimeWindow;
  /** Those behind this one; undefined: from the first of the window on. */
  readonly after: RowKey | undefined;
  /** At least 1. */
  readonly limit: number;
  /** How many characters the rows may have together, and their sealed logs by themselves. */
  readonly mostCharacters: number;
}

/** One connection for as long as one piece takes. */
export interface PieceReader {
  readonly scope: SearchScope;
  readonly connection: DuckDBConnection;
  readonly signal: AbortSignal;
}

/** Rows as they were read. Two texts a row take less memory, and less of the collector's time, than an object with twelve; `rowOf` makes those of a few at a time. */
export interface Piece {
  /** The JSON texts of `exportRowsStatement`. */
  readonly rows: readonly string[];
  /** As they are packed; null where the row has its log. */
  readonly logs: readonly (string | null)[];
}

/** A piece, in the order of an export; undefined where it has more characters than ordered. */
export async function readPiece(reader: PieceReader, order: PieceOrder): Promise<Piece | undefined> {
  const { scope, connection, signal } = reader;
  const { window, after, limit, mostCharacters } = order;
  const statement = exportRowsStatement(scope.plan, scope.events(window), window, after, limit);
  const columns = await columnsWithin(connection, statement, mostCharacters, signal);
  if (columns === undefined) {
    return undefined;
  }
  const [rows = [], places = []] = columns as [string[], (bigint | null)[]];
  const logs = await readLogs(reader, places, mostCharacters);
  return logs && { rows, logs };
}

/** The row at an index of a piece. */
export function rowOf({ rows, logs }: Piece, index: number): EventRow {
  const [timestamp, logId, log, ...texts] = JSON.parse(rows[index] as string) as (string | null)[];
  const fields: Record<string, string> = {};
  for (const [place, name] of TEXT_FIELDS.entries()) {
    const text = texts[place];
    if (typeof text === 'string') {
      fields[name] = text;
    }
  }
  const packed = logs[index] ?? null;
  const logJson = packed === null ? (log as string) : unpackLog(packed, fields);
  return { logId: logId as string, timestamp: Number(timestamp), logJson, fields };
}

/** The logs at the places, packed; null for a null one. Undefined where they have more characters than allowed. */
async function readLogs(
  { scope, connection, signal }: PieceReader,
  places: readonly (bigint | null)[],
  mostCharacters: number,
): Promise<(string | null)[] | undefined> {
  const sealed = places.filter((place) => place !== null);
  if (sealed.length === 0) {
    return places.map(() => null);
  }
  const stretches = [...Map.groupBy(sealed.map(logRow), ({ bundle }) => bundle)].map(([bundle, inBundle]) => ({
    bundle,
    path: join(scope.segmentsFolder, scope.bundle(bundle).file),
    ...bounds(inBundle.map(({ row }) => row)),
  }));
  const columns = await columnsWithin(connection, exportLogsStatement(sealed, stretches), mostCharacters, signal);
  if (columns === undefined) {
    return undefined;
  }
  const [positions = [], logs = []] = columns as [number[], string[]];
  const inOrder = new Array<string | undefined>(sealed.length).fill(undefined);
  for (const [index, position] of positions.entries()) {
    inOrder[position - 1] = logs[index];
  }
  const missing = inOrder.indexOf(undefined);
  if (missing >= 0) {
    throw new StoreError('corrupt', `there is no log at the place ${sealed[missing]}`);
  }
  const found = inOrder.values();
  return places.map((place) => (place === null ? null : (found.next().value as string)));
}

function bounds(rows: readonly bigint[]): { readonly firstRow: bigint; readonly lastRow: bigint } {
  let [firstRow, lastRow] = [Number.POSITIVE_INFINITY, 0];
  for (const row of rows) {
    firstRow = Math.min(firstRow, Number(row));
    lastRow = Math.max(lastRow, Number(row));
  }
  return { firstRow: BigInt(firstRow), lastRow: BigInt(lastRow) };
}
