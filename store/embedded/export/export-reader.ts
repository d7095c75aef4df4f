import { setTimeout as delay } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchPlan } from '../../../query/search-plan.ts';
import type { EventRow } from '../../../query/search-result.ts';
import { StoreError } from '../../store-error.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { ExportCursor } from './export-cursor.ts';
import { type Piece, rowOf } from './export-piece.ts';

export interface ExportSource {
  readonly versions: VersionSet;
  readonly searchers: ConnectionPool;
  readonly aliases: PathAliases;
  /** Runs `work` with the signal that ends it; the store stays open until it has ended. */
  readonly whileOpen: (work: (ended: AbortSignal) => Promise<void>) => Promise<void>;
}

/** How long an export that has begun waits before it asks again for its turn among too many searches. */
const ASK_AGAIN_MS = 100;

/** So many rows are made at a time: they take a millisecond or so. */
const ROWS_AT_ONCE = 256;

/**
 * Every matching event as of now, newest first, then by `logId`, piece by piece. A connection is held for one piece at a time, so that a
 * slow reader keeps no search waiting; the next piece is read while this one is dealt with. What the events lie in stays readable until the
 * last piece, `return`, or the end of the signal.
 */
export async function* exportRows(plan: SearchPlan, source: ExportSource): AsyncGenerator<readonly EventRow[], void, void> {
  const { versions, searchers, aliases, whileOpen } = source;
  const freed = Promise.withResolvers<void>();
  let ended!: AbortSignal;
  const open = whileOpen((signal) => {
    ended = signal;
    return freed.promise;
  });
  const abandoned = new AbortController();
  const signal = AbortSignal.any([ended, abandoned.signal]);
  const snapshot = versions.snapshot();
  const cursor = new ExportCursor(plan, snapshot, aliases);
  let pieces = 0;
  const readAhead = (): Promise<Piece | undefined> => {
    pieces += 1;
    const piece = inTurn(searchers, pieces > 1, signal, (connection) => cursor.next(connection, signal));
    // It is awaited when it is wanted, which may be never.
    piece.catch(() => {});
    return piece;
  };
  let next = readAhead();
  const free = async (): Promise<void> => {
    await Promise.allSettled([next]);
    snapshot.release();
    freed.resolve();
  };
  ended.addEventListener('abort', free, { once: true });
  try {
    for (let piece = await next; piece !== undefined; piece = await next) {
      next = readAhead();
      for (let from = 0; from < piece.rows.length; from += ROWS_AT_ONCE) {
        yield rowsBetween(piece, from, Math.min(from + ROWS_AT_ONCE, piece.rows.length));
        ended.throwIfAborted();
      }
    }
  } finally {
    ended.removeEventListener('abort', free);
    abandoned.abort();
    await free();
    await open;
  }
}

function rowsBetween(piece: Piece, from: number, to: number): EventRow[] {
  return Array.from({ length: to - from }, (_, index) => rowOf(piece, from + index));
}

/** An export that is under way is not given up because too many searches wait: it asks again. */
async function inTurn<T>(
  searchers: ConnectionPool,
  isUnderWay: boolean,
  signal: AbortSignal,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  for (;;) {
    let hasBegun = false;
    try {
      return await searchers.use((connection) => {
        hasBegun = true;
        return work(connection);
      }, signal);
    } catch (error) {
      const isRefused = error instanceof StoreError && error.code === 'overloaded' && !hasBegun;
      if (!isUnderWay || !isRefused) {
        throw error;
      }
    }
    await delay(ASK_AGAIN_MS);
  }
}
