import {
  chainFrom,
  decodeFragment,
  isJsonObject,
  type JsonTree,
  type Located,
  listMember,
  member,
  memberOf,
  objectMember,
  type SpecObject,
} from './spec-tree.ts';

const COMPONENTS = '/components/schemas';

/** The pointer of a schema and those of the references that lead on from it. */
function trailFrom(root: SpecObject, schema: Located): readonly string[] {
  return chainFrom(root, schema).map(({ pointer }) => pointer);
}

/** What an entry of a mapping stands for: the name of a schema, or a reference. */
function targetsOf(root: SpecObject, entry: string): readonly string[] {
  const schemas = objectMember(objectMember(root, 'components'), 'schemas');
  const isName = Object.hasOwn(schemas, entry);
  const pointer = isName ? memberOf(COMPONENTS, entry) : entry.startsWith('#') ? decodeFragment(entry.slice(1)) : undefined;
  if (pointer === undefined) return [];
  const named = Object.entries(schemas).find(([name]) => memberOf(COMPONENTS, name) === pointer);
  return named === undefined ? [pointer] : trailFrom(root, { value: named[1], pointer });
}

/** A pointer as a reference within the document that it belongs to. */
function asFragment(pointer: string): string {
  return `#${encodeURI(pointer.toWellFormed()).replaceAll('#', '%23')}`;
}

/**
 * The discriminator of `schema`, which is written out at `place`. Its mapping names the places of branches there, because the schemas that
 * the specification names are written out. What stands for no branch is left out.
 */
export function placedDiscriminator(root: SpecObject, discriminator: JsonTree, schema: Located, place: string): JsonTree {
  const mapping = member(discriminator, 'mapping');
  if (!isJsonObject(discriminator) || !isJsonObject(mapping)) return discriminator;
  const branches = ['oneOf', 'anyOf'].flatMap((keyword) =>
    listMember(schema.value, keyword).map((value, index) => {
      const at = (pointer: string): string => memberOf(memberOf(pointer, keyword), index);
      return { trail: trailFrom(root, { value, pointer: at(schema.pointer) }), place: at(place) };
    }),
  );
  const placed = Object.entries(mapping).flatMap(([value, entry]) => {
    const targets = typeof entry === 'string' ? targetsOf(root, entry) : [];
    const [branch] = targets.flatMap((target) => branches.find(({ trail }) => trail.includes(target)) ?? []);
    return branch === undefined ? [] : [[value, asFragment(branch.place)] as const];
  });
  const { mapping: _, ...rest } = discriminator;
  return placed.length === 0 ? rest : { ...rest, mapping: Object.fromEntries(placed) };
}
