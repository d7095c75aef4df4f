import type { Dimension, GroupDimension } from '../../query/event-fields.ts';
import type { ExplorePlan, FacetOrder, FacetRequest, Selection } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { EventRow, ExploreResult, FacetValue, Histogram, RowPiece } from '../../query/plan/search-result.ts';
import { MAX_HISTOGRAM_SERIES } from '../../query/search-limits.ts';
import { EXPERT_TABLE, matching, predicate, TABLE } from './clickhouse-statements.ts';

/**
 * Questions of the explorer as a ClickHouse expert would ask them: the histogram, whose sums are the totals; then all facets by one
 * statement of GROUPING SETS, but urls of many events apart; then the page.
 */

/** Urls of more events are counted apart, because nearly each is different. */
const APART = 100_000;

export type AskRows = (statement: string) => Promise<readonly (readonly unknown[])[]>;

/** The number of events, in the result and in the selection. */
export interface Totals {
  readonly total: number;
  readonly selected: number;
}

export interface ClickhouseReading {
  readonly ask: AskRows;
  readonly findRows: (plan: SearchPlan) => Promise<readonly EventRow[]>;
}

export async function exploreClickhouse(plan: ExplorePlan, { ask, findRows }: ClickhouseReading): Promise<ExploreResult> {
  const { search, selection, facets } = plan;
  if (search.output.kind !== 'rows') {
    throw new Error('ClickHouse is asked only for rows beside facets');
  }
  const counted = (await ask(histogramStatement(plan))) as readonly CountedBucket[];
  const totals = {
    total: counted.reduce((sum, [, , events]) => sum + events, 0),
    selected: counted.reduce((sum, [, , , selected]) => sum + selected, 0),
  };
  const found = new Map<GroupDimension, FoundFacet>();
  for (const request of requestsOf(facets, totals.total)) {
    const isApart = request.fields[0] === 'url' && totals.total > APART;
    const some = await (isApart ? findUrls(plan, request, totals, ask) : findFacets(plan, request, totals, ask));
    for (const [field, facet] of some) {
      found.set(field, facet);
    }
  }
  const rows = search.page.size === 0 ? [] : await findRows(search);
  return {
    page: { kind: 'rows', rows: inOnePiece(rows), total: totals.total },
    histogram: histogramOf(plan, counted),
    facets: facets.length === 0 ? null : facets.map(({ field }) => facetOf(field, found.get(field), selection)),
    selectedTotal: selection === null ? null : totals.selected,
    combinations: null,
  };
}

/** Facets that one statement answers. */
export interface FacetsRequest {
  readonly fields: readonly Dimension[];
  readonly limit: number;
  readonly order: FacetOrder;
}

/** The statements' facets: those of one order and limit together, urls of many events apart. */
function requestsOf(facets: readonly FacetRequest[], total: number): FacetsRequest[] {
  const groups = Map.groupBy(facets, ({ field, limit, order }) => `${limit} ${order} ${total > APART && field === 'url'}`);
  return [...groups.values()].map((group) => {
    const { limit, order } = group[0] as FacetRequest;
    return { limit, order, fields: group.map(({ field }) => dimension(field)) };
  });
}

function dimension(field: GroupDimension): Dimension {
  if (field === 'shieldZoneId') {
    throw new Error('ClickHouse is asked only for facets of texts');
  }
  return field;
}

/** The condition that an event of the result is in the selection. */
function isSelected(selection: Selection | null): string {
  if (selection === null) {
    return 'false';
  }
  const { window, where } = selection;
  return `timestamp >= ${window.fromMs} AND timestamp < ${window.toMs} AND ${predicate(where, EXPERT_TABLE)}`;
}

/** Columns: bucket, value of the series, events, selected events. */
function histogramStatement({ search, histogram, selection }: ExplorePlan): string {
  const { fromMs, toMs } = search.window;
  const bucket = histogram === null ? '0' : `intDiv((timestamp - ${fromMs}) * ${histogram.buckets}, ${toMs - fromMs})`;
  const value = histogram === null || histogram.by === null ? "''" : dimension(histogram.by);
  return `SELECT ${bucket} AS bucket, ${value} AS value, count() AS events, ${countSelected(selection)} AS selected
    FROM ${TABLE} WHERE ${matching(search, EXPERT_TABLE)} GROUP BY bucket, value`;
}

