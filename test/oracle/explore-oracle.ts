import { compareCodePoints, foldCase } from './fold-case.ts';
import { dimensionOf, sparkline } from './group-events.ts';
import { matchesFilter } from './match-event.ts';
import type { OracleEvent } from './raw-event.ts';
import {
  clamp,
  isInZones,
  matches,
  matchingEvents,
  type OracleMatch,
  type OraclePage,
  type OracleRequest,
  type OracleRow,
  type OracleZones,
  pageOf,
  toRow,
} from './search-oracle.ts';

/** A valid request body of the explorer. Its `exclude` is one of clauses like those of `filters`. */
export interface OracleExploreRequest extends OracleRequest, Pick<OracleMatch, 'exclude'> {
  readonly histogram?: OracleHistogramRequest | null;
  readonly facets?: readonly OracleFacetRequest[] | null;
  readonly selection?: OracleSelection | null;
  readonly combinations?: readonly OracleCondition[] | null;
}

export interface OracleCondition {
  readonly field: string;
  readonly value: string;
}

/** Either `buckets` or `width` is a number. */
export interface OracleHistogramRequest {
  readonly buckets?: number | null;
  readonly width?: number | null;
  readonly by?: string | null;
}

export interface OracleFacetRequest {
  readonly field: string;
  readonly limit?: number | null;
  readonly order?: 'count' | 'difference' | null;
}

export interface OracleSelection extends OracleMatch {
  readonly from?: number | null;
  readonly to?: number | null;
}

export interface OracleExploreRow extends OracleRow {
  readonly shieldZoneId: number;
}

export interface OracleCounts {
  readonly total: number;
  readonly counts: readonly number[];
}

export interface OracleHistogram {
  readonly from: number;
  readonly to: number;
  readonly buckets: number;
  readonly series: readonly (OracleCounts & { readonly value: string | null })[];
  readonly other: OracleCounts | null;
}

export interface OracleFacetValue {
  readonly value: string;
  readonly count: number;
  readonly selected: number | null;
  readonly spellings: number;
}

export interface OracleFacet {
  readonly field: string;
  readonly distinct: number;
  readonly values: readonly OracleFacetValue[];
}

export interface OracleExploreResponse extends OraclePage<OracleExploreRow> {
  readonly histogram: OracleHistogram | null;
  readonly facets: readonly OracleFacet[] | null;
  readonly selectedTotal: number | null;
  readonly combinations: readonly OracleCombination[] | null;
}

export interface OracleCombination {
  readonly met: readonly number[];
  readonly count: number;
  readonly selected: number;
}

const MOST_SERIES = 12;

/** The answer of the explorer, computed the plainest way, and from the description alone. */
export function exploreOracle(events: readonly OracleEvent[], request: OracleExploreRequest, zones: OracleZones): OracleExploreResponse {
  const found = matchingEvents(events, request, zones);
  const { histogram, facets, selection, combinations } = request;
  const selected = selection ? new Set(found.filter((event) => isSelected(event, selection))) : null;
  return {
    ...explorePage(found, request),
    histogram: histogram ? histogramOf(found, histogram, request) : null,
    facets: facets && facets.length > 0 ? facets.map((facet) => facetOf(found, facet, selected)) : null,
    selectedTotal: selected?.size ?? null,
    combinations: combinations ? combinationsOf(found, combinations, selected ?? new Set()) : null,
  };
}

/** The events of the result by the conditions that each meets. */
function combinationsOf(
  found: readonly OracleEvent[],
  conditions: readonly OracleCondition[],
  selected: ReadonlySet<OracleEvent>,
): OracleCombination[] {
  const metBy = (event: OracleEvent): number[] =>
    conditions.flatMap(({ field, value }, index) => (matchesFilter(event, { field, op: 'eq', value: [value] }) ? [index] : []));
  const bySet = Map.groupBy(found, (event) => JSON.stringify(metBy(event)));
  const combinations = Array.from(bySet, ([met, events]) => ({
    met: JSON.parse(met) as number[],
    count: events.length,
    selected: events.filter((event) => selected.has(event)).length,
  }));
  return combinations.sort((a, b) => b.count - a.count || compareLists(a.met, b.met));
}

