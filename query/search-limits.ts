/**
 * Limits of one search. They keep a small body from becoming a costly statement: DuckDB takes 2 s to plan 10,000 alternatives of
 * `contains`. The HTTP layer limits the size of the body.
 */
export const SEARCH_LIMITS = {
  /** Clauses of a request, in all its lists. */
  clauses: 100,
  /** Alternatives of one clause. */
  alternatives: 1_000,
  /** Alternatives of all clauses together. */
  allAlternatives: 5_000,
  /**
   * Terms of `query` and alternatives of operations that search within texts, all together. Each reads every text again, and DuckDB is not
   * interrupted within a block of rows.
   */
  searchedTexts: 128,
  /** Bytes of one of these in UTF-8: where text and needle are repetitive, DuckDB compares all of the needle at each place. */
  searchedTextBytes: 1_024,
  /** Bytes of all of these together. */
  allSearchedBytes: 16 * 1_024,
  /** Runs of stars in one wildcard. */
  starRuns: 256,
  /** UTF-16 units of `query`, blanks included. */
  queryLength: 65_536,
  /** Brackets and braces open at the same time; a valid request needs five. */
  jsonDepth: 32,
  /** Values in the body, nested ones included; a valid search has fewer than 6,000. */
  jsonValues: 20_000,
  /** Errors that one answer lists. */
  listedErrors: 100,
} as const;

/** Rows or groups of a page, and buckets of a sparkline. Larger requests are clamped to it. */
export const MAX_PER_ANSWER = 500;

export const DEFAULT_PAGE_SIZE = 50;

/** Milliseconds of a bucket of a histogram whose buckets have a given width: a day. */
export const MAX_BUCKET_WIDTH_MS = 86_400_000;

/** Values of one facet of the explorer. */
export const MAX_FACET_VALUES = 100;

export const DEFAULT_FACET_VALUES = 10;

/** Series of a histogram beside the one of all other values. */
export const MAX_HISTOGRAM_SERIES = 12;

/** Conditions whose combinations are counted: at most so many, since there are two to the power of them. */
export const MAX_COMBINED = 8;

/** Rules of an answer that lists those with events. */
export const MAX_ACTIVE_RULES = 1_000;

/** How far back a window may reach. */
export const REACH_HOURS = 72;

/** The difference that is allowed between the clock of the caller and ours. */
export const TOLERANCE_SECONDS = 60;
