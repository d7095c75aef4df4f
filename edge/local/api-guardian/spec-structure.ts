import { Validator } from '@seriousme/openapi-schema-validator';
import { shown } from '../../shown-value.ts';
import { type JsonObject, type JsonTree, member } from './json-tree.ts';
import { faultAt, placeOf, SpecFault, type SpecFieldError } from './spec-fault.ts';

/** The package's own finding, as far as it is used here. */
interface Finding {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Says that no branch fitted; what did not fit stands beside it. */
const SUMMARIES = new Set(['oneOf', 'anyOf', 'if', 'not']);

/** Throws SpecFault unless the specification says that it is OpenAPI 3.0. */
export function requireOpenApi30(tree: JsonObject): void {
  const swagger = member(tree, 'swagger');
  const allowed = 'allowed: OpenAPI 3.0, such as "openapi": "3.0.3"';
  if (swagger !== undefined) throw faultAt('/swagger', `Swagger ${shown(swagger)} is not taken; ${allowed}`);
  const version = member(tree, 'openapi');
  if (typeof version !== 'string') throw faultAt('/openapi', `${shown(version)} is not the text of a version; ${allowed}`);
  if (!/^3\.0\.\d+(?:-.+)?$/.test(version))
    throw faultAt('/openapi', `OpenAPI ${shown(version)} is not taken: its schemas mean other things; ${allowed}`);
}

function isNoise({ keyword, params }: Finding): boolean {
  // Every object that could have been a reference is found to be none.
  return SUMMARIES.has(keyword) || (keyword === 'required' && params['missingProperty'] === '$ref');
}

function valueAt(tree: JsonObject, pointer: string): JsonTree | undefined {
  let at: unknown = tree;
  for (const key of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return at as JsonTree | undefined;
}

function toFieldError({ instancePath, message, params }: Finding, tree: JsonObject): SpecFieldError {
  const value = valueAt(tree, instancePath);
  const what = typeof value === 'object' ? '' : `${shown(value)} `;
  const named = params['additionalProperty'] ?? params['allowedValues'];
  return { field: placeOf(instancePath), message: `${what}${message ?? 'is not valid'}${named === undefined ? '' : `: ${shown(named)}`}` };
}

function distinct(errors: readonly SpecFieldError[]): readonly SpecFieldError[] {
  return [...new Map(errors.map((error) => [`${error.field} ${error.message}`, error])).values()];
}

/** Holds a specification, copied by `checkReferences`, against the schema of OpenAPI 3.0. Throws SpecFault with the places. */
export async function checkStructure(tree: JsonObject): Promise<void> {
  // Never text: the package takes a text of one line for the name of a file and reads it.
  const { valid, errors } = await new Validator().validate({ ...tree });
  if (valid) return;
  if (!Array.isArray(errors)) throw faultAt('', errors ?? 'it is not valid');
  const findings: readonly Finding[] = errors;
  const telling = findings.filter((finding) => !isNoise(finding));
  throw new SpecFault(distinct((telling.length > 0 ? telling : findings).map((finding) => toFieldError(finding, tree))));
}
