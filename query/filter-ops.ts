/** What is special about an operation of filters. */
export interface FilterOpRules {
  /** It searches within texts, so that its alternatives count towards `SEARCH_LIMITS.searchedTexts`. */
  readonly searchesTexts?: true;
  /** An empty alternative is an error. */
  readonly refusesEmpty?: true;
  /** It is only for fields with addresses. */
  readonly onAddresses?: true;
}

const OPS = {
  eq: {},
  in: {},
  contains: { searchesTexts: true, refusesEmpty: true },
  cidr: { onAddresses: true },
  wildcard: { searchesTexts: true },
} as const satisfies Readonly<Record<string, FilterOpRules>>;

export type FilterOp = keyof typeof OPS;

/** The operations of filters, and the rules that the compiler and the OpenAPI document apply to them. */
export const FILTER_OPS: Readonly<Record<FilterOp, FilterOpRules>> = OPS;

export const FILTER_OP_NAMES = Object.keys(FILTER_OPS) as FilterOp[];

/** The operations with a rule. */
export function filterOpsThat(rule: keyof FilterOpRules): readonly FilterOp[] {
  return FILTER_OP_NAMES.filter((op) => FILTER_OPS[op][rule] === true);
}
