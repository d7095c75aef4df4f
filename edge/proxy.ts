import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import replyFrom from '@fastify/reply-from';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from './operation.ts';
import { requireBodyType } from './operation-body.ts';
import type { ErrorTranslation } from './operation-errors.ts';
import { type BodyReader, operationInput } from './operation-input.ts';
import { dropAnswer, readAnswer } from './proxy-answer.ts';
import { isBrokenConnection, UpstreamUnusable, upstreamFailure } from './proxy-failure.ts';
import { fillPath, queryText, type UpstreamTarget, upstreamUrl } from './proxy-upstream.ts';

export interface ProxyOptions {
  readonly operations: readonly Operation[];
  /** Asked at every request, so that it may change. */
  readonly upstreamOf: (operation: Operation) => UpstreamTarget;
  /** Throws where the caller may not use the operation; runs before the body is read. */
  readonly authorize: (request: FastifyRequest, operation: Operation) => void;
  readonly translateError: ErrorTranslation;
  readonly readBody?: BodyReader;
  /** What else is to stand in the configuration of the operation's route. */
  readonly routeConfig?: (operation: Operation) => FastifyContextConfig;
  readonly connectMs?: number;
  readonly maxAnswerBytes?: number;
  /** At most so many connections to one upstream; further requests wait until one is free. */
  readonly connections?: number;
}

const CONNECT_MS = 5_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const CONNECTIONS = 64;
const RETRY_AFTER_MS = 10;

/** What is handed on of an answer's headers: what says how to read its body, and when to come again. */
const ANSWER_HEADERS = ['content-type', 'content-encoding', 'retry-after'] as const;

interface UpstreamAnswer {
  readonly statusCode?: number;
  readonly headers: IncomingHttpHeaders;
  readonly stream: Readable;
}

function requestHeaders(request: FastifyRequest, prepared: IncomingHttpHeaders, target: UpstreamTarget): IncomingHttpHeaders {
  const { host, 'content-type': contentType, 'content-length': contentLength } = prepared;
  const passed = target.passes.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]] as const]));
  const body = request.sentBody === null ? {} : { 'content-type': contentType, 'content-length': contentLength };
  return { host, ...body, accept: request.headers.accept ?? 'application/json', ...Object.fromEntries(passed), ...target.headers };
}

function hangUpSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new Error('the caller closed the connection before the answer'));
  });
  return controller.signal;
}

/** Hands an answer on, whole; a redirect would tell the caller where the upstream is, and is not ours to follow. */
async function passOn(operation: Operation, reply: FastifyReply, answer: UpstreamAnswer, maxBytes: number): Promise<void> {
  const { headers, stream, statusCode = 0 } = answer;
  if (reply.sent) return dropAnswer(stream);
  try {
    if (statusCode >= 300 && statusCode < 400) {
      dropAnswer(stream);
      throw new UpstreamUnusable('The upstream answered with a redirect');
    }
    const body = await readAnswer(stream, { bodyMs: operation.deadlines.bodyMs, maxBytes, hungUp: hangUpSignal(reply) });
    for (const name of ANSWER_HEADERS) if (headers[name] !== undefined) reply.header(name, headers[name]);
    // An empty body gets no content type of the framework's.
    reply.code(statusCode).send(body.length === 0 ? undefined : body);
  } catch (error) {
    reply.send(upstreamFailure(error));
  }
}

/**
 * One route for each operation, answered by its upstream: input is checked here, only the headers that the operation needs go on, status, body
 * and content type come back unchanged. Whatever goes wrong on the way ends in the operation's own error shape.
 */
export async function proxy(app: FastifyInstance, options: ProxyOptions): Promise<void> {
  const { operations, upstreamOf, authorize, translateError, readBody, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  await app.register(operationInput, { operations, translateError, ...(readBody === undefined ? {} : { readBody }) });
  await app.register(replyFrom, {
    disableCache: true,
    disableRequestLogging: true,
    destroyAgent: true,
    undici: {
      connections: options.connections ?? CONNECTIONS,
      pipelining: 1,
      // @fastify/reply-from would take any certificate.
      connect: { timeout: options.connectMs ?? CONNECT_MS, rejectUnauthorized: true },
    },
  });

  app.addHook('onRequest', async (request) => {
    const { operation } = request.routeOptions.config;
    if (operation !== undefined) authorize(request, operation);
  });

  function forward(operation: Operation, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const target = upstreamOf(operation);
    const body =
      request.sentBody === null ? {} : { body: request.sentBody, contentType: requireBodyType(request.headers, operation.bodyTypes) };
    return reply.from(upstreamUrl(target, fillPath(operation.path, request.params as Record<string, unknown>)), {
      ...body,
      method: operation.method,
      timeout: operation.deadlines.headersMs,
      queryString: () => queryText(request.query as Record<string, unknown>),
      rewriteRequestHeaders: (_request, prepared) => requestHeaders(request, prepared as IncomingHttpHeaders, target),
      rewriteHeaders: () => ({}),
      // In place of its own retries, which repeat a GET ten times when an upstream is busy.
      retryDelay: ({ err, attempt }) => (operation.idempotent && attempt === 0 && isBrokenConnection(err) ? RETRY_AFTER_MS : null),
      onError: (failed, { error }) => void failed.send(upstreamFailure(error)),
      onResponse: (_request, answered, answer) =>
        void passOn(operation, answered as FastifyReply, answer as unknown as UpstreamAnswer, maxAnswerBytes),
    });
  }

  for (const operation of operations) {
    app.route({
      method: operation.method,
      url: operation.path,
      exposeHeadRoute: false,
      config: options.routeConfig?.(operation) ?? {},
      handler: (request, reply) => forward(operation, request, reply),
    });
  }
}
