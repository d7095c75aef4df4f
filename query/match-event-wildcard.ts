import { textSearch } from './text-search.ts';

/** Whether a text is made of the parts of a wildcard, and what it costs to look. */
export interface WildcardSearch {
  /** The text is folded, as the parts are. */
  matches(text: string): boolean;
  /** Characters that are read at most of so many. */
  cost(characters: number): number;
}

/**
 * Looks for `parts` in their order with anything in between, anchored at both ends; all are folded already. Each part is put at the first
 * offset where it fits: if the rest does not fit behind that, it does not fit behind a later one either. So nothing is ever tried twice,
 * however many stars there are (a regular expression of a dozen may take for ever).
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
