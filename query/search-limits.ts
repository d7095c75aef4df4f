/**
 * What one search may ask for. The body's size is the HTTP layer's matter; these keep a small body from becoming a costly statement
 * (DuckDB takes 2 s to plan 10,000 alternatives of `contains`).
 */
export const SEARCH_LIMITS = {
  /** Filter clauses of a request. */
  clauses: 100,
  /** Alternatives of one clause. */
  alternatives: 1_000,
  /** Alternatives of all clauses together. */
  allAlternatives: 5_000,
  /**
   * Alternatives of all `contains` and `wildcard` clauses together: each reads every text anew, and the engine is not interrupted within a
   * block of rows.
   */
  searchedTexts: 500,
  /** Terms and phrases of `query`. */
  terms: 64,
  /** Runs of stars in one wildcard. */
  starRuns: 256,
  /** Runs of stars in all wildcards together: the text between each two is looked for in every event. */
  allStarRuns: 8_192,
  /** UTF-16 units of `query` and of one alternative. */
  textLength: 65_536,
  /** Brackets and braces open at the same time; a valid search needs four. */
  jsonDepth: 32,
  /** Values in the body, those inside others included; a valid search has fewer than 6,000. */
  jsonValues: 20_000,
  /** Errors that one answer lists. */
  listedErrors: 100,
} as const;
