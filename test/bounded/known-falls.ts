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
  'adversarial needles': { falls: { interrupt: { reading: 'over 5 s' } } },
  'facets of long values': { falls: { 'main thread': { reading: '238 ms' }, memory: { reading: '1904 MiB' } } },
  'the feed of dense logs': { mayFall: ['main thread'] },
  'the feed of many events': { mayFall: ['main thread'] },
  'exports of usual events': { mayFall: ['main thread'] },
  'tails of dense logs': { falls: { 'main thread': { reading: '417 ms' } } },
  'intake by many': { falls: { 'main thread': { reading: '384 ms' } } },
  'intake of many values': { mayFall: ['main thread'] },
  'callers that hang up': { falls: { interrupt: { reading: 'over 5 s' } } },
  'blocks of long values': { falls: { memory: { reading: '2005 MiB' } } },
  'blocks of letters outside Latin': { mayFall: ['interrupt', 'memory'] },
  'groups of long keys': { falls: { 'main thread': { reading: '237 ms' } }, mayFall: ['memory'] },
  'rows by many': { mayFall: ['memory'] },
  'explorers by many': { mayFall: ['main thread', 'memory'] },
  'needles of 1,000 bytes': { falls: { interrupt: { reading: 'over 5 s' } } },
  'logs of many members': { falls: { 'main thread': { reading: '609 ms' } } },
  'the feed by many': { falls: { 'main thread': { reading: '394 ms' } } },
  'the feed of dense logs by many': { falls: { 'main thread': { reading: '1241 ms' } } },
};

/** Of their intake. */
export const KNOWN_FALLS_OF_INTAKE: Readonly<Partial<Record<keyof typeof FIXED_CASES, KnownFalls>>> = {
  'dense logs': { falls: { 'main thread': { reading: '163 ms' } } },
  'dense logs that are flushed': { falls: { 'main thread': { reading: '213 ms' } } },
  'the feed of dense logs': { falls: { 'main thread': { reading: '155 ms' } } },
  'tails of dense logs': { falls: { 'main thread': { reading: '150 ms' } } },
  'intake by many': { falls: { 'main thread': { reading: '158 ms' } } },
};

/**
 * What random cases with a request of this kind may fall for; `intake` is also that of the events of all others. It goes with the rows of
 * the fixed cases.
 */
export const MAY_FALL_AT_RANDOM: Readonly<Partial<Record<RequestKind, readonly Measure[]>>> = {
  rows: ['main thread', 'memory', 'status 500'],
  groups: ['main thread'],
  'groups of long keys': ['main thread', 'memory'],
  contains: ['interrupt', 'memory'],
  wildcard: ['interrupt', 'memory'],
  query: ['interrupt', 'memory'],
  explore: ['main thread', 'memory'],
  difference: ['main thread', 'memory'],
  'page of explore': ['main thread', 'memory'],
  'export CSV': ['main thread', 'memory'],
  'export NDJSON': ['main thread', 'memory'],
  'feed native': ['main thread'],
  'feed ecs': ['main thread'],
  'feed ocsf': ['main thread'],
  'feed cef': ['main thread'],
  tail: ['main thread'],
  intake: ['main thread'],
};
