import { isJsonObject, type JsonObject, type JsonTree } from './json-tree.ts';
import { memberOf, SpecFault, type SpecFieldError } from './spec-fault.ts';
import { follow } from './spec-reference.ts';

/** Keys below which the keys are names that the author chose, so that `default` there is a response and not a default. */
const NAME_MAPS = new Set([
  'callbacks',
  'content',
  'encoding',
  'examples',
  'headers',
  'links',
  'mapping',
  'parameters',
  'paths',
  'properties',
  'requestBodies',
  'responses',
  'schemas',
  'scopes',
  'securitySchemes',
  'variables',
]);

/** Keys below which everything is data: a `$ref` there is a member of that name. */
const DATA = new Set(['default', 'enum', 'example', 'value']);

/** Members that the validating package takes for references and anchors wherever they are. */
const POINTER_WORDS = new Set(['$ref', '$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$schema']);

type Mode = 'keywords' | 'names' | 'data';

function modeBelow(key: string, mode: Mode): Mode {
  if (mode !== 'keywords') return mode === 'data' ? 'data' : 'keywords';
  if (DATA.has(key) || key.startsWith('x-')) return 'data';
  return NAME_MAPS.has(key) ? 'names' : 'keywords';
}

/**
 * Follows every `$ref` of a specification. Answers a copy for the validating package, in which each reference is to the root and members
 * that only look like one are renamed: it looks for them also where a specification has data. Throws SpecFault with every reference that is
 * outside of the document, at nothing, or in a circle of references alone.
 */
export function checkReferences(root: JsonObject): JsonObject {
  const errors: SpecFieldError[] = [];
  const check = (object: JsonObject, pointer: string): void => {
    try {
      follow(root, { value: { $ref: object['$ref'] ?? null }, pointer });
    } catch (error) {
      if (!(error instanceof SpecFault)) throw error;
      errors.push(...error.errors);
    }
  };
  const copyMember = (object: JsonObject, key: string, value: JsonTree, mode: Mode, pointer: string): [string, JsonTree] => {
    if (key === '$ref' && mode === 'keywords') {
      check(object, pointer);
      return [key, typeof value === 'string' ? '#' : value];
    }
    const name = POINTER_WORDS.has(key) ? `x-${key}` : key;
    return [name, copy(value, modeBelow(key, mode), memberOf(pointer, key))];
  };
  const copy = (value: JsonTree, mode: Mode, pointer: string): JsonTree => {
    if (Array.isArray(value)) {
      const items = value as readonly JsonTree[];
      return items.map((item, index) => copy(item, mode === 'names' ? 'keywords' : mode, memberOf(pointer, index)));
    }
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => copyMember(value, key, item, mode, pointer)));
  };
  const copied = copy(root, 'keywords', '');
  if (errors.length > 0) throw new SpecFault(errors);
  return copied as JsonObject;
}
