import type { ExplorePlan } from './explore-plan.ts';
import type { Predicate, SearchPlan } from './search-plan.ts';

/** What a read usually costs for each event that it looks at, and what its conditions hold. */
export interface ReadCost {
  /** Nanoseconds of one core for an event. */
  readonly eventNs: number;
  /** Bytes of the texts of its conditions. */
  readonly bytes: number;
}

/** About so many nanoseconds each of these usually takes for an event, where nothing is cached. Only their order of magnitude matters. */
const NS = { event: 1, equals: 3, needle: 20, range: 0.02, addressIn: 3, dimension: 30, context: 60, buckets: 15 };

/** Bytes of a value of a condition beside its text. */
const VALUE_BYTES = 64;

/** The cost of a search, an export or the first page of either. */
export function searchCost({ where, output }: SearchPlan): ReadCost {
  const { eventNs, bytes } = predicateCost(where);
  const grouping = output.kind === 'groups' ? NS.context + output.by.length * NS.dimension + (output.buckets > 0 ? NS.buckets : 0) : 0;
  return { eventNs: NS.event + eventNs + grouping, bytes };
}

/** The cost of a list of rules with their names. */
export const RULES_COST: ReadCost = { eventNs: NS.event + 2 * NS.dimension, bytes: 0 };

/** The cost of a question of the explorer. */
export function exploreCost({ search, histogram, facets, selection, combinations = [] }: ExplorePlan): ReadCost {
  const page = searchCost(search);
  const selected = predicateCost({ kind: 'all', of: [...(selection === null ? [] : [selection.where]), ...combinations] });
  const counts = (histogram === null ? 0 : NS.buckets + (histogram.by === null ? 0 : NS.dimension)) + facets.length * NS.dimension;
  return { eventNs: page.eventNs + counts + selected.eventNs, bytes: page.bytes + selected.bytes };
}

/** What trying a condition on an event costs. */
export function predicateCost(predicate: Predicate): ReadCost {
  switch (predicate.kind) {
    case 'everything':
      return { eventNs: 0, bytes: 0 };
    case 'all':
    case 'any':
      return predicate.of.map(predicateCost).reduce((a, b) => ({ eventNs: a.eventNs + b.eventNs, bytes: a.bytes + b.bytes }), {
        eventNs: 0,
        bytes: 0,
      });
    case 'not':
      return predicateCost(predicate.of);
    case 'equals':
      return { eventNs: NS.equals, bytes: bytesOf(predicate.values) };
    case 'contains':
      return { eventNs: NS.needle, bytes: bytesOf([predicate.needle]) };
    case 'wildcard':
      return { eventNs: NS.needle, bytes: bytesOf(predicate.parts) };
    case 'addressIn':
      return { eventNs: NS.addressIn + predicate.ranges.length * NS.range, bytes: predicate.ranges.length * VALUE_BYTES };
  }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length + VALUE_BYTES, 0);
}
