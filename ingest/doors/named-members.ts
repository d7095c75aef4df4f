import { CLOSE_BRACKET, COMMA, OPEN_BRACE } from '../../query/json-bytes.ts';
import type { JsonSkipper, MemberRange, MemberReceiver } from '../event/json-skipper.ts';

/** Keeps the members of an object that have certain names, the last of each, so that an object of millions of others takes no memory. */
export class NamedMembers<Name extends string> implements MemberReceiver {
  readonly #bytes: Buffer;
  readonly #names: readonly Name[];
  readonly #found = new Map<Name, MemberRange>();

  constructor(bytes: Buffer, ...names: readonly Name[]) {
    [this.#bytes, this.#names] = [bytes, names];
  }

  push(member: MemberRange): void {
    const { keyStart, keyEnd, keyHasEscapes } = member;
    const name = this.#names.find((one) => keyHasEscapes || one.length === keyEnd - keyStart);
    if (name === undefined) return;
    const key = this.#bytes.toString('utf8', keyStart, keyEnd);
    const found = this.#names.find((one) => one === (keyHasEscapes ? JSON.parse(`"${key}"`) : key));
    if (found !== undefined) this.#found.set(found, member);
  }

  get(name: Name): MemberRange | undefined {
    return this.#found.get(name);
  }
}

/**
 * Calls `take` for each element of a list that begins at `at`, with its members of these names; none of an element that is no object. The
 * list is known to be whole. Ends where `take` returns false.
 */
export function forEachElement<Name extends string>(
  skipper: JsonSkipper,
  bytes: Buffer,
  at: number,
  names: readonly Name[],
  take: (members: NamedMembers<Name>, start: number, end: number) => boolean,
): void {
  let start = skipper.skipBlank(bytes, at + 1);
  while (bytes[start] !== CLOSE_BRACKET) {
    const members = new NamedMembers(bytes, ...names);
    const end = bytes[start] === OPEN_BRACE ? skipper.skipObject(bytes, start, 0, members) : skipper.skipValue(bytes, start, 0);
    if (!take(members, start, end)) return;
    const next = skipper.skipBlank(bytes, end);
    start = bytes[next] === COMMA ? skipper.skipBlank(bytes, next + 1) : next;
  }
}
