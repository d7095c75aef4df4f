import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { OPENAPI_DOCUMENT } from '../../../src/openapi/openapi-document.ts';
import type { DrivenAnswer } from './driven-answer.ts';

/** A body of one content type. */
export interface MediaType {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface DescribedResponse {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** One operation as the document has it. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly path: string;
  readonly method: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required?: boolean;
    readonly allowEmptyValue?: boolean;
    readonly schema: object;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

/** Every operation of the document. */
export const DESCRIBED_OPERATIONS: readonly DescribedOperation[] = Object.entries(OPENAPI_DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...(operation as unknown as DescribedOperation),
    path,
    method: method.toUpperCase(),
  })),
);

const ID = 'https://shieldlog.test/openapi.json';

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { int32: true, int64: true } });
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/);
ajv.addSchema({ $id: ID, components: OPENAPI_DOCUMENT.components });

const validators = new WeakMap<object, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const validator = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${ID}#/components/`)));
  validators.set(schema, validator);
  return validator;
}

/** Returns the faults of a value by a schema anywhere in the document. */
export function faultsOf(schema: object, value: unknown): unknown {
  const validate = validatorOf(schema);
  return validate(value) ? [] : validate.errors;
}

const isJson = (type: string): boolean => /^(application|text)\/(.*\+)?json$/.test(type);

/** The values in a body: one where the type is JSON, the text where the schema is of a text, else one a line, which is JSON or not. */
export function valuesIn(type: string, schema: object, text: string): readonly unknown[] {
  if (isJson(type)) return [JSON.parse(text)];
  if ('type' in schema && schema.type === 'string') return [text];
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('{') ? JSON.parse(line) : line));
}

/** Everything in which an answer is not as the document says of its status. */
export function undescribed({ responses }: DescribedOperation, { status, headers, text }: DrivenAnswer): readonly unknown[] {
  const response = responses[status];
  if (response === undefined) return [`the status ${status} is not described`];
  const missing = Object.entries(response.headers ?? {}).filter(([name, { required }]) => required === true && !headers.has(name));
  const faults = missing.map(([name]) => `${name} is missing`);
  const type = headers.get('content-type')?.split(';', 1)[0] ?? null;
  if (response.content === undefined) return [...faults, ...(text === '' && type === null ? [] : [`a body of ${type} is not described`])];
  const media = response.content[type ?? ''];
  if (media === undefined) return [...faults, `the type ${type} is not described`];
  return [...faults, ...valuesIn(type ?? '', media.schema, text).flatMap((value) => faultsOf(media.schema, value))];
}
