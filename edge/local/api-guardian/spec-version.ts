import { Validator } from '@seriousme/openapi-schema-validator';
import openApi31 from '@seriousme/openapi-schema-validator/schemas/v3.1/schema.json' with { type: 'json' };
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { shown } from '../../shown-value.ts';
import { SpecNumber } from './spec-number.ts';
import {
  type JsonTree,
  member,
  placeOf,
  SpecFault,
  type SpecFieldError,
  type SpecObject,
  shownTree,
  specFaultAt,
  valueAtPointer,
} from './spec-tree.ts';

/** The versions of OpenAPI that are read. Their trees are the same; a schema of 3.1 is one of JSON Schema 2020-12. */
export type SpecVersion = '3.0' | '3.1';

const SCHEMA_2020_12 = 'https://json-schema.org/draft/2020-12/schema';

/** The dialect of OpenAPI 3.1 and its dated editions. */
const DIALECT = /^https:\/\/spec\.openapis\.org\/oas\/3\.1\/dialect\/(?:base|\d{4}-\d{2}-\d{2})#?$/;

/** Whether the dialect of a specification of OpenAPI 3.1, or of one of its schemas, is what they are read as. */
export function isReadDialect(name: JsonTree): boolean {
  return (typeof name === 'string' && DIALECT.test(name)) || name === SCHEMA_2020_12 || name === `${SCHEMA_2020_12}#`;
}

export const READ_DIALECTS = 'that of OpenAPI 3.1, JSON Schema 2020-12, or leave it out';

/** Whether a `pattern` is a regular expression of ECMA-262 with the flag `u`, as JSON Schema reads it. It is compiled and never run. */
export function isReadPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Returns the version of a specification. Throws SpecFault for others, and where its schemas are of another dialect. */
export function readVersion(root: SpecObject): SpecVersion {
  const swagger = member(root, 'swagger');
  const allowed = 'allowed: OpenAPI 3.0 and 3.1, such as "openapi": "3.1.1"';
  if (swagger !== undefined) throw specFaultAt('/swagger', `Swagger ${shownTree(swagger)} is not taken; ${allowed}`);
  const written = member(root, 'openapi');
  if (typeof written !== 'string') throw specFaultAt('/openapi', `${shownTree(written)} is not the text of a version; ${allowed}`);
  const [, version] = /^(3\.[01])\.\d+(?:-.+)?$/.exec(written) ?? [];
  if (version === undefined) throw specFaultAt('/openapi', `OpenAPI ${shown(written)} is not taken; ${allowed}`);
  if (version === '3.0') return '3.0';
  const dialect = member(root, 'jsonSchemaDialect');
  if (dialect !== undefined && !isReadDialect(dialect))
    throw specFaultAt('/jsonSchemaDialect', `${shownTree(dialect)} is not taken; allowed: ${READ_DIALECTS}`);
  return '3.1';
}

/** The members of a finding of a validator that are used here. */
interface Finding {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  /** The name that is wrong, where it is one in the object at the path. */
  readonly propertyName?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A schema of OpenAPI 3.1. The anchor makes the schemas inside of it the same. */
const SCHEMA_OBJECT = {
  $dynamicAnchor: 'meta',
  $ref: SCHEMA_2020_12,
  properties: {
    // The validator passes over formats in schemas of schemas.
    patternProperties: { propertyNames: { format: 'regex' } },
    discriminator: {
      type: 'object',
      required: ['propertyName'],
      properties: { propertyName: { type: 'string' }, mapping: { type: 'object', additionalProperties: { type: 'string' } } },
    },
  },
};

function findings31(copy: object): readonly Finding[] {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addFormat('media-range', true);
  // The published schema does not look into schemas.
  const validate = ajv.compile({ ...openApi31, $defs: { ...openApi31.$defs, schema: SCHEMA_OBJECT } });
  validate(copy);
  return validate.errors ?? [];
}

async function findings30(copy: object): Promise<readonly Finding[]> {
  // A text must never be passed: the package would read a text of one line as a file name.
  const { valid, errors } = await new Validator().validate({ ...copy });
  if (valid) return [];
  if (!Array.isArray(errors)) throw specFaultAt('', errors ?? 'it is not valid');
  return errors;
}

/** Keywords that only say that no branch fits. The reasons are reported beside them. */
const SUMMARIES = new Set(['oneOf', 'anyOf', 'if', 'not']);

function isNoise({ keyword, params }: Finding): boolean {
  // The package reports every object as being no reference.
  return SUMMARIES.has(keyword) || (keyword === 'required' && params['missingProperty'] === '$ref');
}

function toFieldError({ instancePath, message, propertyName, params }: Finding, root: SpecObject): SpecFieldError {
  const value = propertyName ?? valueAtPointer(root, instancePath);
  const what = typeof value === 'object' && !(value instanceof SpecNumber) ? '' : `${shownTree(value)} `;
  const named = params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['allowedValues'];
  return { field: placeOf(instancePath), message: `${what}${message ?? 'is not valid'}${named === undefined ? '' : `: ${shown(named)}`}` };
}

function distinct(errors: readonly SpecFieldError[]): readonly SpecFieldError[] {
  return [...new Map(errors.map((error) => [`${error.field} ${error.message}`, error])).values()];
}

/** Checks a specification by the schema of its version. Throws SpecFault with all pointers; `copy` is that of `checkReferences`. */
export async function checkStructure(root: SpecObject, version: SpecVersion, copy: object): Promise<void> {
  const findings = version === '3.0' ? await findings30(copy) : findings31(copy);
  if (findings.length === 0) return;
  const telling = findings.filter((finding) => !isNoise(finding));
  throw new SpecFault(distinct((telling.length > 0 ? telling : findings).map((finding) => toFieldError(finding, root))));
}
