import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyAs } from '../../body-thread.ts';
import { EdgeError } from '../../edge-error.ts';
import { errorBody } from '../../error-shapes.ts';
import type { EdgeLogger } from '../local-resource.ts';
import type { DatabaseLimits } from './database-limits.ts';
import type { OpenStreams } from './open-streams.ts';
import { readPipeline } from './read-pipeline.ts';
import { requireToken } from './require-token.ts';
import { runPipeline } from './run-pipeline.ts';
import type { KeptToken, TokenStore } from './token-store.ts';

export interface PipelineRoutesOptions {
  readonly streams: OpenStreams;
  readonly tokens: TokenStore;
  readonly limits: DatabaseLimits;
  readonly logger: EdgeLogger;
}

/** @libsql/client reads an error's code only where the type is exactly this; to a string, Fastify would add a charset. */
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

/** `POST /v2/pipeline`, and `GET /v2`, by which clients ask whether the protocol's version is spoken. */
export function pipelineRoutes(app: FastifyInstance, { streams, tokens, limits, logger }: PipelineRoutesOptions): void {
  const callers = new WeakMap<FastifyRequest, KeptToken>();
  app.setErrorHandler<FastifyError | EdgeError>((error, _request, reply) => answerError(error, reply, logger));
  app.get('/v2', { exposeHeadRoute: false }, (_request, reply) => sendJson(reply, '{"version":2}'));
  app.route({
    method: 'POST',
    url: '/v2/pipeline',
    bodyLimit: limits.bodyBytes,
    // Before the body is read: whoever has no token does not make the program read eight megabytes.
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
