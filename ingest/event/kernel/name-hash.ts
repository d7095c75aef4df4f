/** Slots of the kernel's table of names; a power of two. */
export const NAME_SLOTS = 64;

/** The kernel loads 16 bytes of a name at once. */
const LONGEST_NAME = 16;

export interface NameHash {
  readonly lengthFactor: number;
  readonly firstFactor: number;
}

/**
 * Finds factors by which each name gets a slot of its own from its length, first and last byte. Throws where there are none: then
 * two names have all three in common, and the kernel would lose one of the fields without a word.
 */
export function findNameHash(names: readonly string[]): NameHash {
  const long = names.find((name) => name.length > LONGEST_NAME || !/^[!-~]+$/.test(name));
  if (long !== undefined) {
    throw new Error(`the field name ${JSON.stringify(long)} is not of 1 to ${LONGEST_NAME} characters of ASCII, which the kernel takes`);
  }
  for (let lengthFactor = 1; lengthFactor < NAME_SLOTS; lengthFactor++) {
    for (let firstFactor = 1; firstFactor < NAME_SLOTS; firstFactor++) {
      const slots = new Set(names.map((name) => slotOf(name, { lengthFactor, firstFactor })));
      if (slots.size === names.length) {
        return { lengthFactor, firstFactor };
      }
    }
  }
  const shapes = names.map((name) => `${name.length} ${name.at(0)} ${name.at(-1)}`);
  const alike = names.filter((_, index) => shapes.filter((shape) => shape === shapes[index]).length > 1);
  const list = (alike.length > 0 ? alike : names).join(', ');
  throw new Error(`the kernel tells field names apart by length, first and last character, which does not separate ${list}`);
}

function slotOf(name: string, { lengthFactor, firstFactor }: NameHash): number {
  return (name.length * lengthFactor + name.charCodeAt(0) * firstFactor + name.charCodeAt(name.length - 1)) & (NAME_SLOTS - 1);
}
