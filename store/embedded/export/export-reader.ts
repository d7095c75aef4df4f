import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import type { RowPiece } from '../../../query/plan/search-result.ts';
import type { Readings } from '../../readings.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import { RowPieces } from '../search/row-pieces.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { ExportCursor } from './export-cursor.ts';

export interface ExportSource {
  readonly versions: VersionSet;
  readonly searchers: ConnectionPool;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  readonly readings: Readings;
}

/**
 * Every matching event as of the first request, newest first, then by `logId`, piece by piece. Each request for more is one read, on a
 * connection that is held for it alone. The parts that hold the events stay readable until the last piece, `return`, or the end of the
 * signal.
 */
export async function* exportRows(
  plan: SearchPlan,
  { versions, searchers, aliases, checks, readings }: ExportSource,
  endedBy: AbortSignal | undefined,
): AsyncGenerator<RowPiece, void, void> {
  const held = new DisposableStack();
  const { signal: ended } = held.use(readings.begin(endedBy));
  const snapshot = held.use(versions.snapshot());
  const cursor = new ExportCursor(plan, { snapshot, aliases });
  const read = (signal: AbortSignal) =>
    checks.reading(signal, async (check) => {
      using connection = await searchers.acquire(signal);
      return await cursor.next({ runner: connection.runner, check, signal });
    });
  yield* new RowPieces({ read, ended, held });
}
