/**
 * The terms of a free-text query. White space (`\s` of JavaScript) separates them. A `"` at the start of a term opens a phrase, which keeps
 * its blanks up to the next `"`. A quote that is never closed or is inside a term is an ordinary character, so that `6"` can be searched.
 * An empty phrase is no term. Repeated terms count once.
 */
export function queryTerms(query: string): readonly string[] {
  const terms = [...query.matchAll(/"([^"]*)"|\S+/g)].map(([term, phrase]) => phrase ?? term);
  return [...new Set(terms)].filter((term) => term !== '');
}

/** Why no query has a term, or has it beside the terms before it; null where there is a query. */
export type TermFault = 'quote and blank' | 'quotes around' | 'second leading quote';

/**
 * Whether some query has this term beside those before it. A phrase cannot hold a `"`, and a `"` at the start of a term is an ordinary
 * character only where no other one follows.
 */
export function termFault(term: string, before: readonly string[]): TermFault | null {
  if (!term.includes('"') || before.includes(term)) return null;
  if (/\s/.test(term)) return 'quote and blank';
  if (!term.startsWith('"')) return null;
  if (term.includes('"', 1)) return 'quotes around';
  return before.some((other) => other.startsWith('"')) ? 'second leading quote' : null;
}

/** The query that has these terms, none of which is empty or has a fault. A term that begins with a `"` comes last. */
export function queryOfTerms(terms: readonly string[]): string {
  const different = [...new Set(terms)];
  const ordered = [...different.filter((term) => !term.startsWith('"')), ...different.filter((term) => term.startsWith('"'))];
  return ordered.map((term) => (/\s/.test(term) ? `"${term}"` : term)).join(' ');
}
