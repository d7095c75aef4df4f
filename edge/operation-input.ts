import type { Readable } from 'node:stream';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifySchemaCompiler,
  RouteOptions,
} from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { BodyThread, LARGE_BODY_FROM_BYTES, ValidatedBody } from './body-thread.ts';
import { EdgeError } from './edge-error.ts';
import { errorBody } from './error-shapes.ts';
import { invalidInput, knownQuery, parseJsonBody, requireBodyType, validatorOf, withNumbers } from './input-validation.ts';
import type { JsonSchema } from './operations/json-schema.ts';
import type { Operation } from './operations/operation.ts';

/** Logs what is answered with 5xx, with all details where it is a fault; `status` is that of the answer, 500 of a defect. */
type FaultLog = (error: unknown, request: FastifyRequest, status: number) => void;

/** Makes an EdgeError of an error of the surrounding program; null where callers must not see it. */
export type ErrorTranslation = (error: unknown, request: FastifyRequest) => EdgeError | null;

const FRAMEWORK_KEYS: Readonly<Record<number, string>> = {
  408: 'request.timeout',
  413: 'body.too_large',
  414: 'path.too_long',
  415: 'body.unsupported_type',
};

function frameworkRefusal(error: Partial<FastifyError>, request: FastifyRequest): EdgeError | null {
  if (error.validation !== undefined) return invalidInput(error.validation, error.validationContext ?? 'body');
  const { statusCode, code, message = '' } = error;
  if (statusCode === undefined || statusCode >= 500 || typeof code !== 'string' || !code.startsWith('FST_ERR_')) return null;
  const limit = statusCode === 413 ? `; allowed: ${request.routeOptions.bodyLimit} bytes` : '';
  return new EdgeError(statusCode, FRAMEWORK_KEYS[statusCode] ?? 'request.malformed', `${message}${limit}`, { cause: error });
}

