import fc from 'fast-check';
import { DIMENSIONS, GROUP_DIMENSIONS, type GroupDimension } from '../../query/event-fields.ts';
import type {
  OracleCondition,
  OracleExploreRequest,
  OracleFacetRequest,
  OracleHistogramRequest,
  OracleSelection,
} from '../oracle/explore-oracle.ts';
import type { OracleEvent } from '../oracle/raw-event.ts';
import { arbitraryMatch, arbitraryRequest } from './arbitrary-request.ts';

const HOUR_MS = 3_600_000;
/** Not the least that a request may have, but further away than any window. */
const FAR_MS = 9e15;

/** A request of the explorer, and the zones as its path has them. */
export interface ZonesRequest {
  readonly zones: readonly number[] | 'all';
  readonly body: OracleExploreRequest;
}

/**
 * Valid requests of the explorer with some of its parts. Pages and windows are those of searches; what is selected is often nothing, often
 * all, and often goes beyond the window. Groups, facets and series are of the `fields`.
 */
export function arbitraryExplore(
  events: readonly OracleEvent[],
  nowMs: number,
  zones: fc.Arbitrary<ZonesRequest['zones']>,
  fields: readonly GroupDimension[] = GROUP_DIMENSIONS,
): fc.Arbitrary<ZonesRequest> {
  const page = arbitraryRequest(events, nowMs).map(({ body: { query: _query, filters: _filters, groupBy: _groupBy, ...rest } }) => rest);
  const groupBy = fc.option(fc.shuffledSubarray([...fields], { maxLength: 3 }), { freq: 2 });
  const body = fc
    .tuple(page, arbitraryMatch(events), groupBy, fc.option(histograms(fields), { freq: 3 }), fc.option(selections(events), { freq: 3 }))
    .chain(([paging, match, by, chart, selection]) =>
      fc
        .option(facets(fields, selection !== null), { freq: 4 })
        .map((wanted) => withFewBuckets({ ...paging, ...match, groupBy: by, histogram: chart, selection, facets: wanted }))
        .chain((rest) => (selection === null ? fc.constant(rest) : combinations(events).map((some) => ({ ...rest, combinations: some })))),
    );
  return fc.record({ zones, body });
}

/** Conditions of which events of any kind meet some, or none at all. */
function combinations(events: readonly OracleEvent[]): fc.Arbitrary<OracleCondition[] | null> {
  const ofEvents = fc
    .tuple(fc.constantFrom(...DIMENSIONS), fc.constantFrom(...events), fc.constantFrom('as it is', 'in capitals', 'not at all'))
    .map(([field, event, how]): OracleCondition => {
      const value = event.fields[field] ?? '';
      return { field, value: how === 'as it is' ? value : how === 'in capitals' ? value.toUpperCase() : `${value}x` };
    });
  const lists = fc.uniqueArray(ofEvents, { minLength: 2, maxLength: 8, selector: ({ field, value }) => `${field}:${value}` });
  return fc.option(lists, { freq: 2 });
}

/** The body with buckets that are wide enough for the most that there may be, wherever the window begins in the first of them. */
export function withFewBuckets(body: OracleExploreRequest): OracleExploreRequest {
  const { histogram, from, to } = body;
  const width = histogram?.width ?? null;
  return width === null ? body : { ...body, histogram: { ...histogram, width: Math.max(width, Math.ceil((to - from) / 499)) } };
}

function histograms(fields: readonly GroupDimension[]): fc.Arbitrary<OracleHistogramRequest> {
  const by = fc.option(fc.constantFrom(...fields), { freq: 5 });
  const buckets = fc.oneof(fc.constantFrom(1, 2, 7, 60, 499, 500), fc.integer({ min: 1, max: 500 }));
  const width = fc.oneof(fc.constantFrom(1, 60_000, HOUR_MS, 24 * HOUR_MS), fc.integer({ min: 1, max: 24 * HOUR_MS }));
  return fc.oneof(
    { arbitrary: fc.record({ buckets, by }, { requiredKeys: ['buckets'] }), weight: 2 },
    { arbitrary: fc.record({ width, by }, { requiredKeys: ['width'] }), weight: 1 },
  );
}

/** Mostly a few fields, at times all of them. Only with a selection some are ordered by difference. */
function facets(fields: readonly GroupDimension[], hasSelection: boolean): fc.Arbitrary<OracleFacetRequest[]> {
  const some = fc.oneof(
    { arbitrary: fc.shuffledSubarray([...fields], { maxLength: 3 }), weight: 6 },
    { arbitrary: fc.shuffledSubarray([...fields], { minLength: fields.length }), weight: 1 },
  );
  const orders = ['count', ...(hasSelection ? (['difference', 'difference', 'difference'] as const) : [])] as const;
  const facet = fc.record(
    { limit: fc.option(fc.constantFrom(1, 2, 3, 10, 99, 100)), order: fc.option(fc.constantFrom(...orders), { freq: 8 }) },
    { requiredKeys: [] },
  );
  return some.chain((chosen) => fc.tuple(...chosen.map((field) => facet.map((rest) => ({ field, ...rest })))));
}

/** Each has at least one part. */
function selections(events: readonly OracleEvent[]): fc.Arbitrary<OracleSelection> {
  const near = fc
    .tuple(fc.constantFrom(...events.map(({ timestamp }) => timestamp)), fc.constantFrom(0, 0, 1, -1, 1_000, HOUR_MS))
    .map(([time, shift]) => time + shift);
  const time = fc.oneof({ arbitrary: near, weight: 6 }, { arbitrary: fc.constantFrom(-FAR_MS, 0, FAR_MS), weight: 1 });
  return fc
    .tuple(fc.option(time, { freq: 2 }), fc.option(time, { freq: 2 }), fc.option(arbitraryMatch(events), { freq: 2 }))
    .map(([from, to, match]): OracleSelection => {
      const isReversed = from !== null && to !== null && from > to;
      return { ...match, from: isReversed ? to : from, to: isReversed ? from : to };
    })
    .filter(
      ({ from, to, query, filters, exclude }) =>
        [from, to, query, filters, exclude].some((part) => (part ?? null) !== null) && (from === null || from !== to),
    );
}
