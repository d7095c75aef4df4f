import { type JsonObject, listMember, member, objectMember } from './json-tree.ts';
import type { SchemaWriter } from './schema-writer.ts';
import { memberOf } from './spec-fault.ts';
import { follow, type Located } from './spec-reference.ts';

/** Names by where the parameter is. */
export interface ParameterNames {
  readonly Path: readonly string[];
  readonly Query: readonly string[];
  readonly Header: readonly string[];
  readonly Cookie: readonly string[];
}

/** OpenAPI 3.0: a header parameter of such a name is to be ignored. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);

function located(root: JsonObject, owner: Located): readonly Located[] {
  const pointer = memberOf(owner.pointer, 'parameters');
  return listMember(owner.value, 'parameters').map((value, index) => follow(root, { value, pointer: memberOf(pointer, index) }));
}

function countSchemas({ value, pointer }: Located, writer: SchemaWriter): void {
  const schema = member(value, 'schema');
  if (schema !== undefined) writer.write({ value: schema, pointer: memberOf(pointer, 'schema') });
  for (const [type, media] of Object.entries(objectMember(value, 'content'))) {
    const inner = member(media, 'schema');
    if (inner !== undefined) writer.write({ value: inner, pointer: memberOf(memberOf(memberOf(pointer, 'content'), type), 'schema') });
  }
}

/** The parameters of an operation: those of its path, and its own, which take the place of one with the same name at the same place. */
export function endpointParameters(root: JsonObject, path: Located, operation: Located, writer: SchemaWriter): ParameterNames {
  const byPlace = new Map<string, Located>();
  for (const parameter of [...located(root, path), ...located(root, operation)]) {
    byPlace.set(`${member(parameter.value, 'in')} ${member(parameter.value, 'name')}`, parameter);
  }
  for (const parameter of byPlace.values()) countSchemas(parameter, writer);
  const named = (place: string): string[] =>
    [...byPlace.values()].filter(({ value }) => member(value, 'in') === place).map(({ value }) => String(member(value, 'name')));
  return {
    Path: named('path'),
    Query: named('query'),
    Header: named('header').filter((name) => !IGNORED_HEADERS.has(name.toLowerCase())),
    Cookie: named('cookie'),
  };
}
