import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { ProxiedRoute } from './operation.ts';
import { parseJsonBody, requireBodyType } from './operation-body.ts';
import { type ErrorTranslation, type FaultLog, operationErrors, requestPath } from './operation-errors.ts';
import { withNumbers } from './operation-validation.ts';

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

function bodyOf(request: FastifyRequest, bytes: Buffer): unknown {
  request.sentBody = bytes;
  return request.routeOptions.config.operation === undefined ? bytes : parseJsonBody(bytes);
}

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
 * Routes whose method and path are in the table take what their operation takes: content types, path, query and body are checked against its
 * schemas before the handler runs, and errors are answered in its shape. Handlers find numbers where the schemas want numbers, and the body
 * parsed. Register before the routes; the instance needs `VALIDATOR_OPTIONS`.
 */
export const operationInput = fastifyPlugin(
  async (
    app: FastifyInstance,
    { operations, translateError = () => null, readBody, logFault = toOwnLog }: OperationInputOptions,
  ): Promise<void> => {
    app.decorateRequest('sentBody', null);
    app.removeAllContentTypeParsers();
    if (readBody === undefined)
      app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => bodyOf(request, bytes));
    else app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) => bodyOf(request, await readBody(request, body)));
    app.addHook('onRoute', bindSchemas(operations));
    app.addHook('onRequest', validateHeaders);
    app.addHook('preValidation', prepare);
    app.setErrorHandler(operationErrors(translateError, logFault));
  },
  { name: 'operation-input' },
);
