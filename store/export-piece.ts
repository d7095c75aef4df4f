import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../query/event-fields.ts';
import type { TimeWindow } from '../query/search-plan.ts';
import type { EventRow } from '../query/search-result.ts';
import { exportLogsStatement, exportRowsStatement, type RowKey } from '../sql/export-statements.ts';
import { logRow } from '../sql/segment-statements.ts';
import { rowsWithin } from './export-stream.ts';
import type { SearchScope } from './search-scope.ts';
import { StoreError } from './store-error.ts';

/** Which rows of an export to read next. */
export interface PieceOrder {
  readonly window: TimeWindow;
  /** Those behind this one; undefined: from the first of the window on. */
  readonly after: RowKey | undefined;
  /** At least 1. */
  readonly limit: number;
  /** How many characters the rows may have together; their logs count by themselves. */
  readonly mostCharacters: number;
}

/** One connection for as long as one piece takes. */
export interface PieceReader {
  readonly scope: SearchScope;
  readonly connection: DuckDBConnection;
  readonly signal: AbortSignal;
}

/** A row as it was found: it has its log, or the place of its log. */
interface FoundRow {
  readonly row: Omit<EventRow, 'logJson'>;
  readonly log: string | null;
  readonly place: bigint | null;
}

/** The rows with their logs, in the order of an export; undefined where they have more characters than ordered. */
export async function readPiece(reader: PieceReader, order: PieceOrder): Promise<EventRow[] | undefined> {
  const { scope, connection, signal } = reader;
  const { window, after, limit, mostCharacters } = order;
  const statement = exportRowsStatement(scope.plan, scope.events(window), window, after, limit);
  const found = (await rowsWithin(connection, statement, mostCharacters, signal))?.map(([json]) => foundRow(json as string));
  const logs = found === undefined ? undefined : await readLogs(reader, found, mostCharacters);
  return logs && found?.map(({ row, log, place }) => ({ ...row, logJson: log ?? logOf(logs, place) }));
}

function foundRow(json: string): FoundRow {
  const [timestamp, logId, place, log, ...texts] = JSON.parse(json) as (string | null)[];
  const fields: Record<string, string> = {};
  for (const [index, name] of TEXT_FIELDS.entries()) {
    const text = texts[index];
    if (typeof text === 'string') {
      fields[name] = text;
    }
  }
  return {
    row: { logId: logId as string, timestamp: Number(timestamp), fields },
    log: log ?? null,
    place: place == null ? null : BigInt(place),
  };
}

/** The logs of the sealed rows, by their place. */
async function readLogs(
  { scope, connection, signal }: PieceReader,
  found: readonly FoundRow[],
  mostCharacters: number,
): Promise<Map<bigint, string> | undefined> {
  const places = found.flatMap(({ place }) => (place === null ? [] : [place]));
  if (places.length === 0) {
    return new Map();
  }
  const stretches = [...Map.groupBy(places.map(logRow), ({ bundle }) => bundle)].map(([bundle, inBundle]) => ({
    bundle,
    path: join(scope.segmentsFolder, scope.bundle(bundle).file),
    ...bounds(inBundle.map(({ row }) => row)),
  }));
  const rows = await rowsWithin(connection, exportLogsStatement(places, stretches), mostCharacters, signal);
  return rows && new Map(rows.map(([position, log]) => [places[Number(position) - 1] as bigint, log as string]));
}

function bounds(rows: readonly bigint[]): { readonly firstRow: bigint; readonly lastRow: bigint } {
  let [firstRow, lastRow] = [Number.POSITIVE_INFINITY, 0];
  for (const row of rows) {
    firstRow = Math.min(firstRow, Number(row));
    lastRow = Math.max(lastRow, Number(row));
  }
  return { firstRow: BigInt(firstRow), lastRow: BigInt(lastRow) };
}

function logOf(logs: ReadonlyMap<bigint, string>, place: bigint | null): string {
  const log = place === null ? undefined : logs.get(place);
  if (log === undefined) {
    throw new StoreError('corrupt', `there is no log at the place ${place}`);
  }
  return log;
}
