import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import type { RowPiece } from '../../../query/plan/search-result.ts';
import { type CountedRange, MOST_ROWS_AT_ONCE, newestLast, takeNewest } from '../../counted-ranges.ts';
import { PIECE_BYTES } from '../../event-store.ts';
import type { Readings } from '../../readings.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import { countBySlot } from '../search/page-location.ts';
import { type ReadRows, RowCursor, RowPieces } from '../search/row-pieces.ts';
import { SearchScope } from '../search/search-scope.ts';
import type { VersionSet } from '../snapshot/version-set.ts';

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
  const cursor = new ExportCursor();
  const read = (signal: AbortSignal) =>
    checks.reading(signal, async (check) => {
      using connection = await searchers.acquire(signal);
      return await cursor.next(await SearchScope.open(plan, { snapshot, aliases, check, runner: connection.runner, signal }));
    });
  yield* new RowPieces({ read, ended, held });
}

/** The first piece is small, because a client waits for it, and the size of the events is not known yet. */
const FIRST_ROWS = 1_024;

/** Reads the matching events of a snapshot piece by piece: each call of `next` reads the following one. */
class ExportCursor {
  /** The disjoint ranges still to come. The newest, which comes next, is the last. Undefined until they are counted. */
  #ahead: CountedRange[] | undefined;
  /** The window that is being read; undefined before the first, and where none is to be read on. */
  #window: RowCursor | undefined;
  #rows = FIRST_ROWS;

  /** Reads the next rows in the order of answers (`sql/row-statements.ts`); undefined where there are none. Calls must not overlap. */
  async next(scope: SearchScope): Promise<ReadRows | undefined> {
    const isFirst = this.#ahead === undefined;
    try {
      if (this.#window === undefined || this.#window.left === 0) {
        this.#ahead ??= newestLast(await countBySlot(scope, scope.plan.window));
        const window = await takeNewest(this.#ahead, (newest) => countBySlot(scope, newest));
        this.#window = window && new RowCursor(window, 0, window.events);
      }
      return this.#window && (await this.#readPiece(scope, this.#window));
    } catch (error) {
      // The next call may find fewer segments whole.
      if (isFirst) {
        this.#ahead = undefined;
        this.#window = undefined;
      }
      throw error;
    }
  }

  async #readPiece(scope: SearchScope, window: RowCursor): Promise<ReadRows> {
    const piece = await window.next(scope, this.#rows, this.#ahead?.length === 0);
    // Half of the rows that would just fit, because the next events may be larger.
    const fitting = Math.floor((PIECE_BYTES * piece.length) / (2 * piece.bytes));
    this.#rows = Math.max(1, Math.min(MOST_ROWS_AT_ONCE, this.#rows * 2, fitting));
    return piece;
  }
}
