import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { CLIENT_CLOSED } from '../../edge/edge-error.ts';
import { REQUEST_ID_HEADER, requestPath } from '../../edge/operation-input.ts';
import { cutText } from '../../query/request/request-errors.ts';
import { isHangUp } from './interruption.ts';
import { asStoreProblem, type ErrorKey, PROBLEM_CONTENT_TYPE, problemBody, RequestProblem } from './problem.ts';

/** Makes a pattern that matches the paths of a route, which may have parameters such as `:id`. */
export function routePattern(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${parts.join('/')}$`);
}

/** The keys of errors of the framework, by status. */
const FRAMEWORK_KEYS: Readonly<Record<number, ErrorKey>> = {
  400: 'request.malformed',
  408: 'request.timeout',
  413: 'body.too_large',
  415: 'body.unsupported_type',
};

function undecodable(path: string, cause: unknown): RequestProblem {
  const detail = `${cutText(path)} is not a path: each % must begin an escape such as %2F, and the escapes must be UTF-8`;
  return new RequestProblem('request.malformed', detail, { cause });
}

function asProblem(thrown: unknown, request: FastifyRequest): RequestProblem | null {
  const error = asStoreProblem(thrown);
  if (error instanceof RequestProblem) return error;
  const { statusCode, code, message } = error as Partial<FastifyError>;
  if (statusCode === undefined || typeof code !== 'string') return null;
  const key = code.startsWith('FST_ERR_') ? FRAMEWORK_KEYS[statusCode] : undefined;
  if (key === undefined) return null;
  if (code === 'FST_ERR_BAD_URL') return undecodable(requestPath(request), error);
  const limit = key === 'body.too_large' ? `; allowed: ${request.routeOptions.bodyLimit} bytes` : '';
  return new RequestProblem(key, `${message ?? ''}${limit}`, { cause: error });
}

/** Whether an operator has to know more of a refusal than its caller is told. */
function isForOperator({ status, cause }: RequestProblem): boolean {
  return status >= 500 || (status === 409 && cause !== undefined);
}

/** An answer to an error in the words of a protocol. */
export interface ShapedProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The content type of the body. */
  readonly type: string;
  readonly body: string | Buffer;
}

type ErrorAnswer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/**
 * Answers any error of a route or a hook in a shape, those of the store by their problems. Any other error is a defect: it is logged whole
 * and answered with 500 without a body. What the store, the system or brokers say is in the log alone. A client that hung up reads nothing
 * of this.
 */
export function errorAnswerIn(shapeOf: (problem: RequestProblem, request: FastifyRequest) => ShapedProblem): ErrorAnswer {
  return (error, request, reply) => {
    if (isHangUp(error, request.raw)) return reply.code(CLIENT_CLOSED).send();
    const problem = asProblem(error, request);
    const { method } = request;
    const path = requestPath(request);
    if (problem === null) {
      request.log.error({ err: error, method, path }, 'a request failed');
      return reply.code(500).removeHeader('content-type').send();
    }
    if (isForOperator(problem)) {
      const { errorKey, cause, message: detail } = problem;
      // Callers can make any number of refusals without a cause, none of which is a fault: each is one short line.
      if (cause === undefined) request.log.warn({ errorKey, detail, method, path: cutText(path) }, 'a request was refused');
      // The caller can only try again. The operator has a disk or a memory to look after.
      else if (errorKey === 'store.append_failed') request.log.error({ err: cause, method, path }, 'events could not be stored');
      else request.log.warn({ err: cause, errorKey, method, path }, 'a request was refused');
      reply.header(REQUEST_ID_HEADER, request.id);
    }
    const { status, headers, type, body } = shapeOf(problem, request);
    return reply.code(status).headers(headers).type(type).send(body);
  };
}

/** Answers errors with ProblemDetails. */
export const answerError = errorAnswerIn((problem, request) => ({
  status: problem.status,
  headers: problem.headers,
  type: PROBLEM_CONTENT_TYPE,
  body: problemBody(problem, requestPath(request)),
}));

interface ServedPath {
  readonly url: string;
  readonly pattern: RegExp;
  readonly methods: readonly string[];
}

/** The first parts of the paths of the platform's interface. */
const PLATFORM_PARTS: readonly string[] = ['shield', 'compute', 'dnszone', 'pullzone', 'mc', 'storagezone', 'videolibrary'];

/**
 * The problem of a path that is not served. The platform has more operations than are here, and its clients take 404 for something that was
 * deleted: Terraform would make it once more.
 */
function nothingAt(path: string, served: readonly ServedPath[]): RequestProblem {
  const [, part = '', second] = path.split('/', 3);
  if (!PLATFORM_PARTS.includes(part) || (part === 'shield' && second === 'event-logs')) {
    return new RequestProblem('route.not_found', `There is nothing at ${cutText(path)}`);
  }
  const here = served
    .filter(({ url }) => url.split('/', 2)[1] === part)
    .flatMap(({ url, methods }) => methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${url}`));
  const detail = `${cutText(path)} is not here; of /${part} there ${here.length === 0 ? 'is nothing' : `are ${here.join(', ')}`}`;
  return new RequestProblem('route.not_implemented', detail, { headers: { 'cache-control': 'no-store' } });
}

/**
 * Answers every error with ProblemDetails, a path that lacks the method with 405 and `Allow`, and a path of the platform that is not served
 * with 501. Every 5xx carries the id that the log has as `reqId`; a header of the caller has no part in it. Register before any route.
 */
export const errorAnswers = fastifyPlugin(async (app: FastifyInstance) => {
  const routes: ServedPath[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ url, pattern: routePattern(url), methods: [method].flat() });
  });
  app.setErrorHandler(answerError);
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode >= 500) reply.header(REQUEST_ID_HEADER, request.id);
  });
  // This runs before the body is read.
  app.addHook('preParsing', async (request) => {
    if (!request.is404) return;
    const path = requestPath(request);
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
    if (allowed.length === 0) throw nothingAt(path, routes);
    throw new RequestProblem('route.method_not_allowed', `${cutText(path)} has ${allowed.join(', ')}, not ${request.method}`, {
      headers: { allow: allowed.join(', ') },
    });
  });
});
