import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyAs } from '../../body-thread.ts';
import { EdgeError } from '../../edge-error.ts';
import { errorBody } from '../../error-shapes.ts';
import type { EdgeLogger, LocalContext, LocalResource } from '../local-resource.ts';
import { type KeptToken, openTokenStore, requireToken, TOKEN_TABLES, type TokenStore } from './access-tokens.ts';
import { DATABASE_LIMITS, type DatabaseLimits } from './database-limits.ts';
import { type DatabaseStream, goneCode, makeOpenStreams, type OpenStreams, revokedError } from './open-streams.ts';
import { makeProcessPool, ProcessGone, startDatabaseProcess } from './process-pool.ts';
import { type OwnRequest, type ReadPipeline, type ReadRequest, readPipeline } from './read-pipeline.ts';
import { errorJson, StatementError } from './stream-plan.ts';

const errorResult = (error: { readonly message: string; readonly code: string }): string => `{"type":"error","error":${errorJson(error)}}`;
const okResult = (type: string): string => `{"type":"ok","response":{"type":"${type}"}}`;

/** The options of one pipeline. Every item is run, also after a failed one. */
interface PipelineOptions {
  readonly streams: OpenStreams;
  readonly limits: DatabaseLimits;
  /** The caller went away. It would never get the baton, so its work is stopped. */
  readonly hungUp: AbortSignal;
}

async function runOwn(streams: OpenStreams, stream: DatabaseStream, path: string, request: OwnRequest): Promise<string> {
  switch (request.kind) {
    case 'store-sql':
      stream.sqls.store(path, request.sqlId, request.sql);
      return okResult('store_sql');
    case 'close-sql':
      stream.sqls.close(request.sqlId);
      return okResult('close_sql');
    case 'close':
      await streams.close(stream);
      return okResult('close');
  }
}

async function runOne(streams: OpenStreams, stream: DatabaseStream, path: string, request: ReadRequest, bytes: number): Promise<string> {
  if (stream.ended() === 'revoked') throw revokedError();
  if (stream.ended() !== null) return errorResult({ code: 'STREAM_CLOSED', message: `${path} comes after the end of its stream` });
  try {
    if (request.kind === 'wrong') return errorResult(request);
    if (request.kind !== 'plan') return await runOwn(streams, stream, path, request);
    const { json, forbidden } = await streams.run(stream, request, bytes);
    if (forbidden !== null) throw new EdgeError(403, forbidden.code, forbidden.message);
    return json;
  } catch (error) {
    if (error instanceof StatementError) return errorResult(error);
    if (error instanceof ProcessGone) {
      return errorResult({
        code: goneCode(error),
        message: `${error.message}; its stream is closed and what was not committed is rolled back`,
      });
    }
    throw error;
  }
}

/**
 * Runs a pipeline for the holder of `token` and returns the body of the answer as JSON text. Throws EdgeError where the whole pipeline is
 * refused; the stream is closed then.
 */
export async function runPipeline(
  { baton, requests }: ReadPipeline,
  token: KeptToken,
  { streams, limits, hungUp }: PipelineOptions,
): Promise<string> {
  const stream = baton === null ? streams.open(token) : streams.resume(baton, token);
  const results: string[] = [];
  let bytes = limits.answerBytes;
  const end = (): void => void streams.close(stream);
  hungUp.addEventListener('abort', end, { once: true });
  try {
    for (const [index, request] of requests.entries()) {
      const result = await runOne(streams, stream, `requests[${index}]`, request, bytes);
      bytes -= Buffer.byteLength(result) + 1;
      results.push(result);
    }
    // A stream that ended while it was idle still has its slot and its process.
    if (stream.ended() !== null) await streams.close(stream);
    const next = stream.ended() === null ? streams.suspend(stream) : null;
    return `{"baton":${JSON.stringify(next)},"base_url":null,"results":[${results.join(',')}]}`;
  } catch (error) {
    await streams.close(stream);
    throw error;
  } finally {
    hungUp.removeEventListener('abort', end);
  }
}

interface PipelineRoutesOptions {
  readonly streams: OpenStreams;
  readonly tokens: TokenStore;
  readonly limits: DatabaseLimits;
  readonly logger: EdgeLogger;
}

/** @libsql/client reads an error's code only where the type is exactly this. Fastify would add a charset to a string. */
function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.header('content-type', 'application/json').send(Buffer.from(body));
}

function answerError(error: FastifyError | EdgeError, reply: FastifyReply, logger: EdgeLogger): FastifyReply {
  const send = (status: number, key: string, message: string): FastifyReply => {
    return sendJson(reply.code(status), errorBody('pipeline', { status, key, message }).body);
  };
  if (error instanceof EdgeError) {
    reply.headers(error.headers);
    return send(error.status, error.key, error.message);
  }
  const status = error.statusCode ?? 500;
  if (status < 500) return send(status, error.code ?? 'REQUEST_INVALID', error.message);
  logger.error({ err: error }, 'a pipeline failed');
  return send(500, 'INTERNAL_ERROR', 'the pipeline failed for a reason of the program itself; its log says more');
}

function hangUpSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** `POST /v2/pipeline`, and `GET /v2`, by which clients ask for the version of the protocol. */
function pipelineRoutes(app: FastifyInstance, { streams, tokens, limits, logger }: PipelineRoutesOptions): void {
  const callers = new WeakMap<FastifyRequest, KeptToken>();
  app.setErrorHandler<FastifyError | EdgeError>((error, _request, reply) => answerError(error, reply, logger));
  app.get('/v2', { exposeHeadRoute: false }, (_request, reply) => sendJson(reply, '{"version":2}'));
  app.route({
    method: 'POST',
    url: '/v2/pipeline',
    bodyLimit: limits.bodyBytes,
    // This runs before the body is read, so that callers without a token do not make the program read eight megabytes.
    onRequest: async (request) => {
      callers.set(request, requireToken(request.headers.authorization, tokens));
    },
    handler: async (request, reply) => {
      const token = callers.get(request) ?? requireToken(request.headers.authorization, tokens);
      const hungUp = hangUpSignal(reply);
      const answer = await runPipeline(
        bodyAs(request.body, (body) => readPipeline(body, limits.requests)),
        token,
        { streams, limits, hungUp },
      );
      return sendJson(reply, answer);
    },
  });
}

/** The database's file inside DATA_DIR. */
const DATABASE_FILE = 'database.sqlite';
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

/** Answers operation 14: the database, behind access tokens. Its processes and files are closed with the app. */
export function makeDatabaseResource(given: Partial<DatabaseLimits> = {}): DatabaseResource {
  const limits = { ...DATABASE_LIMITS, ...given };
  return {
    ...TOKEN_TABLES,
    routes(app, { dataDir, now, logger }) {
      const tokens = openTokenStore(dataDir, now);
      const path = join(dataDir, DATABASE_FILE);
      const file = openFile(path);
      const pool = makeProcessPool({
        maxProcesses: limits.processes,
        queueMs: limits.queueMs,
        start: () => startDatabaseProcess({ tempDir: dataDir, memoryBytes: limits.memoryBytes, transactionMs: limits.transactionMs }),
        reclaim: () => streams.reclaim(),
      });
      const streams: OpenStreams = makeOpenStreams({ path, limits, pool });
      const revoking = setInterval(() => {
        if (streams.size() > 0) streams.revoke(tokens.isValid);
      }, REVOKE_EVERY_MS);
      revoking.unref();
      // A scope of its own, so that its errors have the shape of this operation.
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
