import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import duckdb from '@duckdb/node-api/package.json' with { type: 'json' };
import { pino } from 'pino';
import { takeInEvents } from '../../ingest/upload/event-intake.ts';
import { HOUR_MS } from '../../query/durations.ts';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { OLD_AFTER_MS } from '../../store/embedded/compaction/merge-choice.ts';
import { openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';
import { fileChunks, pacedChunks } from '../events/file-chunks.ts';
import type { Engine, EngineOptions } from './engine.ts';

const RETENTION_MS = 72 * HOUR_MS;
const MERGE_TRIES = 4;
/** Longer than the program leaves segments alone after a failed merge or two. */
const MERGE_WAIT_MS = 60_000;

/** Opens this project's store in this process, with its default settings. */
export async function openShieldlog({ dataDir, memoryLimitMb, remembers = false }: EngineOptions): Promise<Engine> {
  let nowMs = BENCH_NOW_MS;
  const now = () => nowMs;
  const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now }, { cachesCounts: remembers });
  const closing: (() => Promise<unknown>)[] = [];
  // Right after a bulk intake a large merge may find too little memory. The program tries it again a little later, as is done here.
  const compactedAll = async (tries = MERGE_TRIES): Promise<void> => {
    try {
      await store.compactNow();
    } catch (error) {
      if (tries === 1) throw error;
      nowMs += MERGE_WAIT_MS;
      await compactedAll(tries - 1);
    }
  };
  return {
    version: `duckdb ${duckdb.version}`,
    ingest: async ({ file, eventsPerSecond }) => {
      const chunks = eventsPerSecond === null ? fileChunks(file) : pacedChunks(file, eventsPerSecond);
      const { expired, rejectedCount } = await takeInEvents(chunks, { store, source: 'file', now, retentionMs: RETENTION_MS });
      if (expired !== 0 || rejectedCount !== 0) {
        throw new Error(`${expired} events expired and ${rejectedCount} were rejected`);
      }
    },
    // As the background jobs leave the store an hour after the last event, when its hours are merged, too.
    settle: async () => {
      nowMs = BENCH_NOW_MS + OLD_AFTER_MS;
      await store.flushNow();
      await compactedAll();
      nowMs = BENCH_NOW_MS;
    },
    search: (plan) => store.search(plan),
    explore: (plan) => store.explore(plan),
    diskBytes: () => folderBytes(dataDir),
    listen: async () => {
      const app = await buildApp({ store, config: loadConfig({}), now, logger: pino({ level: 'silent' }), kafka: null });
      closing.push(() => app.close());
      return await app.listen({ host: '127.0.0.1', port: 0 });
    },
    close: async () => {
      for (const close of closing) {
        await close();
      }
      await store.close();
    },
  };
}

/** Bytes of the files in a folder. A file with several links counts once. */
async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = await Promise.all(entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => fileAt(join(parentPath, name))));
  const sizes = new Map(found.map(({ ino, size }) => [ino, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** The file at a path; empty if it was removed in the meantime, as merged segments are. */
function fileAt(path: string): Promise<Pick<Stats, 'ino' | 'size'>> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      return { ino: 0, size: 0 };
    }
    throw error;
  });
}
