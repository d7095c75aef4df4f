import { INT32 } from '../../query/integer-ranges.ts';
import { JSON_TYPES } from '../http/content-negotiation.ts';
import type { ErrorKey } from '../http/problem.ts';

/** The methods of one path. */
export type PathItem = Readonly<Record<string, object>>;

/** A method of a path, as the document has it but for what its group and path say. */
export interface DescribedMethod {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: object;
  /** What is answered with ProblemDetails beside the responses, and with a defect. Absent: nothing. */
  readonly problems?: readonly ErrorKey[];
}

/** A group of routes in the document, with the schemas that it names. */
export interface DescribedGroup {
  /** The tag of its operations. */
  readonly tag: string;
  /** What the tag is about; absent: another group of the tag says it. */
  readonly about?: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedMethod>>>>;
  /** By the name that `ref` takes. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** Refers to a schema of the document's components. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Examples by name, each with a summary and its value. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** The content of each of the types, with one schema and the same examples. */
export const content = (types: readonly string[], schema: object, examples?: Examples) =>
  Object.fromEntries(types.map((type) => [type, { schema, ...(examples === undefined ? {} : { examples }) }]));

/** A body of JSON that has the schema of that name. */
export const jsonBody = (name: string, examples: Examples) => ({ required: true, content: content(JSON_TYPES, ref(name), examples) });

/** An answer whose body has the schema of that name. */
export const answer = (description: string, name: string, examples: Examples, types: readonly string[] = ['application/json']) => ({
  description,
  content: content(types, ref(name), examples),
});

/** A whole number in the path, or an optional one in the query. */
export const integerIn = (where: 'path' | 'query', name: string, schema: object, description: string, example?: number) => ({
  name,
  in: where,
  required: where === 'path',
  description,
  schema: { type: 'integer', ...schema },
  ...(example === undefined ? {} : { example }),
});

/** The zones in the path of a route that takes several. */
export const ZONES_IN_PATH = {
  name: 'shieldZoneId',
  in: 'path',
  required: true,
  description: 'The shield zone, or several with commas between, or all, which are those that the access key opens',
  schema: { type: 'string', pattern: '^(all|-?\\d{1,10}(,-?\\d{1,10})*)$' },
  example: '7',
};

/** The security of operations that never need a key. */
export const OPEN = { security: [] };

export const INT32_RANGE = { format: 'int32', minimum: Number(INT32.min), maximum: Number(INT32.max) };
export const int32Schema = { type: 'integer', ...INT32_RANGE };
export const int64Schema = { type: 'integer', format: 'int64' };
export const textSchema = { type: 'string' };
export const nullableText = { type: ['string', 'null'] };

/** A number of things. */
export const count = (description: string) => ({ ...int64Schema, minimum: 0, description });

/** A time in Unix ms UTC. */
export const time = (description: string) => ({ ...int64Schema, description: `${description}, Unix ms UTC` });

/** A number with separators, such as `10,000`. */
export const shownCount = (limit: number) => limit.toLocaleString('en-US');

/** A size in bytes in its largest whole unit, such as `64 KiB`. */
export function shownBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let [size, unit] = [bytes, 0];
  for (; size % 1024 === 0 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size} ${units[unit]}`;
}
