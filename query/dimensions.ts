/** The nine fields a search can filter and group by, in the order of the specification. */
export const DIMENSIONS = ['feature', 'ruleId', 'ip', 'ja4', 'ua', 'url', 'asn', 'country', 'action'] as const;

export type Dimension = (typeof DIMENSIONS)[number];

/** Dimensions whose whole-value comparison ignores case; the others compare exactly. */
export const CASE_FOLDED_DIMENSIONS: ReadonlySet<Dimension> = new Set<Dimension>(['feature', 'country', 'action']);

/** The text columns that the free-text `query` looks at. */
export const SEARCH_TEXT_COLUMNS = ['ip', 'ruleId', 'url', 'ua', 'ruleName'] as const;

export type TextColumn = Dimension | 'ruleName';
