import { type ErrorFacts, errorBody } from '../../edge/error-shapes.ts';
import type { JsonSchema } from '../../edge/operations/json-schema.ts';
import { type ErrorExample, KEY_KINDS, type Operation } from '../../edge/operations/operation.ts';
import { COMPANIONS, NAMED_SCHEMAS, OPERATION_GROUPS, OPERATIONS, rangesText } from '../../edge/operations/operations.ts';
import { fillPath } from '../../edge/proxy/upstream-request.ts';
import { BODY_DEADLINE_MS } from '../http/request-body.ts';
import { content, OPEN, type PathItem, ref } from './openapi-elements.ts';
import { STATUS_HEADERS } from './openapi-problems.ts';

/** The numbers of some operations, as `operations 6 to 8`. */
function numbersOf(operations: readonly Operation[]): string {
  return `operation${operations.length === 1 ? '' : 's'} ${rangesText(operations.map(({ number }) => number))}`;
}

/** The tags of the operations, with the numbers of those under each. */
export const OPERATION_TAGS = OPERATION_GROUPS.map(({ tag, about, operations }) => ({
  name: tag,
  description: `${about} (${numbersOf(operations)})`,
}));

/** All operations of the table, at the beginning of a sentence. */
export const ALL_OPERATIONS = numbersOf(OPERATIONS).replace(/^o/, 'O');

/** A path of the table as the document writes it: `/pullzone/{id}/removeHostname`. */
export function documentedPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** A reference to a schema that has a name; a schema without one is written out. */
function refTo(schema: JsonSchema): object {
  const name = Object.entries(NAMED_SCHEMAS).find(([, named]) => named === schema)?.[0];
  return name === undefined ? schema : ref(name);
}

function parametersOf({ params, query, example }: Operation): readonly object[] {
  return (['path', 'query'] as const).flatMap((where) => {
    const { properties = {}, required = [] } = (where === 'path' ? params : query) as {
      readonly properties?: Readonly<Record<string, JsonSchema>>;
      readonly required?: readonly string[];
    };
    const values = where === 'path' ? example.params : example.query;
    return Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: where,
      required: required.includes(name),
      ...(where === 'query' && !required.includes(name) ? { allowEmptyValue: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(Object.hasOwn(values, name) ? { example: values[name] } : {}),
    }));
  });
}

function bodyOf({ body, bodyTypes, bodyLimitBytes, example }: Operation): object {
  if (body === null) return {};
  const examples = { example: { summary: 'One that works on a new local control plane', value: example.body } };
  return {
    requestBody: {
      description: `At most ${bodyLimitBytes / 1024} KiB`,
      required: true,
      content: content(bodyTypes, refTo(body), examples),
    },
  };
}

function successOf({ answerType, example }: Operation, schema: JsonSchema | null): object {
  if (schema === null) return { description: 'Done; no body' };
  return {
    description: 'Done',
    content: content([answerType], refTo(schema), { example: { summary: 'Its answer', value: example.answer } }),
  };
}

interface StatusWords {
  readonly description: string;
  /** The example of such an error, unless the operation has one of its own. */
  readonly facts: (operation: Operation) => ErrorExample;
}

