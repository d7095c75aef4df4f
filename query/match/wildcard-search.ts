import { textSearch } from './text-search.ts';

/** A test whether a text consists of the parts of a wildcard. Texts and parts are folded. */
interface WildcardSearch {
  matches(text: string): boolean;
  /** The highest cost of a test of this many characters, in characters that are read. */
  cost(characters: number): number;
}

/**
 * Searches for `parts` in their order with anything in between, anchored at both ends. Each part is matched at its first occurrence: if the
 * rest does not fit after that, it does not fit after a later one. So nothing is tried twice, however many stars there are, while a regular
 * expression with a dozen may not end. `wildcardSql` in `sql/predicate-sql.ts` is the same test in a statement.
 */
export function wildcardSearch(parts: readonly string[]): WildcardSearch {
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  const middle = parts.slice(1, -1).map((part) => textSearch([part]));
  const anchored = first.length + last.length;
  return {
    cost: (characters) => (middle.length === 0 ? Math.min(characters, anchored) : characters + middle.length),
    matches(text) {
      if (parts.length === 1) return text === first;
      const end = text.length - last.length;
      if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
      let offset = first.length;
      for (const search of middle) {
        offset = search.endOfFirst(text, offset);
        if (offset === -1 || offset > end) return false;
      }
      return true;
    },
  };
}