function countSelected(selection: Selection | null): string {
  return selection === null ? '0' : `countIf(${isSelected(selection)})`;
}

type FoundFacets = ReadonlyMap<Dimension, FoundFacet>;

async function findFacets(plan: ExplorePlan, request: FacetsRequest, totals: Totals, ask: AskRows, also = ''): Promise<FoundFacets> {
  const rows = (await ask(facetsStatement(plan, request, totals, also))) as readonly CountedField[];
  return new Map(
    rows.map(([mask, distinct, values]) => {
      const first = values.map(([, negative, value, selected]) => ({ value, count: -negative, selected }));
      return [request.fields[setOf(mask, request.fields.length)] as Dimension, { distinct, values: first }];
    }),
  );
}

/**
 * The first values of some fields. Columns: the mask of the field (see {@link setOf}), its number of values, and its first values as
 * `[rank, -events, value, selected]`. A text that an event lacks is empty, so exactly the grouped column of a set adds to the value.
 * Measured: this takes less time than LIMIT BY with the number of values by a window function, and than a statement for each field.
 */
function facetsStatement({ search, selection }: ExplorePlan, { fields, limit, order }: FacetsRequest, totals: Totals, also = ''): string {
  const columns = fields.join(', ');
  const counted = `count() AS events, ${countSelected(selection)} AS selected FROM ${TABLE} WHERE ${matching(search, EXPERT_TABLE)}${also}`;
  const groups =
    fields.length === 1
      ? `SELECT 0 AS mask, ${columns} AS value, ${counted} GROUP BY ${columns}`
      : `SELECT grouping(${columns}) AS mask, concat(${columns}) AS value, ${counted}
        GROUP BY GROUPING SETS (${fields.map((field) => `(${field})`).join(', ')})`;
  const rank = order === 'count' ? '0' : `-(${differenceSql(totals)})`;
  return `SELECT mask, count(), groupArraySorted(${limit})((${rank}, -toInt64(events), value, selected)) FROM (${groups}) GROUP BY mask`;
}

/** How much larger a value's share of the selection is than its share of the rest, times both totals, which makes it a whole number. */
function differenceSql(totals: Totals): string {
  const { inside, outside } = sidesOf(totals);
  return `toInt128(selected) * ${outside} - toInt128(toInt64(events) - toInt64(selected)) * ${inside}`;
}

/** The total of an empty side is 1, as all of its counts are 0. */
function sidesOf({ total, selected }: Totals): { readonly inside: number; readonly outside: number } {
  return { inside: Math.max(selected, 1), outside: Math.max(total - selected, 1) };
}

/** Urls that several events have may be so many. */
const MAX_SEVERAL = 1_000;

/**
 * The first urls, exactly: those of a hash that one event has are different from all others, so only the few events of the other hashes
 * are grouped by the url itself. Where they are not few, or a url that is not selected may be among the first by difference, all are.
 * Measured on 2.4 million different urls: two thirds of the time of grouping all of them.
 */
async function findUrls(plan: ExplorePlan, request: FacetsRequest, totals: Totals, ask: AskRows): Promise<FoundFacets> {
  const { search, selection } = plan;
  const { limit, order } = request;
  const [counted] = await ask(urlHashesStatement(search));
  const [hashes = 0, several = 0, list = []] = (counted ?? []) as [number, number, readonly string[]];
  if (several > MAX_SEVERAL) {
    return await findFacets(plan, request, totals, ask);
  }
  const among = several === 0 ? 'false' : `cityHash64(url) IN (${list.join(', ')})`;
  const repeated = several === 0 ? undefined : (await findFacets(plan, request, totals, ask, ` AND ${among}`)).get('url');
  const inSelection = isSelected(selection);
  const wanted = order === 'difference' ? ` AND ${inSelection}` : '';
  const singles =
    (await ask(`SELECT url, toUInt8(${inSelection}) FROM ${TABLE} WHERE ${matching(search, EXPERT_TABLE)}${wanted} AND NOT ${among}
    ORDER BY url LIMIT ${limit}`)) as readonly (readonly [string, number])[];
  const candidates = [...(repeated?.values ?? []), ...singles.map(([value, selected]) => ({ value, count: 1, selected }))];
  const values = (order === 'difference' ? byDifference(candidates, totals) : candidates.toSorted(byCount)).slice(0, limit);
  if (order === 'difference' && !(values.length === limit && isAheadOfUnselected(values, totals))) {
    return await findFacets(plan, request, totals, ask);
  }
  return new Map([['url', { distinct: hashes - several + (repeated?.distinct ?? 0), values }]]);
}

