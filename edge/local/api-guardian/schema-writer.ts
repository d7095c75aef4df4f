import { schemaYaml } from './schema-yaml.ts';
import {
  GUARDIAN_LIMITS,
  isJsonObject,
  type JsonTree,
  type Located,
  listMember,
  member,
  memberOf,
  resolveReference,
  type SpecObject,
  specFaultAt,
} from './spec-tree.ts';
import { isReadPattern, type SpecVersion } from './spec-version.ts';

/**
 * The members of a schema that values are checked against. Descriptions, examples and extensions are left out, and so are discriminators:
 * they name schemas that are written out here, and change nothing about which values are valid.
 */
const KEPT = new Set([
  'type',
  'format',
  'enum',
  'const',
  'default',
  'readOnly',
  'writeOnly',
  'required',
  'dependentRequired',
  'pattern',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxContains',
  'minContains',
  'maxProperties',
  'minProperties',
  'contentEncoding',
  'contentMediaType',
]);
const ONE_SCHEMA = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]);
const SCHEMA_LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SCHEMA_MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Schemas that only mean something where others refer to them. They are counted, and written there. */
const DEFINITIONS = new Set(['$defs', 'definitions', 'dependencies']);

/** Characters of all written schemas together: an `enum` is copied to each reference. */
export const MAX_WRITTEN_LENGTH = 2_000_000;

/** Writes out schemas and counts them against the limits. */
export interface SchemaWriter {
  /** The schema as YAML with every `$ref` written out, except one inside of its own target. Throws SpecFault past a limit. */
  write(schema: Located): string;
  /** Counts these schemas, and the definitions inside of all schemas, unless they were part of an earlier one. */
  countRest(schemas: readonly Located[]): void;
}

interface Position {
  readonly depth: number;
  /** The pointers of the references that led here. */
  readonly trail: readonly string[];
}

