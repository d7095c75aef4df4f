import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import type { EventRow } from '../../../query/plan/search-result.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import type { Readings } from '../runtime/readings.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { ExportCursor } from './export-cursor.ts';
import { type Piece, rowOf } from './export-piece.ts';

export interface ExportSource {
  readonly versions: VersionSet;
  readonly searchers: ConnectionPool;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  readonly readings: Readings;
}

/**
 * Every matching event as of now, newest first, then by `logId`, piece by piece. Each request for more is one read, on a connection that is
 * held for it alone. The parts that hold the events stay readable until the last piece, `return`, or the end of the signal.
 */
export async function* exportRows(
  plan: SearchPlan,
  { versions, searchers, aliases, checks, readings }: ExportSource,
  endedBy: AbortSignal | undefined,
): AsyncGenerator<Iterable<EventRow>, void, void> {
  const reading = readings.begin(endedBy);
  const { signal } = reading;
  const snapshot = versions.snapshot();
  const cursor = new ExportCursor(plan, { snapshot, aliases });
  let underWay: Promise<unknown> = Promise.resolve();
  const readPiece = (): Promise<Piece | undefined> => {
    const piece = checks.reading(signal, async (check) => {
      using connection = await searchers.acquire(signal);
      return await cursor.next({ runner: connection.runner, check, signal });
    });
    underWay = piece;
    return piece;
  };
  const free = async (): Promise<void> => {
    await Promise.allSettled([underWay]);
    snapshot[Symbol.dispose]();
    reading[Symbol.dispose]();
  };
  // The caller may never ask again.
  signal.addEventListener('abort', free, { once: true });
  try {
    for (let piece = await readPiece(); piece !== undefined; piece = await readPiece()) {
      yield rowsOf(piece);
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', free);
    await free();
  }
}

/** Makes each row when it is asked for: fewer objects are in memory. */
function* rowsOf(piece: Piece): Iterable<EventRow> {
  for (let index = 0; index < piece.rows.length; index += 1) {
    yield rowOf(piece, index);
  }
}