/** Columns: number of hashes, of those that several events have, and the first of these as texts. */
function urlHashesStatement(search: SearchPlan): string {
  return `SELECT count(), countIf(events > 1), groupArrayIf(${MAX_SEVERAL})(toString(hash), events > 1)
    FROM (SELECT cityHash64(url) AS hash, count() AS events FROM ${TABLE} WHERE ${matching(search, EXPERT_TABLE)} GROUP BY hash)`;
}

function differenceOf({ count, selected }: FoundValue, totals: Totals): bigint {
  const { inside, outside } = sidesOf(totals);
  return BigInt(selected) * BigInt(outside) - BigInt(count - selected) * BigInt(inside);
}

/** The largest difference first; ties by count descending, then by value. */
export function byDifference(values: readonly FoundValue[], totals: Totals): FoundValue[] {
  return values.toSorted((a, b) => {
    const further = differenceOf(b, totals) - differenceOf(a, totals);
    return further === 0n ? byCount(a, b) : further > 0n ? 1 : -1;
  });
}

/** Whether all of the values differ by more than one with a single event that is not selected. */
function isAheadOfUnselected(values: readonly FoundValue[], totals: Totals): boolean {
  return values.every((value) => differenceOf(value, totals) > -BigInt(sidesOf(totals).inside));
}

/** The most frequent first; ties by value. */
function byCount(a: Pick<FoundValue, 'value' | 'count'>, b: Pick<FoundValue, 'value' | 'count'>): number {
  return b.count - a.count || byText(a.value, b.value);
}

function byText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The index of the field whose bit alone is 0 in the mask; the bit of the last field is the lowest. */
export function setOf(mask: number, fields: number): number {
  const grouped = Array.from({ length: fields }, (_, index) => 2 ** (fields - 1 - index));
  return fields === 1 ? 0 : grouped.findIndex((bit) => (mask & bit) === 0);
}

export type CountedBucket = readonly [bucket: number, value: string, events: number, selected: number];
type CountedField = readonly [mask: number, distinct: number, values: readonly (readonly [unknown, number, string, number])[]];

interface FoundValue {
  readonly value: string;
  readonly count: number;
  readonly selected: number;
}

interface FoundFacet {
  readonly distinct: number;
  readonly values: readonly FoundValue[];
}

function facetOf(field: GroupDimension, found: FoundFacet | undefined, selection: Selection | null) {
  const values = (found?.values ?? []).map((one): FacetValue => {
    // The generator writes a value in one spelling only.
    return { ...one, selected: selection === null ? null : one.selected, spellings: 1 };
  });
  return { field, distinct: found?.distinct ?? 0, values };
}

/** The series of the most frequent values, and all others added up. */
export function histogramOf({ histogram }: Pick<ExplorePlan, 'histogram'>, counted: readonly CountedBucket[]): Histogram | null {
  if (histogram === null) {
    return null;
  }
  const { buckets, by } = histogram;
  const series = [...Map.groupBy(counted, ([, value]) => value)]
    .map(([value, rows]) => ({ value, ...bucketCounts(rows, buckets) }))
    .toSorted((a, b) => b.total - a.total || byText(a.value, b.value));
  if (by === null) {
    return { series: [{ value: null, ...bucketCounts(counted, buckets) }], other: null };
  }
  const named = series.slice(0, MAX_HISTOGRAM_SERIES);
  const values = new Set(named.map(({ value }) => value));
  const others = counted.filter(([, value]) => !values.has(value));
  return { series: named, other: others.length === 0 ? null : bucketCounts(others, buckets) };
}

function bucketCounts(rows: readonly CountedBucket[], buckets: number) {
  const counts = new Array<number>(buckets).fill(0);
  let total = 0;
  for (const [bucket, , events] of rows) {
    counts[bucket] = (counts[bucket] ?? 0) + events;
    total += events;
  }
  return { total, counts };
}

/** Rows as the only piece of an answer. */
export async function* inOnePiece(rows: readonly EventRow[]): AsyncGenerator<RowPiece, void, void> {
  yield Object.assign([...rows], { bytes: 0, isLast: true });
}
