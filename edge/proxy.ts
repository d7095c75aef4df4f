import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import replyFrom from '@fastify/reply-from';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AnswerRoom, CALLER_IDLE_MS, cutOffIdle, makeAnswerRoom } from './answer-room.ts';
import type { ProxiedRoute } from './operation.ts';
import { requireBodyType } from './operation-body.ts';
import type { ErrorTranslation } from './operation-errors.ts';
import { type BodyReader, operationInput } from './operation-input.ts';
import { dropAnswer, gatherAnswer } from './proxy-answer.ts';
import { beginCall, type ProxyCall } from './proxy-call.ts';
import { errorCodes, isBrokenConnection, UpstreamUnusable, upstreamFailure } from './proxy-failure.ts';
import { fillPath, queryText, type UpstreamTarget, upstreamUrl } from './proxy-upstream.ts';
import { makeUpstreamAgent } from './upstream-agent.ts';

export interface ProxyOptions {
  readonly operations: readonly ProxiedRoute[];
  /** Asked at every request, so that it may change. */
  readonly upstreamOf: (operation: ProxiedRoute) => UpstreamTarget;
  /** Throws where the caller may not use the operation; runs before the body is read. */
  readonly authorize: (request: FastifyRequest, operation: ProxiedRoute) => void;
  readonly translateError: ErrorTranslation;
  readonly readBody?: BodyReader;
  /** What else is to stand in the configuration of the operation's route. */
  readonly routeConfig?: (operation: ProxiedRoute) => FastifyContextConfig;
  readonly connectMs?: number;
  readonly maxAnswerBytes?: number;
  /** Of all answers that are on their way at a time; beyond it, 503. */
  readonly maxAnswersBytes?: number;
  /** How long a caller may take nothing of its answer before it is cut off. */
  readonly callerIdleMs?: number;
  /** At most so many connections to one upstream; further requests wait until one is free. */
  readonly connections?: number;
}

export const CONNECT_MS = 5_000;
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
export const MAX_ANSWERS_BYTES = 256 * 1024 * 1024;
export const CONNECTIONS = 64;
const RETRY_AFTER_MS = 10;
const BODY_WORKER = new URL('./checked-body-worker.ts', import.meta.url);

/** A 401 must say how to do better (RFC 9110, 15.5.2); an upstream's own words could say who it is. */
const CHALLENGES: Readonly<Record<ProxiedRoute['key'], string>> = {
  access: 'AccessKey',
  personal: 'AccessKey',
  'access-and-zone': 'AccessKey',
  bearer: 'Bearer',
  none: 'AccessKey',
};

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

interface AnswerHandling {
  readonly room: AnswerRoom;
  readonly maxBytes: number;
  readonly callerIdleMs: number;
}

function logFailure({ request }: FastifyReply, { name }: ProxiedRoute, error: unknown): void {
  const codes = errorCodes(error);
  if (!codes.includes('CALLER_GONE')) request.log.warn({ operation: name, codes }, 'an answer of an upstream was not handed on');
}

/** Hands an answer on, whole; a redirect would tell the caller where the upstream is, and is not ours to follow. */
async function passOn(
  operation: ProxiedRoute,
  reply: FastifyReply,
  { headers, stream, statusCode = 0 }: UpstreamAnswer,
  call: ProxyCall,
  { room, maxBytes, callerIdleMs }: AnswerHandling,
): Promise<void> {
  if (reply.sent) return dropAnswer(stream);
  try {
    if (statusCode >= 300 && statusCode < 400) {
      dropAnswer(stream);
      throw new UpstreamUnusable('The upstream answered with a redirect');
    }
    const { body, release } = await gatherAnswer(stream, { bodyMs: operation.deadlines.bodyMs, maxBytes, room, hungUp: call.signal });
    if (reply.raw.closed) return release();
    reply.raw.once('close', release);
    cutOffIdle(reply.raw, callerIdleMs);
    for (const name of ANSWER_HEADERS) if (headers[name] !== undefined) reply.header(name, headers[name]);
    if (statusCode === 401) reply.header('www-authenticate', CHALLENGES[operation.key]);
    // An empty body gets no content type of the framework's.
    reply.code(statusCode).send(body.length === 0 ? undefined : body);
  } catch (error) {
    logFailure(reply, operation, error);
    reply.send(upstreamFailure(error));
  }
}

/**
 * One route for each operation, answered by its upstream: input is checked here, only the headers that the operation needs go on, status,
 * body and content type come back unchanged. Whatever goes wrong on the way ends in the operation's own error shape.
 */
export async function proxy(app: FastifyInstance, options: ProxyOptions): Promise<void> {
  const { operations, upstreamOf, authorize, translateError, readBody } = options;
  const agent = makeUpstreamAgent({ connections: options.connections ?? CONNECTIONS, connectMs: options.connectMs ?? CONNECT_MS });
  const handling: AnswerHandling = {
    room: makeAnswerRoom(options.maxAnswersBytes ?? MAX_ANSWERS_BYTES),
    maxBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
    callerIdleMs: options.callerIdleMs ?? CALLER_IDLE_MS,
  };
  await app.register(operationInput, {
    operations,
    bodyWorker: BODY_WORKER,
    translateError,
    ...(readBody === undefined ? {} : { readBody }),
  });
  await app.register(replyFrom, {
    disableCache: true,
    disableRequestLogging: true,
    destroyAgent: true,
    undici: agent.requester,
  });

  app.addHook('onRequest', async (request) => {
    const { operation } = request.routeOptions.config;
    if (operation !== undefined) authorize(request, operation);
  });

  function forward(operation: ProxiedRoute, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const target = upstreamOf(operation);
    const body =
      request.sentBody === null ? {} : { body: request.sentBody, contentType: requireBodyType(request.headers, operation.bodyTypes) };
    const url = upstreamUrl(target, fillPath(operation.path, request.params as Record<string, unknown>));
    const call = beginCall(reply.raw, operation.deadlines.headersMs);
    const send = (): FastifyReply =>
      reply.from(url, {
        ...body,
        method: operation.method,
        timeout: operation.deadlines.headersMs,
        queryString: () => queryText(request.query as Record<string, unknown>),
        rewriteRequestHeaders: (_request, prepared) => requestHeaders(request, prepared as IncomingHttpHeaders, target),
        rewriteHeaders: () => ({}),
        // In place of its own retries, which repeat a GET ten times when an upstream is busy.
        retryDelay: ({ err, attempt }) => (operation.idempotent && attempt === 0 && isBrokenConnection(err) ? RETRY_AFTER_MS : null),
        onError: (failed, { error }) => void failed.send(upstreamFailure(error)),
        onResponse: (_request, answered, answer) => {
          call.headersCame();
          void passOn(operation, answered as FastifyReply, answer as unknown as UpstreamAnswer, call, handling);
        },
      });
    return agent.sendUntil(call.signal, operation.name, send);
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
