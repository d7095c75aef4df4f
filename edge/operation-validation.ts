import { EdgeError } from './edge-error.ts';
import { shown } from './shown-value.ts';

/**
 * What the validator of the Fastify instance has to be set to (`fastify({ ajv: VALIDATOR_OPTIONS })`): nothing is changed in what was sent,
 * it ends at the first thing that is wrong, and it tells the value.
 */
export const VALIDATOR_OPTIONS = {
  customOptions: {
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
    allErrors: false,
    verbose: true,
    allowUnionTypes: true,
  },
} as const;

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
