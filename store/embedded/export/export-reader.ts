import { setTimeout as delay } from 'node:timers/promises';
import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import type { EventRow } from '../../../query/plan/search-result.ts';
import { StoreError } from '../../event-store.ts';
import type { ConnectionPool, HeldConnection } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { CheckSegments, SegmentChecks } from '../integrity/segment-checks.ts';
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

/** Milliseconds after which an export that was refused for too many waiting searches asks again. */
const ASK_AGAIN_MS = 100;

/** So many rows are made at a time, which takes a millisecond or so. */
const ROWS_AT_ONCE = 256;

/**
 * Every matching event as of now, newest first, then by `logId`, piece by piece. A connection is held for one piece at a time, so that a
 * slow reader keeps no search waiting; the next piece is read while the caller handles this one. The parts that hold the events stay
 * readable until the last piece, `return`, or the end of the signal.
 */
export async function* exportRows(
  plan: SearchPlan,
  { versions, searchers, aliases, checks, readings }: ExportSource,
  endedBy: AbortSignal | undefined,
): AsyncGenerator<readonly EventRow[], void, void> {
  const reading = readings.begin(endedBy);
  const { signal: ended } = reading;
  const abandoned = new AbortController();
  const signal = AbortSignal.any([ended, abandoned.signal]);
  const snapshot = versions.snapshot();
  const cursor = new ExportCursor(plan, { snapshot, aliases });
  const readAhead = (isUnderWay: boolean): Promise<Piece | undefined> => {
    const piece = checks.reading(signal, (check) => nextPiece(cursor, searchers, check, isUnderWay, signal));
    // The piece is awaited when the caller asks for it, which may be never.
    piece.catch(() => {});
    return piece;
  };
  let next = readAhead(false);
  const free = async (): Promise<void> => {
    await Promise.allSettled([next]);
    snapshot[Symbol.dispose]();
    reading[Symbol.dispose]();
  };
  ended.addEventListener('abort', free, { once: true });
  try {
    for (let piece = await next; piece !== undefined; piece = await next) {
      next = readAhead(true);
      for (let from = 0; from < piece.rows.length; from += ROWS_AT_ONCE) {
        yield rowsBetween(piece, from, Math.min(from + ROWS_AT_ONCE, piece.rows.length));
        ended.throwIfAborted();
      }
    }
  } finally {
    ended.removeEventListener('abort', free);
    abandoned.abort();
    await free();
  }
}

function rowsBetween(piece: Piece, from: number, to: number): EventRow[] {
  return Array.from({ length: to - from }, (_, index) => rowOf(piece, from + index));
}

async function nextPiece(
  cursor: ExportCursor,
  searchers: ConnectionPool,
  check: CheckSegments,
  isUnderWay: boolean,
  signal: AbortSignal,
): Promise<Piece | undefined> {
  using connection = await connectionInTurn(searchers, isUnderWay, signal);
  return await cursor.next({ runner: connection.runner, check, signal });
}

/** A connection of the pool. An export that is under way asks again where it is refused because too many searches wait. */
async function connectionInTurn(searchers: ConnectionPool, isUnderWay: boolean, signal: AbortSignal): Promise<HeldConnection> {
  for (;;) {
    try {
      return await searchers.acquire(signal);
    } catch (error) {
      const isRefused = error instanceof StoreError && error.code === 'overloaded';
      if (!isUnderWay || !isRefused) {
        throw error;
      }
    }
    await delay(ASK_AGAIN_MS);
  }
}
