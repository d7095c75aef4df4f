import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { EdgeError } from '../edge-error.ts';
import { requireBodyType } from '../input-validation.ts';
import { type BodyReader, type ErrorTranslation, operationInput, REQUEST_ID_HEADER } from '../operation-input.ts';
import { KEY_KINDS, type Operation } from '../operations/operation.ts';
import { hideAddress } from './hidden-address.ts';
import { dropAnswer, gatherAnswer, makeUpstreamBudget, type UpstreamBudget } from './upstream-answer.ts';
import { isBrokenConnection, UpstreamFault, upstreamFailure } from './upstream-failure.ts';
import { beginCall, fillPath, makeUpstreamAgent, type UpstreamTarget, upstreamUrl } from './upstream-request.ts';

export interface ProxyOptions {
  readonly operations: readonly Operation[];
  /** Called for every request, so that the upstream may change. */
  readonly upstreamOf: (operation: Operation) => UpstreamTarget;
  /** Throws where the caller may not use the operation. Runs before the body is read. */
  readonly authorize: (request: FastifyRequest, operation: Operation) => void;
  readonly translateError: ErrorTranslation;
  readonly readBody?: BodyReader;
  /** Further settings of the operation's route. */
  readonly routeConfig?: (operation: Operation) => FastifyContextConfig;
  readonly connectMs?: number;
  readonly maxAnswerBytes?: number;
  /** For all answers on their way together. Beyond it the answer is 503. */
  readonly maxAnswersBytes?: number;
  /** For all bodies whose callers have not taken the answers. Beyond it a request is 503. */
  readonly maxBodiesBytes?: number;
  /** Connections to one upstream. Further requests wait until one is free. */
  readonly connections?: number;
}

export const CONNECT_MS = 5_000;
export const MAX_UPSTREAM_ANSWER_BYTES = 32 * 1024 * 1024;
export const MAX_UPSTREAM_ANSWERS_BYTES = 256 * 1024 * 1024;
export const MAX_UPSTREAM_BODIES_BYTES = 64 * 1024 * 1024;
/** So much of each body is always given. */
const FREE_BODY_BYTES = 16 * 1024;
export const CONNECTIONS = 64;
/** A request is sent again after so long. */
const AGAIN_AFTER_MS = 10;
const BODY_WORKER = new URL('./checked-body-worker.ts', import.meta.url);

/** The media type of a body for its upstream, which need not take JSON as text. */
function jsonTypeOf({ headers }: FastifyRequest, operation: Operation): string {
  const type = requireBodyType(headers, operation);
  return type === 'text/plain' ? 'application/json' : type;
}

function bodiesSpent(): EdgeError {
  return new EdgeError(503, 'body.busy', 'Too many large bodies wait for their answers; try again later', {
    headers: { 'retry-after': '1' },
  });
}

/** The headers of an answer that are passed on: how to read its body, and when to come again. */
const ANSWER_HEADERS = ['content-type', 'content-encoding', 'retry-after'] as const;

/**
 * `accept`, the type of a body, the credentials that `target` passes on, and its own; nothing else of the caller. An answer is asked for
 * without a content encoding, which the caller may not know.
 */
function requestHeaders(request: FastifyRequest, operation: Operation, target: UpstreamTarget): IncomingHttpHeaders {
  const passed = target.passes.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]] as const]));
  const body = request.sentBody === null ? {} : { 'content-type': jsonTypeOf(request, operation) };
  const id = target.isLocal === true ? { [REQUEST_ID_HEADER]: request.id } : {};
  const accepted = { accept: request.headers.accept ?? 'application/json', 'accept-encoding': 'identity' };
  return { ...body, ...accepted, ...id, ...Object.fromEntries(passed), ...target.headers };
}

interface AnswerHandling {
  readonly budget: UpstreamBudget;
  readonly maxBytes: number;
}

