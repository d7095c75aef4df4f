import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import * as contentType from 'content-type';
import { EdgeError } from './edge-error.ts';
import { JSON_COST, scanJson } from './json-scan.ts';
import type { JsonSchema } from './operations/json-schema.ts';
import { cut, shown } from './shown-value.ts';

function takes(bodyTypes: readonly string[], type: string): boolean {
  return bodyTypes.some((taken) => (taken === 'application/*+json' ? /^application\/[^/]+\+json$/.test(type) : taken === type));
}

/**
 * Returns the media type of a `Content-Type` in lower case and without parameters. Throws what `refuse` makes of the reason, unless
 * `isTaken` takes the type and the charset, if named, is UTF-8. `allowed` names the types that are taken.
 */
export function bodyTypeOf(header: string, isTaken: (type: string) => boolean, allowed: string, refuse: (reason: string) => Error): string {
  const { type, parameters } = contentType.parse(header);
  if (!contentType.isTypeValid(type) || !isTaken(type)) {
    throw refuse(`Content-Type: ${header === '' ? '(none)' : header} is not supported; allowed: ${allowed}`);
  }
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw refuse(`The charset "${charset}" is not supported; allowed: utf-8`);
  return type;
}

/**
 * Returns the media type of a body in lower case and without parameters. Throws EdgeError 415 unless it is one of `bodyTypes`, its charset,
 * if named, is UTF-8, and it is not compressed. A body without a type is refused, too, unless `untypedIs` says what it is.
 */
export function requireBodyType(
  headers: Readonly<Record<string, unknown>>,
  { bodyTypes, untypedIs }: { readonly bodyTypes: readonly string[]; readonly untypedIs: string | null },
): string {
  const given = headers['content-type'];
  const header = typeof given === 'string' ? given : (untypedIs ?? '');
  const refuse = (message: string): EdgeError => new EdgeError(415, 'body.unsupported_type', message, { field: 'Content-Type' });
  const type = bodyTypeOf(header, (one) => takes(bodyTypes, one), bodyTypes.join(', '), refuse);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw refuse(`Content-Encoding: ${String(encoding)} is not supported here; allowed: identity`);
  return type;
}

function parsed(text: string, refuse: (message: string, cause: unknown) => EdgeError): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse(`The body is not JSON: ${cut((error as Error).message)}`, error);
  }
}

/**
 * Parses a JSON body. Throws EdgeError 400 for a missing body, bytes that are not UTF-8 or not JSON, too many values, and an object with a
 * key twice.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  const refuse = (message: string, cause?: unknown): EdgeError =>
    new EdgeError(400, 'request.malformed', message, { field: 'body', cause });
  if (bytes.length === 0) throw refuse('The body is missing');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse('The body is not UTF-8', error);
  }
  const { tooCostly, repeatedKey } = scanJson(text, JSON_COST);
  if (tooCostly !== null) throw refuse(`The body has ${tooCostly}`);
  const value = parsed(text, refuse);
  if (repeatedKey !== null) throw refuse(`The body has the key ${shown(repeatedKey)} twice in one object; allowed: once`);
  return value;
}

/** Changes nothing in the value, stops at the first fault, and reports the value. */
const ajv = new Ajv({ allErrors: false, verbose: true, allowUnionTypes: true });
formats.default(ajv, ['date-time']);

/** Keyed by the schema's text, because a schema from another thread is another object each time. */
const compiled = new Map<string, ValidateFunction>();

/** Returns a function that lists the faults of a value by the schema; null where there are none. Throws where the schema is invalid. */
export function validatorOf(schema: JsonSchema): (value: unknown) => readonly unknown[] | null {
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validate);
  return (value) => (validate(value) ? null : (validate.errors ?? []));
}

/** A fault as the validator reports it. */
interface Failure {
  /** A JSON pointer, such as `/Records/0/Ttl`. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  /** The wrong value. */
  readonly data?: unknown;
}

/** Writes the JSON pointer `/Records/0/Ttl` as `Records[0].Ttl`. */
function pathOf(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.map((name, index) => (/^\d+$/.test(name) ? `[${name}]` : `${index === 0 ? '' : '.'}${name}`)).join('');
}

function inside(path: string, name: unknown): string {
  return path === '' ? String(name) : `${path}.${String(name)}`;
}

/** Says that a property is missing, and which one may have been meant for it. */
function missing(name: string, data: unknown): string {
  const meant = Object.keys(data ?? {}).find((given) => given.toLowerCase() === name.toLowerCase());
  return meant === undefined ? 'is missing' : `is missing; ${shown(meant)} is there, and names are case-sensitive: ${shown(name)} is meant`;
}

function describe({ instancePath, keyword, params, message, data }: Failure): { field: string; message: string } {
  const path = pathOf(instancePath);
  switch (keyword) {
    case 'required':
      return { field: inside(path, params['missingProperty']), message: missing(String(params['missingProperty']), data) };
    case 'enum':
      return { field: path, message: `${shown(data)} is not allowed; allowed: ${(params['allowedValues'] as unknown[]).join(', ')}` };
    default:
      return { field: path, message: `${shown(data)} ${message ?? 'is not allowed'}` };
  }
}

/** The error for a request whose path, query or body breaks its schema. `part` is body, params or querystring. */
export function invalidInput(failures: readonly unknown[], part: string): EdgeError {
  const errors = (failures as readonly Failure[])
    .map(describe)
    .map(({ field, message }) => ({ field: field === '' ? part : field, message }));
  const [first] = errors;
  const text = first === undefined ? `The ${part} is not valid` : `${first.field}: ${first.message}`;
  return new EdgeError(400, 'request.invalid', text, { errors });
}

/**
 * The query parameters that the schema names, because clients add some of their own to every request. One that is empty counts as absent
 * unless it is required.
 */
export function knownQuery(query: Readonly<Record<string, unknown>>, schema: JsonSchema): Record<string, unknown> {
  const { properties, required } = schema as { readonly properties: object; readonly required: readonly string[] };
  const isKnown = ([name, value]: readonly [string, unknown]): boolean =>
    Object.hasOwn(properties, name) && (value !== '' || required.includes(name));
  return Object.fromEntries(Object.entries(query).filter(isKnown));
}

/** Turns decimal digits into numbers where the schema wants an integer. Everything else stays a text, which the validator refuses. */
export function withNumbers(texts: Readonly<Record<string, unknown>>, schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const wantsInteger = Object.hasOwn(properties, name) && properties[name]?.['type'] === 'integer';
      // Adding 0 makes 0 of -0.
      return [name, wantsInteger && typeof text === 'string' && /^-?\d{1,16}$/.test(text) ? Number(text) + 0 : text];
    }),
  );
}
