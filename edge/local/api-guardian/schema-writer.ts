import { placedDiscriminator } from './discriminator.ts';
import { schemaYaml } from './schema-yaml.ts';
import {
  faultAt,
  GUARDIAN_LIMITS,
  isJsonObject,
  type JsonObject,
  type JsonTree,
  type Located,
  member,
  memberOf,
  resolveReference,
} from './spec-tree.ts';

/** The members of a schema that values are checked against. Descriptions, examples and extensions are left out. */
const KEPT = new Set([
  'type',
  'format',
  'nullable',
  'enum',
  'default',
  'readOnly',
  'writeOnly',
  'required',
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
  'maxProperties',
  'minProperties',
]);
const ONE_SCHEMA = new Set(['items', 'additionalProperties', 'not']);
const SCHEMA_LISTS = new Set(['allOf', 'anyOf', 'oneOf']);

/** Characters of all written schemas together: an `enum` is copied to each reference. */
export const MAX_WRITTEN_LENGTH = 2_000_000;

/** Writes out schemas and counts them against the limits. */
export interface SchemaWriter {
  /** The schema as YAML with every `$ref` written out, except one inside of its own target. Throws SpecFault past a limit. */
  write(schema: Located): string;
  /** Counts the schema unless it was part of an earlier one. */
  countOnce(schema: Located): void;
}

interface Position {
  readonly depth: number;
  /** The pointer in the schema that is written. */
  readonly place: string;
  /** The pointers of the references that led here. */
  readonly trail: readonly string[];
}

/** A writer of the schemas of the specification `root`. */
export function schemaWriter(root: JsonObject): SchemaWriter {
  const { maxFieldsPerType, maxNestingDepth, maxTotalSchemaNodes, maxTotalRegexLength } = GUARDIAN_LIMITS;
  const reached = new Set<string>();
  let nodes = 0;
  let regexLength = 0;
  let writtenLength = 0;

  const count = ({ value, pointer }: Located, depth: number): void => {
    nodes += 1;
    if (nodes > maxTotalSchemaNodes)
      throw faultAt(
        pointer,
        `with this there are more than ${maxTotalSchemaNodes} schemas; allowed: at most that many (maxTotalSchemaNodes)`,
      );
    if (depth > maxNestingDepth)
      throw faultAt(pointer, `it is nested ${depth} schemas deep; allowed: at most ${maxNestingDepth} (maxNestingDepth)`);
    const pattern = member(value, 'pattern');
    regexLength += typeof pattern === 'string' ? pattern.length : 0;
    if (regexLength > maxTotalRegexLength)
      throw faultAt(
        memberOf(pointer, 'pattern'),
        `with this the patterns have more than ${maxTotalRegexLength} characters; allowed: at most that many (maxTotalRegexLength)`,
      );
  };

  /** The schemas of a map by their names. */
  const expandFields = (value: JsonTree, pointer: string, position: Position): JsonTree => {
    const fields = isJsonObject(value) ? Object.entries(value) : [];
    if (fields.length > maxFieldsPerType)
      throw faultAt(pointer, `there are ${fields.length} properties; allowed: at most ${maxFieldsPerType} (maxFieldsPerType)`);
    return Object.fromEntries(fields.map(([name, field]) => [name, expandMember(name, field, pointer, position)]));
  };

  const expandKeyword = (key: string, value: JsonTree, pointer: string, position: Position): JsonTree | undefined => {
    if (key === 'properties') return expandFields(value, pointer, position);
    if (ONE_SCHEMA.has(key)) return isJsonObject(value) ? expand({ value, pointer }, position) : value;
    if (SCHEMA_LISTS.has(key) && Array.isArray(value)) {
      return (value as readonly JsonTree[]).map((item, index) => expandMember(index, item, pointer, position));
    }
    return KEPT.has(key) ? value : undefined;
  };

  const expandMember = (key: string | number, value: JsonTree, pointer: string, position: Position): JsonTree =>
    expand({ value, pointer: memberOf(pointer, key) }, { ...position, place: memberOf(position.place, key) });

  const expand = (schema: Located, position: Position): JsonTree => {
    const { depth, place, trail } = position;
    const { value, pointer } = schema;
    if (!isJsonObject(value)) return value;
    const reference = member(value, '$ref');
    if (typeof reference === 'string') {
      const target = resolveReference(root, reference, pointer);
      if (!trail.includes(target.pointer)) return expand(target, { ...position, trail: [...trail, target.pointer] });
      count({ value: {}, pointer }, depth);
      return { $ref: reference };
    }
    reached.add(pointer);
    count(schema, depth);
    const kept = Object.entries(value).map(([key, item]) => {
      if (key === 'discriminator') return [key, placedDiscriminator(root, item, schema, place)] as const;
      const below = { depth: depth + 1, place: memberOf(place, key), trail };
      return [key, expandKeyword(key, item, memberOf(pointer, key), below)] as const;
    });
    return Object.fromEntries(kept.filter((entry): entry is readonly [string, JsonTree] => entry[1] !== undefined));
  };

  const start = (schema: Located): JsonTree => expand(schema, { depth: 1, place: '', trail: [schema.pointer] });

  return {
    write(schema) {
      const written = schemaYaml(start(schema));
      writtenLength += written.length;
      if (writtenLength > MAX_WRITTEN_LENGTH) {
        throw faultAt(
          schema.pointer,
          `with this the schemas written out have more than ${MAX_WRITTEN_LENGTH} characters; allowed: at most that many`,
        );
      }
      return written;
    },
    countOnce(schema) {
      if (!reached.has(schema.pointer)) start(schema);
    },
  };
}