/** Passes an answer on, whole. A redirect is refused, because it would tell the caller where the upstream is. */
async function passOn(
  operation: Operation,
  reply: FastifyReply,
  { headers: told, body: stream, statusCode }: Dispatcher.ResponseData,
  hungUp: AbortSignal,
  { budget, maxBytes }: AnswerHandling,
): Promise<FastifyReply> {
  if (statusCode >= 300 && (statusCode < 400 || statusCode > 599)) {
    dropAnswer(stream);
    if (statusCode < 400) throw new UpstreamFault('UPSTREAM_UNUSABLE', 'The upstream answered with a redirect');
    throw new Error('the upstream answered with an invalid status code');
  }
  const headers = told as IncomingHttpHeaders;
  const { body, release } = await gatherAnswer(stream, { bodyMs: operation.deadlines.bodyMs, maxBytes, budget, hungUp });
  if (reply.raw.closed) release();
  else reply.raw.once('close', release);
  const { addressMember: member } = operation;
  const shown = member === null ? body : hideAddress(body, member, headers['content-encoding']);
  for (const name of ANSWER_HEADERS) if (headers[name] !== undefined) reply.header(name, headers[name]);
  // A 401 must name a scheme (RFC 9110, 15.5.2). The upstream's own header could tell who it is.
  if (statusCode === 401) reply.header('www-authenticate', KEY_KINDS[operation.key].challenge);
  // Fastify would add a content type to an empty body.
  return reply.code(statusCode).send(shown.length === 0 ? undefined : shown);
}

/**
 * Makes a route for each operation, which an upstream answers. Input is checked here, only the headers that the operation needs go on, and
 * status, body and content type come back unchanged. Every failure is answered in the operation's error shape, by `operation-input.ts`.
 */
export async function proxy(app: FastifyInstance, options: ProxyOptions): Promise<void> {
  const { operations, upstreamOf, authorize, translateError, readBody } = options;
  const agent = makeUpstreamAgent({ connections: options.connections ?? CONNECTIONS, connectMs: options.connectMs ?? CONNECT_MS });
  const handling: AnswerHandling = {
    budget: makeUpstreamBudget(options.maxAnswersBytes ?? MAX_UPSTREAM_ANSWERS_BYTES),
    maxBytes: options.maxAnswerBytes ?? MAX_UPSTREAM_ANSWER_BYTES,
  };
  const bodies = makeUpstreamBudget(options.maxBodiesBytes ?? MAX_UPSTREAM_BODIES_BYTES, bodiesSpent);
  await app.register(operationInput, {
    operations,
    bodyWorker: BODY_WORKER,
    translateError,
    ...(readBody === undefined ? {} : { readBody }),
  });
  app.addHook('onClose', () => agent.destroy());

  app.addHook('onRequest', async (request) => {
    const { operation } = request.routeOptions.config;
    if (operation !== undefined) authorize(request, operation);
  });

  /** Counts a body until its answer is taken or its caller has gone. Throws EdgeError where too much waits. */
  function holdBody({ sentBody }: FastifyRequest, { raw }: FastifyReply): void {
    const bytes = Math.max(0, (sentBody?.length ?? 0) - FREE_BODY_BYTES);
    if (bytes === 0 || raw.closed) return;
    bodies.take(bytes);
    raw.once('close', () => bodies.give(bytes));
  }

  /** Sends a request, and once more where that does no harm and the connection broke. */
  async function send({ name, idempotent }: Operation, request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    try {
      return await agent.send(name, request);
    } catch (error) {
      if (!idempotent || !isBrokenConnection(error)) throw error;
      await delay(AGAIN_AFTER_MS);
      return await agent.send(name, request);
    }
  }

  async function forward(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { name, method, path, deadlines } = operation;
    const { headersMs } = deadlines;
    const target = upstreamOf(operation);
    const params = request.params as Record<string, unknown>;
    const { origin, pathname, search } = upstreamUrl(target, fillPath(path, params), request.query as Record<string, unknown>);
    const headers = requestHeaders(request, operation, target);
    holdBody(request, reply);
    const { signal, headersCame } = beginCall(reply.raw, headersMs);
    const sent = { origin, path: `${pathname}${search}`, method, headers, body: request.sentBody, signal };
    try {
      const answer = await send(operation, { ...sent, headersTimeout: headersMs, bodyTimeout: headersMs });
      headersCame();
      // The local control plane has logged why.
      if (answer.statusCode >= 500 && target.isLocal !== true)
        request.log.warn({ operation: name, status: answer.statusCode }, 'an upstream answered with 5xx');
      return await passOn(operation, reply, answer, signal, handling);
    } catch (error) {
      throw upstreamFailure(error);
    }
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
