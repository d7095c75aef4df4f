import type { TextColumn } from './dimensions.ts';

/** An inclusive range of 128-bit addresses; IPv4 lies in `::ffff:0:0/96`. Any bounds are possible, not only those of a CIDR prefix. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * What an event must fulfil. An event that lacks the column a leaf names does not match that leaf.
 * "Folded" means: compared after lower-casing both sides code point by code point.
 */
export type Predicate =
  | { readonly kind: 'everything' }
  | { readonly kind: 'all'; readonly of: readonly Predicate[] }
  | { readonly kind: 'any'; readonly of: readonly Predicate[] }
  | { readonly kind: 'equals'; readonly column: TextColumn; readonly values: readonly string[]; readonly folded: boolean }
  | { readonly kind: 'contains'; readonly column: TextColumn; readonly needle: string }
  /** `parts` are the literal runs between the stars: `a*b` is `['a','b']`, `*` is `['','']`. Folded, anchored at both ends. */
  | { readonly kind: 'wildcard'; readonly column: TextColumn; readonly parts: readonly string[] }
  /** The `ip` column as a number lies in one of the ranges. */
  | { readonly kind: 'addressIn'; readonly ranges: readonly AddressRange[] };