/** A list comes before the longer ones that begin with it. */
function compareLists([first, ...rest]: readonly number[], [other, ...others]: readonly number[]): number {
  if (first === undefined || other === undefined) {
    return Number(first !== undefined) - Number(other !== undefined);
  }
  return first - other || compareLists(rest, others);
}

/** As in a search; a page of the size 0 has neither rows nor groups, and there are no pages. */
function explorePage(found: readonly OracleEvent[], request: OracleExploreRequest): OraclePage<OracleExploreRow> {
  const rowOf = (event: OracleEvent): OracleExploreRow => ({ ...toRow(event), shieldZoneId: event.zoneId });
  const page = pageOf(found, request, clamp(request.pageSize ?? 50, 1, 500), rowOf);
  return request.pageSize === 0 ? { ...page, rows: null, groups: null, totalPages: 0 } : page;
}

function isSelected(event: OracleEvent, { from, to, ...match }: OracleSelection): boolean {
  return event.timestamp >= (from ?? event.timestamp) && event.timestamp < (to ?? Number.POSITIVE_INFINITY) && matches(event, match);
}

function histogramOf(
  found: readonly OracleEvent[],
  { buckets: parts, width, by = null }: OracleHistogramRequest,
  window: OracleExploreRequest,
): OracleHistogram {
  const { from, to, buckets } = typeof width === 'number' ? bucketsOfWidth(width, window) : { ...window, buckets: parts ?? 0 };
  const countsOf = (events: readonly OracleEvent[]): OracleCounts => ({
    total: events.length,
    counts: sparkline(
      events.map(({ timestamp }) => timestamp),
      { buckets, from, to },
    ),
  });
  if (by === null) {
    return { from, to, buckets, series: [{ value: null, ...countsOf(found) }], other: null };
  }
  const ranked = valuesOf(found, by)
    .map(({ value, events }) => [value, events] as const)
    .sort(([a, as], [b, bs]) => bs.length - as.length || compareCodePoints(a, b));
  const others = ranked.slice(MOST_SERIES).flatMap(([, events]) => events);
  const series = ranked.slice(0, MOST_SERIES).map(([value, events]) => ({ value, ...countsOf(events) }));
  return { from, to, buckets, series, other: others.length === 0 ? null : countsOf(others) };
}

/** Buckets that begin at multiples of their width: one after the other, from that of the window's first millisecond to that of its last. */
function bucketsOfWidth(width: number, { from, to }: { from: number; to: number }): { from: number; to: number; buckets: number } {
  const begin = (time: number): bigint => {
    const past = BigInt(time) % BigInt(width);
    return BigInt(time) - (past < 0n ? past + BigInt(width) : past);
  };
  const [first, last] = [begin(from), begin(to - 1)];
  return { from: Number(first), to: Number(last) + width, buckets: Number((last - first) / BigInt(width)) + 1 };
}

function facetOf(
  found: readonly OracleEvent[],
  { field, limit, order }: OracleFacetRequest,
  selected: ReadonlySet<OracleEvent> | null,
): OracleFacet {
  const values = valuesOf(found, field).map(({ value, spellings, events }) => ({
    value,
    count: events.length,
    selected: selected === null ? null : events.filter((event) => selected.has(event)).length,
    spellings,
  }));
  const sides = { inside: selected?.size ?? 0, outside: found.length - (selected?.size ?? 0) };
  values.sort(
    (a, b) =>
      (order === 'difference' ? compareFractions(differenceOf(b, sides), differenceOf(a, sides)) : 0) ||
      b.count - a.count ||
      compareCodePoints(a.value, b.value),
  );
  return { field, distinct: values.length, values: values.slice(0, limit ?? 10) };
}

