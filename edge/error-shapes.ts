import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { EdgeFieldError } from './edge-error.ts';
import type { ErrorShape } from './operation.ts';

/** What is wrong, before it is written in a shape. */
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

/** RFC 9457: a type of about:blank says that the title is that of the status. */
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

/** The database's codes are upper case with underscores, as SQLite's own are. */
function pipelineCode(key: string): string {
  return key.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase();
}

/** The body of an error in one of the five shapes, and its content type. */
export function errorBody(shape: ErrorShape, facts: ErrorFacts): ErrorAnswer {
  const { status, key, message, field } = facts;
  const json = (value: unknown, contentType = 'application/json; charset=utf-8'): ErrorAnswer => ({
    contentType,
    body: JSON.stringify(value),
  });
  switch (shape) {
    case 'problem':
      return json(problem(facts), 'application/problem+json; charset=utf-8');
    case 'legacy':
      return json({ ErrorKey: key, Field: field ?? facts.errors?.[0]?.field ?? null, Message: message });
    case 'errors-list':
      return json(errorsList(facts), 'application/problem+json; charset=utf-8');
    case 'status':
      return json({ statusCode: status });
    case 'pipeline':
      // @libsql/client reads the body only where the type is exactly this, without parameters.
      return json({ error: titleOf(status), message, code: pipelineCode(key) }, 'application/json');
  }
}
