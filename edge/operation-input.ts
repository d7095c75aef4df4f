import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, FastifySchema, FastifySchemaCompiler, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { BodyThread, LARGE_BODY_FROM_BYTES, ValidatedBody } from './body-thread.ts';
import type { JsonSchema, ProxiedRoute } from './operation.ts';
import { parseJsonBody, requireBodyType } from './operation-body.ts';
import { type ErrorTranslation, type FaultLog, operationErrors, requestPath } from './operation-errors.ts';
import { validatorOf, withNumbers } from './operation-validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The row of the operation table, or of the companions, that the route is of. */
    readonly operation?: ProxiedRoute;
  }
  interface FastifyRequest {
    /** The body as it was sent; null where there is none. */
    sentBody: Buffer | null;
  }
}

export type BodyReader = (request: FastifyRequest, body: Readable) => Promise<Buffer>;

export interface OperationInputOptions {
  readonly operations: readonly ProxiedRoute[];
  /** The module of the thread that validates large bodies, of which handlers find a ValidatedBody. */
  readonly bodyWorker: URL;
  readonly translateError?: ErrorTranslation;
  /** Reads a body, no further than the route's limit. Absent: as the framework does, however long that takes. */
  readonly readBody?: BodyReader;
  /** Absent: the instance's own log. */
  readonly logFault?: FaultLog;
}

const toOwnLog: FaultLog = (err, request) =>
  request.log.error({ err, method: request.method, path: requestPath(request) }, 'a request failed');

function bindSchemas(operations: readonly ProxiedRoute[]): (route: RouteOptions) => void {
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
  const validated = await thread.validate(operation.id, schema, bytes);
  request.sentBody = validated.bytes;
  return validated.body;
}

/** In the framework's place, whose validator is not to be had on a thread. */
const compileSchema: FastifySchemaCompiler<FastifySchema> = ({ schema }) => {
  const failuresOf = validatorOf(schema as JsonSchema);
  return (value: unknown) => {
    const failures = value instanceof ValidatedBody ? null : failuresOf(value);
    return failures === null ? true : { error: failures as unknown as Error };
  };
};

/** What can be refused without reading the body is. */
async function validateHeaders(request: FastifyRequest): Promise<void> {
  const { operation } = request.routeOptions.config;
  if (operation === undefined) return;
  if (operation.body !== null) requireBodyType(request.headers, operation.bodyTypes);
}

async function prepare(request: FastifyRequest): Promise<void> {
  const { operation } = request.routeOptions.config;
  if (operation === undefined) return;
  request.params = withNumbers(request.params as Record<string, unknown>, operation.params);
  request.query = withNumbers(request.query as Record<string, unknown>, operation.query);
}

/**
 * Routes whose method and path are in the table take what their operation takes: content types, path, query and body are checked against
 * its schemas before the handler runs, and errors are answered in its shape. Handlers find numbers where the schemas want numbers, and the
 * body parsed, or validated where it is large. Register before the routes.
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
