import { shown } from '../../shown-value.ts';
import { isJsonObject, type JsonObject, type JsonTree, member } from './json-tree.ts';
import { faultAt } from './spec-fault.ts';

/** Longer chains of one reference to the next are nobody's intention. */
export const MAX_HOPS = 32;

/** A value, and where it is written. */
export interface Located {
  readonly value: JsonTree;
  readonly pointer: string;
}

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

/** What the `$ref` at `pointer` points at inside the same document. Throws SpecFault for anything outside, and for nothing. */
export function resolveReference(root: JsonObject, reference: JsonTree | undefined, pointer: string): Located {
  const place = `${pointer}/$ref`;
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    throw faultAt(
      place,
      `${shown(reference)} is outside of this document; allowed: references within it, such as "#/components/schemas/Pet"`,
    );
  }
  const target = decodeFragment(reference.slice(1));
  if (target === undefined || !/^(?:\/|$)/.test(target))
    throw faultAt(place, `${shown(reference)} is not a JSON pointer; allowed: such as "#/components/schemas/Pet"`);
  let value: JsonTree | undefined = root;
  for (const key of target.split('/').slice(1)) value = step(value, key.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (value === undefined) throw faultAt(place, `${shown(reference)} points at nothing in this document`);
  return { value, pointer: target };
}

/** The value itself, or what a chain of references ends at. Throws SpecFault where it ends at nothing, outside, or never. */
export function follow(root: JsonObject, start: Located): Located {
  let at = start;
  for (let hops = 0; isJsonObject(at.value) && typeof member(at.value, '$ref') === 'string'; hops += 1) {
    if (hops === MAX_HOPS) throw faultAt(start.pointer, `its $ref goes on to others more than ${MAX_HOPS} times, or in a circle`);
    at = resolveReference(root, member(at.value, '$ref'), at.pointer);
  }
  return at;
}