/** A writer of the schemas of the specification `root`. */
export function schemaWriter(root: SpecObject, version: SpecVersion): SchemaWriter {
  const { maxFieldsPerType, maxNestingDepth, maxTotalSchemaNodes, maxTotalRegexLength } = GUARDIAN_LIMITS;
  const reached = new Set<string>();
  const rest = new Map<string, JsonTree>();
  let nodes = 0;
  let regexLength = 0;
  let writtenLength = 0;

  const count = ({ value, pointer }: Located, depth: number): void => {
    nodes += 1;
    if (nodes > maxTotalSchemaNodes)
      throw specFaultAt(
        pointer,
        `with this there are more than ${maxTotalSchemaNodes} schemas; allowed: at most that many (maxTotalSchemaNodes)`,
      );
    if (depth > maxNestingDepth)
      throw specFaultAt(pointer, `it is nested ${depth} schemas deep; allowed: at most ${maxNestingDepth} (maxNestingDepth)`);
    const pattern = member(value, 'pattern');
    if (typeof pattern === 'string') countPattern(pattern, memberOf(pointer, 'pattern'));
  };

  const countPattern = (pattern: string, pointer: string): void => {
    regexLength += pattern.length;
    if (regexLength > maxTotalRegexLength)
      throw specFaultAt(
        pointer,
        `with this the patterns have more than ${maxTotalRegexLength} characters; allowed: at most that many (maxTotalRegexLength)`,
      );
  };

  /** The schemas of a map by their names. */
  const expandFields = (key: string, value: JsonTree, pointer: string, position: Position): JsonTree => {
    const fields = isJsonObject(value) ? Object.entries(value) : [];
    if (fields.length > maxFieldsPerType)
      throw specFaultAt(pointer, `there are ${fields.length} properties; allowed: at most ${maxFieldsPerType} (maxFieldsPerType)`);
    if (key === 'patternProperties') for (const [pattern] of fields) countPattern(pattern, memberOf(pointer, pattern));
    return Object.fromEntries(fields.map(([name, field]) => [name, expandMember(name, field, pointer, position)]));
  };

  const noteDefinitions = (value: JsonTree, pointer: string): void => {
    for (const [name, definition] of isJsonObject(value) ? Object.entries(value) : []) {
      // `dependencies` of older drafts may have lists of names.
      if (!Array.isArray(definition)) rest.set(memberOf(pointer, name), definition);
    }
  };

  const expandKeyword = (key: string, value: JsonTree, pointer: string, position: Position): JsonTree | undefined => {
    if (SCHEMA_MAPS.has(key)) return expandFields(key, value, pointer, position);
    if (ONE_SCHEMA.has(key)) return expand({ value, pointer }, position);
    if (SCHEMA_LISTS.has(key) && Array.isArray(value)) {
      return (value as readonly JsonTree[]).map((item, index) => expandMember(index, item, pointer, position));
    }
    if (key === 'pattern' && typeof value === 'string' && !isReadPattern(value)) return undefined;
    if (DEFINITIONS.has(key)) noteDefinitions(value, pointer);
    // In OpenAPI 3.1 it means nothing.
    if (key === 'nullable') return version === '3.0' ? value : undefined;
    return KEPT.has(key) ? value : undefined;
  };

  const expandMember = (key: string | number, value: JsonTree, pointer: string, position: Position): JsonTree =>
    expand({ value, pointer: memberOf(pointer, key) }, position);

  const expandReference = (reference: string, pointer: string, position: Position): JsonTree => {
    const target = resolveReference(root, reference, pointer);
    if (!position.trail.includes(target.pointer)) return expand(target, { ...position, trail: [...position.trail, target.pointer] });
    count({ value: {}, pointer }, position.depth);
    return { $ref: reference };
  };

  /** The members that are kept, written out. */
  const expandMembers = ({ value, pointer }: Located, position: Position): SpecObject => {
    const members = isJsonObject(value) ? Object.entries(value) : [];
    const below = { ...position, depth: position.depth + 1 };
    const kept = members.map(([key, item]) => [key, expandKeyword(key, item, memberOf(pointer, key), below)] as const);
    return Object.fromEntries(kept.filter((entry): entry is readonly [string, JsonTree] => entry[1] !== undefined));
  };

  /** What stands beside a reference counts in OpenAPI 3.1, as if the reference were one of `allOf`. OpenAPI 3.0 ignores it. */
  const expandBeside = (reference: string, schema: Located, position: Position): JsonTree => {
    const others = version === '3.1' ? expandMembers(schema, position) : {};
    if (Object.keys(others).length === 0) return expandReference(reference, schema.pointer, position);
    reached.add(schema.pointer);
    count(schema, position.depth);
    const all = listMember(others, 'allOf');
    return { ...others, allOf: [...all, expandReference(reference, schema.pointer, { ...position, depth: position.depth + 1 })] };
  };

  const expand = (schema: Located, position: Position): JsonTree => {
    const { value, pointer } = schema;
    const reference = member(value, '$ref');
    if (typeof reference === 'string') return expandBeside(reference, schema, position);
    // `additionalProperties: false` is no schema in OpenAPI 3.0.
    if (!isJsonObject(value) && version === '3.0') return value;
    reached.add(pointer);
    count(schema, position.depth);
    return isJsonObject(value) ? expandMembers(schema, position) : value;
  };

  const start = (schema: Located): JsonTree => expand(schema, { depth: 1, trail: [schema.pointer] });

  return {
    write(schema) {
      const written = schemaYaml(start(schema));
      writtenLength += written.length;
      if (writtenLength > MAX_WRITTEN_LENGTH) {
        throw specFaultAt(
          schema.pointer,
          `with this the schemas written out have more than ${MAX_WRITTEN_LENGTH} characters; allowed: at most that many`,
        );
      }
      return written;
    },
    countRest(schemas) {
      for (const { value, pointer } of schemas) rest.set(pointer, value);
      // Counting may find more of them.
      for (const [pointer, value] of rest) if (!reached.has(pointer)) start({ value, pointer });
    },
  };
}
