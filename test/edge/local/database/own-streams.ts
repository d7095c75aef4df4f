import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { KeptToken } from '../../../../edge/local/database/access-tokens.ts';
import { DATABASE_LIMITS, type DatabaseLimits } from '../../../../edge/local/database/database-limits.ts';
import { makeOpenStreams, type OpenStreams } from '../../../../edge/local/database/open-streams.ts';
import { makeProcessPool, startDatabaseProcess } from '../../../../edge/local/database/process-pool.ts';
import { readPipeline } from '../../../../edge/local/database/read-pipeline.ts';
import { runPipeline } from '../../../../edge/local/database/run-pipeline.ts';
import { type LockedWriter, makeWriteQueue } from '../../../../edge/local/database/write-queue.ts';
import type { DatabaseApp } from './database-app.ts';

interface OwnStreams {
  readonly streams: OpenStreams;
  /**
   * Runs requests on the stream of `baton`, or on a new one, and returns the answer. `through` stands for the streams. `hungUp` has aborted
   * where the caller has left.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's JSON, looked into by each test.
  ask(baton: string | null, requests: readonly unknown[], through?: OpenStreams, hungUp?: AbortSignal): Promise<any>;
  /** How often a stream has given its process back. */
  released(): number;
  /** How many processes have found the database locked. */
  waited(): number;
}

/** Streams of a test's own over the file of the app, whose inner doings it sees. They end with the test. */
export function ownStreams({ dataDir }: DatabaseApp, given: Partial<DatabaseLimits>): OwnStreams {
  const limits = { ...DATABASE_LIMITS, ...given };
  const { memoryBytes, transactionMs, queueMs, lockWaitMs, processes } = limits;
  const queue = makeWriteQueue(lockWaitMs);
  const waited = new Set<LockedWriter>();
  const writers: typeof queue = {
    ...queue,
    locked(writer) {
      waited.add(writer);
      queue.locked(writer);
    },
  };
  const start = () => startDatabaseProcess({ memoryBytes, transactionMs, writers });
  const pool = makeProcessPool({ maxProcesses: processes, queueMs, start, reclaim: () => streams.reclaim() });
  let released = 0;
  const counted: typeof pool = {
    ...pool,
    release(process) {
      released += 1;
      pool.release(process);
    },
  };
  const streams: OpenStreams = makeOpenStreams({ path: join(dataDir, 'database.sqlite'), limits, pool: counted });
  onTestFinished(async () => {
    streams.stop();
    await pool.stop();
  });
  const token: KeptToken = { hash: 'a', kind: 'full-access', created: 0 };
  return {
    streams,
    ask: async (baton, requests, through = streams, hungUp = new AbortController().signal) =>
      JSON.parse(await runPipeline(readPipeline({ baton, requests }, limits.requests), token, { streams: through, limits, hungUp })),
    released: () => released,
    waited: () => waited.size,
  };
}