/** Fields whose values are one where they are equal in lower case. */
export const FOLDED_FIELDS = ['feature', 'country', 'action'];

/** The values of a field with their events. Spellings of a value of these three fields are one, called as most of its events spell it. */
function valuesOf(found: readonly OracleEvent[], field: string) {
  const bySpelling = Map.groupBy(found, (event) => dimensionOf(event, field));
  const spelled = Array.from(bySpelling, ([value, events]) => ({ value, events }));
  spelled.sort((a, b) => b.events.length - a.events.length || compareCodePoints(a.value, b.value));
  const folded = Map.groupBy(spelled, ({ value }) => (FOLDED_FIELDS.includes(field) ? foldCase(value) : value));
  return Array.from(folded.values(), (same) => ({
    value: same[0]?.value ?? '',
    spellings: same.length,
    events: same.flatMap(({ events }) => events),
  }));
}

type Fraction = readonly [numerator: bigint, denominator: bigint];

/** The value's share of the selection less its share of the rest; an empty side counts as 0. */
function differenceOf({ count, selected }: OracleFacetValue, { inside, outside }: { inside: number; outside: number }): Fraction {
  const [a, b] = [fraction(selected ?? 0, inside), fraction(count - (selected ?? 0), outside)];
  return [a[0] * b[1] - b[0] * a[1], a[1] * b[1]];
}

function fraction(part: number, whole: number): Fraction {
  return whole === 0 ? [0n, 1n] : [BigInt(part), BigInt(whole)];
}

/** Below 0 where the first is smaller, above 0 where it is greater. */
function compareFractions(a: Fraction, b: Fraction): number {
  const difference = a[0] * b[1] - b[0] * a[1];
  return difference < 0n ? -1 : Number(difference > 0n);
}

export interface OracleZonesResponse {
  readonly zones: readonly { readonly shieldZoneId: number; readonly count: number; readonly last: number }[];
}

/** The zones that have events in the window: count descending, then zone. */
export function zonesOracle(
  events: readonly OracleEvent[],
  { from, to }: { from: number; to: number },
  zones: OracleZones,
): OracleZonesResponse {
  const inside = events.filter((event) => isInZones(event, zones) && event.timestamp >= from && event.timestamp < to);
  const byZone = Array.from(
    Map.groupBy(inside, ({ zoneId }) => zoneId),
    ([shieldZoneId, members]) => ({
      shieldZoneId,
      count: members.length,
      last: members.reduce((last, { timestamp }) => Math.max(last, timestamp), Number.NEGATIVE_INFINITY),
    }),
  );
  return { zones: byZone.sort((a, b) => b.count - a.count || a.shieldZoneId - b.shieldZoneId) };
}

export interface OracleRulesResponse {
  readonly rules: readonly { readonly ruleId: string; readonly ruleName: string; readonly count: number }[];
}

/** The rules that have events in the window, with the name that most of these have: count descending, then id. */
export function rulesOracle(
  events: readonly OracleEvent[],
  { from, to }: { from: number; to: number },
  zones: OracleZones,
): OracleRulesResponse {
  const inside = events.filter((event) => isInZones(event, zones) && event.timestamp >= from && event.timestamp < to);
  const byRule = Array.from(
    Map.groupBy(inside, (event) => dimensionOf(event, 'ruleId')),
    ([ruleId, members]) => ({ ruleId, ruleName: nameOf(members), count: members.length }),
  ).filter(({ ruleId }) => ruleId !== '');
  return { rules: byRule.sort((a, b) => b.count - a.count || compareCodePoints(a.ruleId, b.ruleId)).slice(0, 1_000) };
}

function nameOf(events: readonly OracleEvent[]): string {
  const byName = Map.groupBy(events, (event) => dimensionOf(event, 'ruleName'));
  byName.delete('');
  const [first] = [...byName].sort(([a, as], [b, bs]) => bs.length - as.length || compareCodePoints(a, b));
  return first?.[0] ?? '';
}
