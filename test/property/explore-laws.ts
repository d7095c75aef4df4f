import { expect } from 'vitest';
import type {
  OracleExploreRequest,
  OracleExploreResponse,
  OracleFacet,
  OracleFacetRequest,
  OracleHistogram,
} from '../oracle/explore-oracle.ts';
import { compareCodePoints } from '../oracle/fold-case.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);

/** Number of events of the result, as far as the answer says it. */
function resultSize({ groups, total, histogram }: OracleExploreResponse, { groupBy }: OracleExploreRequest): number | undefined {
  if (histogram !== null) return sum([...histogram.series.map((series) => series.total), histogram.other?.total ?? 0]);
  return groups === null && (groupBy ?? []).length === 0 ? total : undefined;
}

/** What has to hold between the parts of any answer, whatever the events are, because all of it comes from one snapshot. */
export function expectLaws(answer: OracleExploreResponse, request: OracleExploreRequest): void {
  const { groupBy, histogram, facets, selection } = request;
  const size = resultSize(answer, request);
  const isGrouped = (groupBy ?? []).length > 0;
  if (!isGrouped) expect(answer.total, 'the total, and the sum of the histogram').toBe(size);
  if (answer.combinations !== null) {
    expect(answer.selectedTotal, 'the selection, and those of it in combinations').toBe(
      sum(answer.combinations.map(({ selected }) => selected)),
    );
    if (size !== undefined) expect(sum(answer.combinations.map(({ count }) => count)), 'the events of combinations').toBe(size);
  }
  expect([answer.histogram !== null, answer.facets !== null, answer.selectedTotal !== null]).toEqual([
    (histogram ?? null) !== null,
    (facets ?? []).length > 0,
    (selection ?? null) !== null,
  ]);
  if (answer.histogram !== null) expectHistogram(answer.histogram);
  expect(answer.selectedTotal ?? 0).toBeLessThanOrEqual(size ?? Number.POSITIVE_INFINITY);
  for (const [index, facet] of (answer.facets ?? []).entries()) {
    expectFacet(facet, (facets ?? [])[index] as OracleFacetRequest, { ...answer, size });
    const isOnlyGroup = groupBy?.length === 1 && groupBy[0] === facet.field;
    const isWhole = facet.values.length === facet.distinct;
    if (isOnlyGroup && isWhole) {
      expect(sum(facet.values.map(({ spellings }) => spellings)), 'the spellings of a facet, and the groups by its field').toBe(
        answer.total,
      );
    }
  }
}

function expectHistogram({ series, other, buckets }: OracleHistogram): void {
  for (const { total, counts } of [...series, ...(other === null ? [] : [other])]) {
    expect(counts).toHaveLength(buckets);
    expect(sum(counts)).toBe(total);
  }
  if (other !== null) {
    expect(series).toHaveLength(12);
    expect(other.total).toBeGreaterThan(0);
  }
  expectByCount(series.map(({ value, total }) => [value ?? '', total] as const));
}

interface FacetContext {
  readonly selectedTotal: number | null;
  readonly size: number | undefined;
}

function expectFacet({ distinct, values }: OracleFacet, { limit, order }: OracleFacetRequest, { selectedTotal, size }: FacetContext): void {
  expect(values).toHaveLength(Math.min(distinct, limit ?? 10));
  expect(new Set(values.map(({ value }) => value)).size, 'each value once').toBe(values.length);
  for (const { count, selected } of values) {
    expect(count).toBeGreaterThan(0);
    expect(selected === null).toBe(selectedTotal === null);
    expect(selected ?? 0).toBeLessThanOrEqual(count);
  }
  const [all, inside] = [sum(values.map(({ count }) => count)), sum(values.map(({ selected }) => selected ?? 0))];
  expect(all).toBeLessThanOrEqual(size ?? all);
  expect(inside).toBeLessThanOrEqual(selectedTotal ?? 0);
  if (values.length === distinct) {
    expect(all, 'all values of a facet, and the result').toBe(size ?? all);
    expect(inside, 'all values of a facet in the selection').toBe(selectedTotal ?? 0);
  }
  if (order !== 'difference') expectByCount(values.map(({ value, count }) => [value, count] as const));
}

/** Count descending, then value ascending by code point. */
function expectByCount(values: readonly (readonly [value: string, count: number])[]): void {
  expect(values).toEqual(values.toSorted(([a, ofA], [b, ofB]) => ofB - ofA || compareCodePoints(a, b)));
}
