import { cut, shown } from '../../shown-value.ts';
import { SpecNumber } from './spec-number.ts';

/** Limits of a specification. The configuration of a zone reports them. */
export const GUARDIAN_LIMITS = {
  maxEndpoints: 50,
  /** Properties of one object schema. */
  maxFieldsPerType: 128,
  /** Schemas inside one another. A `$ref` counts as its target. */
  maxNestingDepth: 16,
  /** Schemas of all endpoints, with every `$ref` written out. */
  maxTotalSchemaNodes: 8_192,
  /** Characters of all `pattern`s, and of the patterns that are names of `patternProperties`. */
  maxTotalRegexLength: 16_384,
} as const;

/** Bytes of the specification as UTF-8 text. */
export const MAX_SPEC_BYTES = 2_000_000;

/** A fault of a specification. `field` is `content` and the JSON pointer inside it. */
export interface SpecFieldError {
  readonly field: string;
  readonly message: string;
}

/** More faults, and more notes, are not reported. */
export const MAX_SHOWN = 20;
/** A key may be as long as the whole specification. */
const MAX_POINTER_LENGTH = 500;

/** A refused specification. */
export class SpecFault extends Error {
  override readonly name = 'SpecFault';
  readonly errors: readonly SpecFieldError[];

  constructor(errors: readonly SpecFieldError[]) {
    super(errors.map(({ field, message }) => `${field}: ${message}`).join('; '));
    this.errors = errors.slice(0, MAX_SHOWN);
  }
}

/** The fault at a JSON pointer; `''` is the whole specification. */
export function specFaultAt(pointer: string, message: string): SpecFault {
  return new SpecFault([{ field: placeOf(pointer), message }]);
}

export function placeOf(pointer: string): string {
  return pointer === '' ? 'content' : `content#${cut(pointer, MAX_POINTER_LENGTH)}`;
}

/** The pointer of a member of the value at `pointer` (RFC 6901). */
export function memberOf(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export type JsonTree = string | SpecNumber | boolean | null | readonly JsonTree[] | SpecObject;
export interface SpecObject {
  readonly [key: string]: JsonTree;
}

/** A specification of 2 MB has about a tenth of these values. */
export const MAX_VALUES = 500_000;
export const MAX_DEPTH = 100;

export function isJsonObject(value: JsonTree | undefined): value is SpecObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof SpecNumber);
}

/** A value for a message: a number has its digits. */
export function shownTree(value: JsonTree | undefined): string {
  return shown(value, undefined, (object) => (object instanceof SpecNumber ? object.source : null));
}

/** The member of that name. Names that all objects inherit are no members. */
export function member(tree: JsonTree | undefined, key: string): JsonTree | undefined {
  return isJsonObject(tree) && Object.hasOwn(tree, key) ? tree[key] : undefined;
}

/** The member of that name where it is an object; otherwise an empty one. */
export function objectMember(tree: JsonTree | undefined, key: string): SpecObject {
  const found = member(tree, key);
  return isJsonObject(found) ? found : {};
}

export function listMember(tree: JsonTree | undefined, key: string): readonly JsonTree[] {
  const found = member(tree, key);
  return Array.isArray(found) ? (found as readonly JsonTree[]) : [];
}

/**
 * Writes out all aliases of a parsed document, so that it is a tree. Throws SpecFault where aliases make it endless or too large, and for
 * values that JSON does not have.
 */
export function toJsonTree(document: unknown): JsonTree {
  let values = 0;
  const above = new Set<object>();
  const copy = (value: unknown, pointer: string): JsonTree => {
    values += 1;
    if (values > MAX_VALUES)
      throw specFaultAt('', `it has more than ${MAX_VALUES} values once its aliases are written out; allowed: at most that many`);
    if (typeof value !== 'object' || value === null || value instanceof SpecNumber) return copyScalar(value, pointer);
    if (above.has(value)) throw specFaultAt(pointer, 'an alias stands for something that it is part of; allowed: aliases of other places');
    if (above.size >= MAX_DEPTH) throw specFaultAt(pointer, `it is nested more than ${MAX_DEPTH} deep; allowed: at most that deep`);
    above.add(value);
    const copied = copyMembers(value, pointer);
    above.delete(value);
    return copied;
  };
  const copyMembers = (value: object, pointer: string): JsonTree => {
    if (Array.isArray(value)) return value.map((item, index) => copy(item, memberOf(pointer, index)));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null)
      throw specFaultAt(
        pointer,
        'it is tagged as something that JSON does not have; allowed: maps, lists, text, numbers, true, false, null',
      );
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item, memberOf(pointer, key))]));
  };
  return copy(document, '');
}

function copyScalar(value: unknown, pointer: string): JsonTree {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value instanceof SpecNumber) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return new SpecNumber(String(value), value);
  throw specFaultAt(pointer, `${String(value)} is not a JSON value; allowed: maps, lists, text, finite numbers, true, false, null`);
}

/** Longer chains of references are refused. */
export const MAX_HOPS = 32;

/** A value and its JSON pointer. */
export interface Located {
  readonly value: JsonTree;
  readonly pointer: string;
}

/** The text of a fragment of an address; undefined where an escape is broken. */
function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function step(value: JsonTree | undefined, key: string): JsonTree | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? (value as readonly JsonTree[])[Number(key)] : undefined;
  return member(value, key);
}

/** The value at a JSON pointer; undefined where it points at nothing. */
export function valueAtPointer(root: JsonTree, pointer: string): JsonTree | undefined {
  let value: JsonTree | undefined = root;
  for (const key of pointer.split('/').slice(1)) value = step(value, key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return value;
}

/** The target of the `$ref` at `pointer` in the same document. Throws SpecFault for a target outside, and for none. */
export function resolveReference(root: SpecObject, reference: JsonTree | undefined, pointer: string): Located {
  const refPointer = `${pointer}/$ref`;
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    throw specFaultAt(
      refPointer,
      `${shownTree(reference)} is outside of this document; allowed: references within it, such as "#/components/schemas/Pet"`,
    );
  }
  const target = decodeFragment(reference.slice(1));
  if (target === undefined || !/^(?:\/|$)/.test(target))
    throw specFaultAt(refPointer, `${shown(reference)} is not a JSON pointer; allowed: such as "#/components/schemas/Pet"`);
  const value = valueAtPointer(root, target);
  if (value === undefined) throw specFaultAt(refPointer, `${shown(reference)} points at nothing in this document`);
  return { value, pointer: target };
}

/** The value, and the targets to which its `$ref` leads. Throws SpecFault where the chain ends at nothing, outside, or never. */
export function chainFrom(root: SpecObject, start: Located): readonly [Located, ...Located[]] {
  const chain: [Located, ...Located[]] = [start];
  let at = start;
  for (let hops = 0; isJsonObject(at.value) && typeof member(at.value, '$ref') === 'string'; hops += 1) {
    if (hops === MAX_HOPS) throw specFaultAt(start.pointer, `its $ref goes on to others more than ${MAX_HOPS} times, or in a circle`);
    at = resolveReference(root, member(at.value, '$ref'), at.pointer);
    chain.push(at);
  }
  return chain;
}

/** The value itself, or the end of a chain of references. Throws SpecFault as `chainFrom` does. */
export function follow(root: SpecObject, start: Located): Located {
  return chainFrom(root, start).at(-1) ?? start;
}