/** The path of a request, without its query. */
export function requestPath({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url;
}

/**
 * An error handler that answers in the shape of the route's operation. What is answered with 5xx is logged. A defect of the program
 * is answered with 500 without details.
 */
function operationErrors(
  translate: ErrorTranslation,
  logFault: FaultLog,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (error, request, reply) => {
    const answerable =
      error instanceof EdgeError ? error : (translate(error, request) ?? frameworkRefusal(error as Partial<FastifyError>, request));
    const refusal = answerable ?? new EdgeError(500, 'internal', 'The request failed; the program has logged why');
    const fault = answerable === null || answerable.cause !== undefined ? error : answerable;
    if (refusal.status >= 500) logFault(fault, request, refusal.status);
    const shape = request.routeOptions.config.operation?.errorShape ?? 'problem';
    const { status, key, message, field, errors, headers } = refusal;
    const { contentType, body } = errorBody(shape, { status, key, message, field, errors, instance: requestPath(request) });
    // Sent as bytes: Fastify would add a charset to a text, and clients of the database want the bare type.
    return reply.code(status).headers(headers).header('content-type', contentType).send(Buffer.from(body));
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The row of the table of operations that the route belongs to. */
    readonly operation?: Operation;
  }
  interface FastifyRequest {
    /** The body as it was sent; null where there is none. */
    sentBody: Buffer | null;
  }
}

export type BodyReader = (request: FastifyRequest, body: Readable) => Promise<Buffer>;

interface OperationInputOptions {
  readonly operations: readonly Operation[];
  /** The module of the thread that validates large bodies. Handlers get a ValidatedBody for these. */
  readonly bodyWorker: URL;
  readonly translateError?: ErrorTranslation;
  /** Reads a body up to the route's limit. Absent: the framework reads it, without a deadline. */
  readonly readBody?: BodyReader;
  /** Absent: the log of the instance. */
  readonly logFault?: FaultLog;
}

/** The header that has the id of a request: in each answer with 5xx, and in what the proxies send to the local control plane. */
export const REQUEST_ID_HEADER = 'x-request-id';

/**
 * What the log tells of a request that is answered with 5xx, beside the id that the answer carries. Callers can make any number of refusals
 * without a cause, none of which is a fault: no stack is told of these.
 */
export function failureFacts(error: unknown, request: FastifyRequest): object {
  const { method, routeOptions } = request;
  const facts = error instanceof EdgeError && error.cause === undefined ? { errorKey: error.key, detail: error.message } : { err: error };
  return { ...facts, operation: routeOptions.config.operation?.name, method, path: requestPath(request) };
}

const toOwnLog: FaultLog = (err, request, status) => {
  if (status === 500) request.log.error(failureFacts(err, request), 'a request failed');
  else request.log.warn(failureFacts(err, request), 'a request was refused');
};

function bindSchemas(operations: readonly Operation[]): (route: RouteOptions) => void {
  return (route) => {
    const found = operations.find(({ method, path }) => route.url === path && [route.method].flat().includes(method));
    if (found === undefined) return;
    route.config = { ...route.config, operation: found };
    const body = found.body === null ? {} : { body: found.body };
    route.schema = { params: found.params, querystring: found.query, ...body, ...route.schema };
    if (found.body !== null) route.bodyLimit ??= found.bodyLimitBytes;
  };
}

async function bodyOf(request: FastifyRequest, bytes: Buffer, thread: BodyThread): Promise<unknown> {
  const { operation } = request.routeOptions.config;
  const schema = operation?.body ?? null;
  request.sentBody = bytes;
  if (operation === undefined) return bytes;
  if (schema === null || bytes.length < LARGE_BODY_FROM_BYTES) return parseJsonBody(bytes);
  const validated = await thread.validate(operation.name, schema, bytes);
  request.sentBody = validated.bytes;
  return validated.body;
}

/** Replaces the framework's validator, which cannot run on a thread. */
const compileSchema: FastifySchemaCompiler<FastifySchema> = ({ schema }) => {
  const failuresOf = validatorOf(schema as JsonSchema);
  return (value: unknown) => {
    const failures = value instanceof ValidatedBody ? null : failuresOf(value);
    return failures === null ? true : { error: failures as unknown as Error };
  };
};

/** Refuses what the headers alone make wrong, before the body is read. */
async function validateHeaders(request: FastifyRequest): Promise<void> {
  const { operation } = request.routeOptions.config;
  if (operation === undefined) return;
  if (operation.body !== null) requireBodyType(request.headers, operation);
}

async function prepare(request: FastifyRequest): Promise<void> {
  const { operation } = request.routeOptions.config;
  if (operation === undefined) return;
  request.params = withNumbers(request.params as Record<string, unknown>, operation.params);
  request.query = withNumbers(knownQuery(request.query as Record<string, unknown>, operation.query), operation.query);
}

/**
 * Checks requests of the table's routes by their rows: content type, path, query and body, before the handler runs; errors are answered in
 * the row's shape. Handlers get numbers where the schemas want numbers, and the body parsed, or validated where it is large. Register
 * before the routes.
 */
export const operationInput = fastifyPlugin(
  async (
    app: FastifyInstance,
    { operations, bodyWorker, translateError = () => null, readBody, logFault = toOwnLog }: OperationInputOptions,
  ): Promise<void> => {
    const thread = new BodyThread(bodyWorker);
    app.addHook('onClose', () => thread.close());
    app.setValidatorCompiler(compileSchema);
    app.decorateRequest('sentBody', null);
    app.removeAllContentTypeParsers();
    if (readBody === undefined)
      app.addContentTypeParser('*', { parseAs: 'buffer' }, (request: FastifyRequest, bytes: Buffer) => bodyOf(request, bytes, thread));
    else
      app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) =>
        bodyOf(request, await readBody(request, body), thread),
      );
    app.addHook('onRoute', bindSchemas(operations));
    app.addHook('onRequest', validateHeaders);
    app.addHook('preValidation', prepare);
    app.setErrorHandler(operationErrors(translateError, logFault));
  },
  { name: 'operation-input' },
);
