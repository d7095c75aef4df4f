import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { EdgeError } from './edge-error.ts';
import type { JsonSchema } from './operation.ts';
import { shown } from './shown-value.ts';

/** Nothing is changed in what was sent, it ends at the first thing that is wrong, and it tells the value. */
const ajv = new Ajv({ allErrors: false, verbose: true, allowUnionTypes: true });
formats.default(ajv, ['date-time']);

/** By the schema's text: a schema that came from another thread is another object each time. */
const compiled = new Map<string, ValidateFunction>();

/** A function that returns what is wrong with a value by the schema, or null. Throws where the schema is none. */
export function validatorOf(schema: JsonSchema): (value: unknown) => readonly unknown[] | null {
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validate);
  return (value) => (validate(value) ? null : (validate.errors ?? []));
}

/** What the validator says of one failure. */
interface Failure {
  /** A JSON pointer, such as `/Records/0/Ttl`. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  /** The value that failed. */
  readonly data?: unknown;
}

/** `/Records/0/Ttl` as `Records[0].Ttl`. */
function placeOf(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.map((name, index) => (/^\d+$/.test(name) ? `[${name}]` : `${index === 0 ? '' : '.'}${name}`)).join('');
}

function inside(place: string, name: unknown): string {
  return place === '' ? String(name) : `${place}.${String(name)}`;
}

function describe({ instancePath, keyword, params, message, data }: Failure): { field: string; message: string } {
  const place = placeOf(instancePath);
  switch (keyword) {
    case 'required':
      return { field: inside(place, params['missingProperty']), message: 'is missing' };
    case 'additionalProperties':
      return { field: inside(place, params['additionalProperty']), message: 'is not a parameter of this operation' };
    case 'enum':
      return { field: place, message: `${shown(data)} is not allowed; allowed: ${(params['allowedValues'] as unknown[]).join(', ')}` };
    default:
      return { field: place, message: `${shown(data)} ${message ?? 'is not allowed'}` };
  }
}

/** The refusal of a request whose path, query or body failed its schema. `part` is body, params or querystring. */
export function invalidInput(failures: readonly unknown[], part: string): EdgeError {
  const errors = (failures as readonly Failure[])
    .map(describe)
    .map(({ field, message }) => ({ field: field === '' ? part : field, message }));
  const [first] = errors;
  const text = first === undefined ? `The ${part} is not valid` : `${first.field}: ${first.message}`;
  return new EdgeError(400, 'request.invalid', text, { errors });
}

/**
 * The texts of a path or a query as the types their schema wants: decimal digits become an integer, everything else stays as it is and is
 * left for the validator to refuse.
 */
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
