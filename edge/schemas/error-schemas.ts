import type { ErrorShape, JsonSchema } from '../operation.ts';
import { exactly, INT32, listOf, NULLABLE_TEXT, TEXT } from './object-schema.ts';

const FIELD_ERRORS = listOf(exactly({ message: TEXT, field: TEXT }));

/** The bodies of errors, by shape. */
export const ERROR_SCHEMAS: Readonly<Record<ErrorShape, JsonSchema>> = {
  problem: {
    type: 'object',
    properties: {
      type: TEXT,
      title: TEXT,
      status: { type: ['integer', 'null'] },
      detail: NULLABLE_TEXT,
      instance: NULLABLE_TEXT,
      errorKey: { ...TEXT, description: 'For programs' },
      errors: FIELD_ERRORS,
    },
    required: ['type', 'title', 'status', 'detail'],
  },
  legacy: exactly({ ErrorKey: TEXT, Field: { ...NULLABLE_TEXT, description: 'The one that is wrong' }, Message: TEXT }),
  'errors-list': exactly({ title: TEXT, status: INT32, detail: TEXT, instance: TEXT, errors: FIELD_ERRORS, id: TEXT, type: TEXT }),
  status: exactly({ statusCode: { type: 'integer', minimum: 100, maximum: 511 } }),
  pipeline: exactly({ error: TEXT, message: TEXT, code: TEXT }),
};

/** What every operation may be answered with besides its own statuses. */
const ALWAYS = [400, 401, 403, 500, 502, 503, 504];

/** And what those may be that take a body. */
export const BODY_REFUSALS: readonly number[] = [408, 413, 415];

/** An operation's error answers by status: those that every operation has, and `more`. */
export function errorResponses(shape: ErrorShape, more: readonly number[] = []): Readonly<Record<number, JsonSchema>> {
  return Object.fromEntries([...ALWAYS, ...more].map((status) => [status, ERROR_SCHEMAS[shape]]));
}
