import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { EdgeError } from './edge-error.ts';
import { errorBody } from './error-shapes.ts';
import { invalidInput } from './operation-validation.ts';

/** Told of an error that is nobody's fault but ours, whole. */
export type FaultLog = (error: unknown, request: FastifyRequest) => void;

/** Makes an EdgeError of an error of whoever runs the routes; null: not one that a caller may know. */
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

export function requestPath(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url;
}

/**
 * An error handler that answers in the shape of the route's operation. What is nobody's fault but ours is 500, logged whole and not told.
 */
export function operationErrors(
  translate: ErrorTranslation,
  logFault: FaultLog,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (error, request, reply) => {
    const known =
      error instanceof EdgeError ? error : (translate(error, request) ?? frameworkRefusal(error as Partial<FastifyError>, request));
    if (known === null) logFault(error, request);
    const refusal = known ?? new EdgeError(500, 'internal', 'The request failed; the program has logged why');
    const shape = request.routeOptions.config.operation?.errorShape ?? 'problem';
    const { status, key, message, field, errors, headers } = refusal;
    const { contentType, body } = errorBody(shape, { status, key, message, field, errors, instance: requestPath(request) });
    // As bytes: to a text Fastify would add a charset, and clients of the database want the bare type.
    return reply.code(status).headers(headers).header('content-type', contentType).send(Buffer.from(body));
  };
}
