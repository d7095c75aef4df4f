import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FastifyInstance } from 'fastify';
import type { LocalContext, LocalResource } from '../local-resource.ts';
import { DATABASE_LIMITS, type DatabaseLimits } from './database-limits.ts';
import { startDatabaseProcess } from './database-process-handle.ts';
import { makeOpenStreams, type OpenStreams } from './open-streams.ts';
import { pipelineRoutes } from './pipeline-routes.ts';
import { makeProcessPool } from './process-pool.ts';
import { openTokenStore, TOKEN_TABLES } from './token-store.ts';

/** The database's file inside DATA_DIR. */
const DATABASE_FILE = 'database.sqlite';
/** How soon a stream notices that its token was invalidated while it was using it; its next request notices by itself. */
const REVOKE_EVERY_MS = 250;

/**
 * Makes the file and its write-ahead log, which stays while this connection is open: a Read Only connection may make neither. Nothing runs
 * on it; statements run in processes of their own.
 */
function openFile(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA journal_mode = WAL');
    // In a new file, the log is opened by the first statement that reads; until then, whoever closes the database removes it.
    db.exec('SELECT 1 FROM sqlite_schema');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Of the control plane's context, what the database needs. */
type DatabaseContext = Pick<LocalContext, 'dataDir' | 'now' | 'logger'>;

interface DatabaseResource extends LocalResource {
  routes(app: FastifyInstance, context: DatabaseContext): void;
}

/** Operation 14: a database behind access tokens. Its processes and files are closed with the app. */
export function makeDatabaseResource(given: Partial<DatabaseLimits> = {}): DatabaseResource {
  const limits = { ...DATABASE_LIMITS, ...given };
  return {
    ...TOKEN_TABLES,
    routes(app, { dataDir, now, logger }) {
      const tokens = openTokenStore(dataDir, now);
      const path = join(dataDir, DATABASE_FILE);
      const file = openFile(path);
      const pool = makeProcessPool({
        most: limits.processes,
        queueMs: limits.queueMs,
        start: () => startDatabaseProcess({ tempDir: dataDir, memoryBytes: limits.memoryBytes, transactionMs: limits.transactionMs }),
        reclaim: () => streams.reclaim(),
      });
      const streams: OpenStreams = makeOpenStreams({ path, limits, pool });
      const revoking = setInterval(() => {
        if (streams.size() > 0) streams.revoke(tokens.isValid);
      }, REVOKE_EVERY_MS);
      revoking.unref();
      // A scope of its own: its errors have the shape of this operation also where nothing else answers them.
      void app.register(async (scope) => pipelineRoutes(scope, { streams, tokens, limits, logger }));
      app.addHook('onClose', async () => {
        clearInterval(revoking);
        streams.stop();
        await pool.stop();
        file.close();
        tokens.close();
      });
    },
  };
}

export const databaseResource: LocalResource = makeDatabaseResource();
