import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyAs } from '../../body-thread.ts';
import { EdgeError } from '../../edge-error.ts';
import { errorBody } from '../../error-shapes.ts';
import { whenCallerLeaves } from '../../leaving-callers.ts';
import { failureFacts } from '../../operation-input.ts';
import { CURSOR_TYPE } from '../../operations/database.ts';
import type { EdgeLogger, LocalContext, LocalResource } from '../local-resource.ts';
import { type KeptToken, openTokenStore, requireToken, TOKEN_TABLES, type TokenStore } from './access-tokens.ts';
import { DATABASE_LIMITS, type DatabaseLimits } from './database-limits.ts';
import { makeOpenStreams, type OpenStreams } from './open-streams.ts';
import { makeProcessPool, startDatabaseProcess } from './process-pool.ts';
import { readCursor, readPipeline } from './read-pipeline.ts';
import { runCursor, runPipeline, type StreamOptions } from './run-pipeline.ts';
import { makeWriteQueue } from './write-queue.ts';

interface ProtocolRoutesOptions {
  readonly streams: OpenStreams;
  readonly tokens: TokenStore;
  readonly limits: DatabaseLimits;
  readonly logger: EdgeLogger;
}

/** @libsql/client reads an error's code only where the type is exactly this. Fastify would add a charset to a string. */
function sendBare(reply: FastifyReply, type: string, body: string): FastifyReply {
  return reply.header('content-type', type).send(Buffer.from(body));
}

function answerError(error: FastifyError | EdgeError, request: FastifyRequest, reply: FastifyReply, logger: EdgeLogger): FastifyReply {
  const facts = { reqId: request.id, ...failureFacts(error, request) };
  const send = (status: number, key: string, message: string): FastifyReply => {
    return sendBare(reply.code(status), 'application/json', errorBody('pipeline', { status, key, message }).body);
  };
  if (error instanceof EdgeError) {
    if (error.status >= 500) logger.warn(facts, 'a pipeline was refused');
    reply.headers(error.headers);
    return send(error.status, error.key, error.message);
  }
  const status = error.statusCode ?? 500;
  if (status < 500) return send(status, error.code ?? 'REQUEST_INVALID', error.message);
  logger.error(facts, 'a pipeline failed');
  return send(500, 'INTERNAL_ERROR', 'the pipeline failed for a reason of the program itself; its log says more');
}

function hangUpSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  whenCallerLeaves(raw, () => controller.abort());
  return controller.signal;
}

/** The two ways of the protocol to run statements, and the type of their answers. */
const RUNS = {
  pipeline: {
    answerType: 'application/json',
    run: (body, token, options) =>
      runPipeline(
        bodyAs(body, (each) => readPipeline(each, options.limits.requests)),
        token,
        options,
      ),
  },
  cursor: {
    answerType: CURSOR_TYPE,
    run: (body, token, options) => runCursor(bodyAs(body, readCursor), token, options),
  },
} as const satisfies Readonly<
  Record<
    string,
    { readonly answerType: string; readonly run: (body: unknown, token: KeptToken, options: StreamOptions) => Promise<string> }
  >
>;

/** Versions 2 and 3 of the protocol, whose pipelines are the same; `GET /v2` and `GET /v3` tell clients that they are spoken. */
function protocolRoutes(app: FastifyInstance, { streams, tokens, limits, logger }: ProtocolRoutesOptions): void {
  const callers = new WeakMap<FastifyRequest, KeptToken>();
  app.setErrorHandler<FastifyError | EdgeError>((error, request, reply) => answerError(error, request, reply, logger));
  const routes = [
    ['/v2/pipeline', RUNS.pipeline],
    ['/v3/pipeline', RUNS.pipeline],
    ['/v3/cursor', RUNS.cursor],
  ] as const;
  for (const version of [2, 3]) {
    app.get(`/v${version}`, { exposeHeadRoute: false }, (_request, reply) => sendBare(reply, 'application/json', `{"version":${version}}`));
  }
  for (const [url, { answerType, run }] of routes) {
    app.route({
      method: 'POST',
      url,
      bodyLimit: limits.bodyBytes,
      // This runs before the body is read, so that callers without a token do not make the program read eight megabytes.
      onRequest: async (request) => {
        callers.set(request, requireToken(request.headers.authorization, tokens));
      },
      handler: async (request, reply) => {
        const token = callers.get(request) ?? requireToken(request.headers.authorization, tokens);
        return sendBare(reply, answerType, await run(request.body, token, { streams, limits, hungUp: hangUpSignal(reply) }));
      },
    });
  }
}

/** The database's file inside DATA_DIR. */
export const DATABASE_FILE = 'database.sqlite';
/** How soon a stream in use notices that its token was invalidated, in milliseconds. Its next request notices at once. */
const REVOKE_EVERY_MS = 250;

/**
 * Makes the database's file and its write-ahead log, which exists while this connection is open: a Read Only connection can make neither.
 * Statements run in other processes.
 */
function openFile(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA journal_mode = WAL');
    // The first reading statement makes the log of a new file. Without a log, the process that closes the database removes it.
    db.exec('SELECT 1 FROM sqlite_schema');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

type DatabaseContext = Pick<LocalContext, 'dataDir' | 'now' | 'logger'>;

interface DatabaseResource extends LocalResource {
  routes(app: FastifyInstance, context: DatabaseContext): void;
}

/** Answers operation 14 and the calls beside it: the database, behind access tokens. Its processes and files are closed with the app. */
export function makeDatabaseResource(given: Partial<DatabaseLimits> = {}): DatabaseResource {
  const limits = { ...DATABASE_LIMITS, ...given };
  return {
    ...TOKEN_TABLES,
    routes(app, { dataDir, now, logger }) {
      const tokens = openTokenStore(dataDir, now);
      const path = join(dataDir, DATABASE_FILE);
      const file = openFile(path);
      const writers = makeWriteQueue(limits.lockWaitMs);
      const pool = makeProcessPool({
        maxProcesses: limits.processes,
        queueMs: limits.queueMs,
        start: () =>
          startDatabaseProcess({
            memoryBytes: limits.memoryBytes,
            transactionMs: limits.transactionMs,
            writers,
          }),
        reclaim: () => streams.reclaim(),
      });
      const streams: OpenStreams = makeOpenStreams({ path, limits, pool });
      const revoking = setInterval(() => {
        if (streams.size() > 0) streams.revoke(tokens.isValid);
      }, REVOKE_EVERY_MS);
      revoking.unref();
      // A scope of its own, so that its errors have the shape of this operation.
      void app.register(async (scope) => protocolRoutes(scope, { streams, tokens, limits, logger }));
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
