import { shown } from '../../shown-value.ts';
import { SpecNumber } from './spec-number.ts';
import {
  follow,
  isJsonObject,
  type JsonTree,
  MAX_SHOWN,
  memberOf,
  placeOf,
  SpecFault,
  type SpecFieldError,
  type SpecObject,
  shownTree,
  specFaultAt,
} from './spec-tree.ts';
import { isReadDialect, isReadPattern, READ_DIALECTS, type SpecVersion } from './spec-version.ts';

/** Below these keys the author chooses the names: `default` is a response there. */
const NAME_MAPS = new Set([
  '$defs',
  'callbacks',
  'content',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'encoding',
  'examples',
  'headers',
  'links',
  'mapping',
  'parameters',
  'pathItems',
  'paths',
  'patternProperties',
  'properties',
  'requestBodies',
  'responses',
  'schemas',
  'scopes',
  'securitySchemes',
  'variables',
  'webhooks',
]);

/** Below these keys everything is data: `$ref` is an ordinary name there. */
const DATA = new Set(['const', 'default', 'dependentRequired', 'enum', 'example', 'value']);

/** Members that the validators take for references and anchors everywhere. */
const POINTER_WORDS = new Set(['$ref', '$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$schema']);

/** Words of JSON Schema that give a schema, or the schemas inside of it, another address. */
const ADDRESS_WORDS = new Set(['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']);

/** What the members of an object are; those of a schema, and the names of schemas, are told from others. */
type Mode = 'keywords' | 'names' | 'schema' | 'schema-names' | 'data';

const isKeywords = (mode: Mode): boolean => mode === 'keywords' || mode === 'schema';

function modeBelow(key: string, mode: Mode): Mode {
  if (mode === 'data') return 'data';
  if (!isKeywords(mode)) return mode === 'names' ? 'keywords' : 'schema';
  if (DATA.has(key) || key.startsWith('x-')) return 'data';
  if (mode === 'schema') {
    // Elsewhere these are named objects with references; a schema has values there.
    if (key === 'examples') return 'data';
    return NAME_MAPS.has(key) ? 'schema-names' : 'schema';
  }
  if (key === 'schema') return 'schema';
  if (key === 'schemas') return 'schema-names';
  return NAME_MAPS.has(key) ? 'names' : 'keywords';
}

/** Why a member of a schema is read as if it were not there; null where it is not. */
function unusedReason(key: string, value: JsonTree, version: SpecVersion): string | null {
  if (key === 'pattern' && typeof value === 'string' && !isReadPattern(value))
    return `${shown(value)} is no regular expression of ECMA-262 (with the flag u)`;
  // A schema of OpenAPI 3.0 has no such member.
  if (key === 'examples' && version === '3.1' && !Array.isArray(value)) return `${shownTree(value)} is not an array`;
  return null;
}

/**
 * The fault of a member of a schema that would make it mean something else than what is read; null where there is none. The validators do
 * not see these members, of which OpenAPI 3.0 has none.
 */
function foreignMember(key: string, value: JsonTree, version: SpecVersion, pointer: string): SpecFault | null {
  if (ADDRESS_WORDS.has(key)) {
    const allowed = 'allowed: "$ref" with the place in this document, such as "#/components/schemas/Pet"';
    return specFaultAt(pointer, `${key} is not taken; ${allowed}`);
  }
  if (key !== '$schema' || (version === '3.1' && isReadDialect(value))) return null;
  if (version === '3.0') {
    // Editors put it at the top of a document, where it says nothing about schemas.
    return pointer === '/$schema' ? null : specFaultAt(pointer, '$schema is not taken in OpenAPI 3.0; allowed: leave it out');
  }
  return specFaultAt(pointer, `${shownTree(value)} is not taken; allowed: ${READ_DIALECTS}`);
}

interface CheckedReferences {
  /** For the validators: see `checkReferences`. */
  readonly copy: object;
  /** What of the schemas is not used, each with its place and the reason: the first ones, and how many there are beside them. */
  readonly notes: readonly string[];
}

/**
 * Follows every `$ref` of a specification. Returns a copy for the validators: references are to the root, members that only look like
 * references are renamed, because the validators also look for them in data, what is not used is empty, and numbers are doubles. Throws
 * SpecFault with all references to targets outside of the document, to nothing, or in a circle, and with what gives schemas other addresses
 * or dialects.
 */
export function checkReferences(root: SpecObject, version: SpecVersion): CheckedReferences {
  const errors: SpecFieldError[] = [];
  const notes: string[] = [];
  let moreNotes = 0;
  const note = (pointer: string, reason: string): void => {
    if (notes.length < MAX_SHOWN) notes.push(`${placeOf(pointer)}: ${reason}`);
    else moreNotes += 1;
  };
  const check = (object: SpecObject, pointer: string): void => {
    try {
      follow(root, { value: { $ref: object['$ref'] ?? null }, pointer });
    } catch (error) {
      if (!(error instanceof SpecFault)) throw error;
      errors.push(...error.errors);
    }
  };
  const copyMember = (object: SpecObject, key: string, value: JsonTree, mode: Mode, pointer: string): [string, unknown] => {
    if (key === '$ref' && isKeywords(mode)) {
      check(object, pointer);
      return [key, typeof value === 'string' ? '#' : value];
    }
    const below = memberOf(pointer, key);
    if (isKeywords(mode)) errors.push(...(foreignMember(key, value, version, below)?.errors ?? []));
    const unused = mode === 'schema' ? unusedReason(key, value, version) : null;
    if (unused !== null) {
      note(below, unused);
      return [key, key === 'pattern' ? '' : []];
    }
    return [POINTER_WORDS.has(key) ? `x-${key}` : key, copy(value, modeBelow(key, mode), below)];
  };
  const copyObject = (object: SpecObject, mode: Mode, pointer: string): object =>
    Object.fromEntries(Object.entries(object).map(([key, item]) => copyMember(object, key, item, mode, pointer)));
  const copy = (value: JsonTree, mode: Mode, pointer: string): unknown => {
    if (Array.isArray(value)) {
      const items = value as readonly JsonTree[];
      const itemMode = isKeywords(mode) ? mode : modeBelow('', mode);
      return items.map((item, index) => copy(item, itemMode, memberOf(pointer, index)));
    }
    if (isJsonObject(value)) return copyObject(value, mode, pointer);
    return value instanceof SpecNumber ? value.toDouble() : value;
  };
  const copied = copyObject(root, 'keywords', '');
  if (errors.length > 0) throw new SpecFault(errors);
  return { copy: copied, notes: moreNotes === 0 ? notes : [...notes, `${moreNotes} more`] };
}
