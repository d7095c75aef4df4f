import type { FIXED_CASES } from './cases.ts';
import type { Measure } from './measures.ts';
import type { RequestKind } from './requests.ts';

/** Measures that fall today. Who mends one takes its row out: a test fails where a measure of `falls` does not fall any more. */
export interface KnownFalls {
  readonly falls?: Readonly<Partial<Record<Measure, { readonly reading: string }>>>;
  /** Near the limit, or up to what happens at the same time: it may fall or not. */
  readonly mayFall?: readonly Measure[];
}

/** Of the requests of the fixed cases. */
export const KNOWN_FALLS: Readonly<Partial<Record<keyof typeof FIXED_CASES, KnownFalls>>> = {
  'explorers by many': { mayFall: ['main thread', 'memory'] },
};

/** Of their intake. */
export const KNOWN_FALLS_OF_INTAKE: Readonly<Partial<Record<keyof typeof FIXED_CASES, KnownFalls>>> = {};

/**
 * What random cases with a request of this kind may fall for; `intake` is also that of the events of all others. It goes with the rows of
 * the fixed cases.
 */
export const MAY_FALL_AT_RANDOM: Readonly<Partial<Record<RequestKind, readonly Measure[]>>> = {
  explore: ['main thread', 'memory'],
  difference: ['main thread', 'memory'],
  'page of explore': ['main thread', 'memory'],
};