/** The words for the errors of all operations, by status. */
const STATUS_WORDS: Readonly<Record<number, StatusWords>> = {
  400: {
    description: 'The request is wrong',
    facts: ({ name, body }) => {
      if (body === null) throw new Error(`${name} may be answered with 400, takes no body, and has no example of it in the table`);
      return { key: 'request.malformed', field: 'body', message: 'The body is missing' };
    },
  },
  401: {
    description: 'The access key is missing or unknown',
    facts: () => ({ key: 'access.key_missing', message: 'The AccessKey header is missing' }),
  },
  403: {
    description: 'The access key does not open it, or a web page elsewhere asks',
    facts: () => ({ key: 'access.scope_denied', message: 'The access key does not have the scope "personal"' }),
  },
  404: {
    description: 'There is no such thing',
    facts: ({ name }) => {
      throw new Error(`${name} may be answered with 404 and has no example of it in the table`);
    },
  },
  408: {
    description: 'The body did not arrive in time',
    facts: () => ({ key: 'request.timeout', message: `the request body did not arrive whole within ${BODY_DEADLINE_MS} ms` }),
  },
  413: {
    description: 'The body is too large',
    facts: ({ bodyLimitBytes }) => ({
      key: 'body.too_large',
      message: `The request body has more than ${bodyLimitBytes} bytes; allowed: at most ${bodyLimitBytes} bytes`,
    }),
  },
  415: {
    description: 'The content type or encoding is not supported',
    facts: ({ bodyTypes }) => ({
      key: 'body.unsupported_type',
      field: 'Content-Type',
      message: `Content-Type: text/csv is not supported; allowed: ${bodyTypes.join(', ')}`,
    }),
  },
  500: {
    description: 'A defect of the program',
    facts: () => ({ key: 'internal', message: 'The request failed; the program has logged why' }),
  },
  502: {
    description: 'The upstream cannot be reached, or its answer is not one to hand on',
    facts: () => ({ key: 'upstream.unreachable', message: 'The upstream could not be reached' }),
  },
  503: {
    description: 'Overloaded, or stopping',
    facts: () => ({ key: 'program.stopping', message: 'The program is stopping; try again when it is back' }),
  },
  504: {
    description: 'The upstream is too slow',
    facts: () => ({ key: 'upstream.too_slow', message: 'The upstream did not answer in time' }),
  },
};

/** Stands for the random `id` of errors in one shape, so that the document is the same each time. */
const SAMPLE_ID = '5f0c1c62-7a3b-4a53-9c58-3b6de1d0a1f4';

/** The answer for an error of a status in the operation's shape. The example is made as the error itself is. */
function errorOf(operation: Operation, status: number, schema: JsonSchema): object {
  const words = STATUS_WORDS[status];
  if (words === undefined) throw new Error(`There are no words for status ${status} of ${operation.name}`);
  const { key, message, field } = operation.errors[status] ?? words.facts(operation);
  const facts: ErrorFacts = { status, key, message, field, instance: fillPath(operation.path, operation.example.params) };
  const { contentType, body } = errorBody(operation.errorShape, facts);
  const written = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const value = Object.hasOwn(written, 'id') ? { ...written, id: SAMPLE_ID } : written;
  const examples = { example: { summary: words.description, value } };
  return {
    description: words.description,
    ...(STATUS_HEADERS[status] ?? {}),
    content: content([contentType.split(';', 1)[0] ?? contentType], refTo(schema), examples),
  };
}

function responsesOf(operation: Operation): object {
  return Object.fromEntries(
    Object.entries(operation.responses).map(([text, schema]) => {
      const status = Number(text);
      return [status, status === operation.status ? successOf(operation, schema) : errorOf(operation, status, schema ?? {})];
    }),
  );
}

function described(operation: Operation, tag: string): object {
  const { number, name, summary, key } = operation;
  const { securityScheme, about } = KEY_KINDS[key];
  const isCompanion = COMPANIONS.includes(operation);
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(isCompanion ? { description: about } : { description: `Operation ${number}. ${about}` }),
    ...(securityScheme === null ? OPEN : { security: [{ [securityScheme]: [] }] }),
    parameters: parametersOf(operation),
    ...bodyOf(operation),
    responses: responsesOf(operation),
  };
}

/** The operations of the table and their companions by path, each with its methods. */
export const OPERATION_PATHS: Readonly<Record<string, PathItem>> = pathItems();

function pathItems(): Readonly<Record<string, PathItem>> {
  const items: Record<string, PathItem> = {};
  for (const { tag, operations, companions = [] } of OPERATION_GROUPS) {
    for (const operation of [...operations, ...companions]) {
      const path = documentedPath(operation.path);
      items[path] = { ...items[path], [operation.method.toLowerCase()]: described(operation, tag) };
    }
  }
  return items;
}
