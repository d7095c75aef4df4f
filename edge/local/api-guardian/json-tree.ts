import { faultAt, memberOf } from './spec-fault.ts';

export type JsonTree = string | number | boolean | null | readonly JsonTree[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonTree;
}

/** A specification of 2 MB has about a tenth of these. */
export const MAX_VALUES = 500_000;
export const MAX_DEPTH = 100;

export function isJsonObject(value: JsonTree | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member of that name, unless it is one that every object inherits. */
export function member(tree: JsonTree | undefined, key: string): JsonTree | undefined {
  return isJsonObject(tree) && Object.hasOwn(tree, key) ? tree[key] : undefined;
}

/** The member of that name if it is an object, otherwise an empty one. */
export function objectMember(tree: JsonTree | undefined, key: string): JsonObject {
  const found = member(tree, key);
  return isJsonObject(found) ? found : {};
}

export function listMember(tree: JsonTree | undefined, key: string): readonly JsonTree[] {
  const found = member(tree, key);
  return Array.isArray(found) ? (found as readonly JsonTree[]) : [];
}

/**
 * A parsed document with every alias written out: a tree, in which no value is at two places. Throws SpecFault where the aliases make it
 * endless or grow it beyond measure, and for what JSON does not have.
 */
export function toJsonTree(document: unknown): JsonTree {
  let values = 0;
  const above = new Set<object>();
  const copy = (value: unknown, pointer: string): JsonTree => {
    values += 1;
    if (values > MAX_VALUES)
      throw faultAt('', `it has more than ${MAX_VALUES} values once its aliases are written out; allowed: at most that many`);
    if (typeof value !== 'object' || value === null) return copyScalar(value, pointer);
    if (above.has(value)) throw faultAt(pointer, 'an alias stands for something that it is part of; allowed: aliases of other places');
    if (above.size >= MAX_DEPTH) throw faultAt(pointer, `it is nested more than ${MAX_DEPTH} deep; allowed: at most that deep`);
    above.add(value);
    const copied = copyMembers(value, pointer);
    above.delete(value);
    return copied;
  };
  const copyMembers = (value: object, pointer: string): JsonTree => {
    if (Array.isArray(value)) return value.map((item, index) => copy(item, memberOf(pointer, index)));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null)
      throw faultAt(pointer, 'it is tagged as something that JSON does not have; allowed: maps, lists, text, numbers, true, false, null');
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item, memberOf(pointer, key))]));
  };
  return copy(document, '');
}

function copyScalar(value: unknown, pointer: string): JsonTree {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw faultAt(pointer, `${String(value)} is not a JSON value; allowed: maps, lists, text, finite numbers, true, false, null`);
}
