import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { EdgeFieldError } from './edge-error.ts';
import { exactly, INT32_SCHEMA, type JsonSchema, listOf, NULLABLE_TEXT, TEXT } from './operations/json-schema.ts';

/** An error before it is written in a shape. */
export interface ErrorFacts {
  readonly status: number;
  readonly key: string;
  readonly message: string;
  readonly field?: string | undefined;
  readonly errors?: readonly EdgeFieldError[] | undefined;
  /** The path of the request. */
  readonly instance?: string | undefined;
}

export interface ErrorAnswer {
  readonly contentType: string;
  readonly body: string;
}

/** `about:blank` means that the title is that of the status (RFC 9457). */
const TYPE = 'about:blank';

function titleOf(status: number): string {
  return STATUS_CODES[status] ?? `Status ${status}`;
}

function fieldErrors({ errors, field, message }: ErrorFacts): readonly EdgeFieldError[] {
  if (errors !== undefined) return errors;
  return field === undefined ? [] : [{ field, message }];
}

function problem(facts: ErrorFacts): unknown {
  const errors = fieldErrors(facts);
  return {
    type: TYPE,
    title: titleOf(facts.status),
    status: facts.status,
    detail: facts.message,
    instance: facts.instance ?? null,
    errorKey: facts.key,
    ...(errors.length === 0 ? {} : { errors }),
  };
}

function errorsList(facts: ErrorFacts): unknown {
  return {
    title: titleOf(facts.status),
    status: facts.status,
    detail: facts.message,
    instance: facts.instance ?? '',
    errors: fieldErrors(facts).map(({ message, field }) => ({ message, field })),
    id: randomUUID(),
    type: TYPE,
  };
}

/** The database's codes are upper case with underscores, like SQLite's. */
function pipelineCode(key: string): string {
  return key.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase();
}

const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

const FIELD_ERRORS = listOf(exactly({ message: TEXT, field: TEXT }));

interface Shape {
  /** The name of its schema in the interface's description. */
  readonly name: string;
  readonly schema: JsonSchema;
  readonly contentType: string;
  /** The value that is written as JSON. */
  readonly body: (facts: ErrorFacts) => unknown;
}

/** The ways in which operations write their errors. */
export const ERROR_SHAPES = {
  problem: {
    name: 'EdgeProblemDetails',
    schema: {
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
    contentType: PROBLEM_TYPE,
    body: problem,
  },
  legacy: {
    name: 'LegacyError',
    schema: exactly({ ErrorKey: TEXT, Field: { ...NULLABLE_TEXT, description: 'The one that is wrong' }, Message: TEXT }),
    contentType: JSON_TYPE,
    body: ({ key, message, field, errors }) => ({ ErrorKey: key, Field: field ?? errors?.[0]?.field ?? null, Message: message }),
  },
  'errors-list': {
    name: 'ProblemWithErrors',
    schema: exactly({ title: TEXT, status: INT32_SCHEMA, detail: TEXT, instance: TEXT, errors: FIELD_ERRORS, id: TEXT, type: TEXT }),
    contentType: PROBLEM_TYPE,
    body: errorsList,
  },
  status: {
    name: 'StatusObject',
    schema: exactly({ statusCode: { type: 'integer', minimum: 100, maximum: 511 } }),
    contentType: JSON_TYPE,
    body: ({ status }) => ({ statusCode: status }),
  },
  pipeline: {
    name: 'PipelineError',
    schema: exactly({ error: TEXT, message: TEXT, code: TEXT }),
    // @libsql/client reads the body only where the type is exactly this, without parameters.
    contentType: 'application/json',
    // @libsql/client shows `message`, the client in Go `error`.
    body: ({ key, message }) => ({ error: message, message, code: pipelineCode(key) }),
  },
} as const satisfies Readonly<Record<string, Shape>>;

export type ErrorShape = keyof typeof ERROR_SHAPES;

/** The body of an error in a shape, and its content type. */
export function errorBody(shape: ErrorShape, facts: ErrorFacts): ErrorAnswer {
  const { contentType, body } = ERROR_SHAPES[shape];
  return { contentType, body: JSON.stringify(body(facts)) };
}
