import type { DuckDBValue } from '@duckdb/node-api';
import type { GroupDimension } from '../../../query/event-fields.ts';
import { MAX_FACET_VALUES } from '../../../query/search-limits.ts';
import { TOO_LONG } from '../../../sql/group-fact-statements.ts';
import {
  changedValueCountsStatement,
  countsOfValuesStatement,
  sortedValuesStatement,
  valueCountsStatement,
} from '../../../sql/value-count-statements.ts';
import { atMost, type FieldCounts, isWhole, type ValueCount, withChanges, withRecounted } from './field-counts.ts';
import { findFirstGroups } from './group-search.ts';
import type { SearchExtent, SearchScope } from './search-scope.ts';

export interface ValueCountLimits {
  /** The most values of a field that are all known. Of a field with more, only the first ones are. */
  readonly values: number;
  /** The most urls that are all known, where urls are counted apart from the other fields. */
  readonly urls: number;
  /** Urls of more events are counted apart from the other fields, because nearly every one may be different. */
  readonly together: number;
  /** The values of so few events are listed and counted in JavaScript, because DuckDB takes longer to set up its counting. */
  readonly listed: number;
  /** Longer lists of one field's values are not read, nor those with a longer value than `valueBytes`: see {@link LongValues}. */
  readonly listBytes: number;
  readonly valueBytes: number;
}

export const VALUE_COUNT_LIMITS: ValueCountLimits = {
  ...{ values: 4_000, urls: 1_000, together: 100_000, listed: 2_000 },
  ...{ listBytes: 1024 * 1024, valueBytes: 8 * 1024 },
};

/** The values of a list, or one of them, are longer than {@link ValueCountLimits} allow: the engine is to be asked for fewer. */
export class LongValues extends Error {
  constructor() {
    super('the values of a field are too long to be listed');
  }
}

/** Reads the JSON text of the values of a field. Throws {@link LongValues} where the engine has none, because they are too long. */
export function listedTexts(json: string): readonly string[] {
  if (json === TOO_LONG) {
    throw new LongValues();
  }
  return JSON.parse(json);
}

export type CountsByField = ReadonlyMap<GroupDimension, FieldCounts>;

/** The counts of an earlier search of the same zones and predicate. */
export interface EarlierCounts {
  readonly extent: SearchExtent;
  readonly counts: FieldCounts;
}

export interface ValueCounting {
  /** The most events that the search can find. */
  readonly events: number;
  readonly earlier: ReadonlyMap<GroupDimension, EarlierCounts>;
  readonly limits: ValueCountLimits;
  /** Whether fields are counted one by one, because memory is short. */
  readonly oneByOne: boolean;
}

/** How many events of the search have each value of the fields. Only what has changed since the earlier counts is read again. */
export async function findValueCounts(
  scope: SearchScope,
  fields: readonly GroupDimension[],
  { events, earlier, limits, oneByOne }: ValueCounting,
): Promise<CountsByField> {
  const found = new Map<GroupDimension, FieldCounts>();
  const known = new Map([...earlier].filter(([field, { extent }]) => fields.includes(field) && isNear(extent, scope.extent)));
  for (const [extent, some] of Map.groupBy(known, ([, one]) => one.extent)) {
    for (const [field, counts] of await findChanged(scope, extent, new Map(some.map(([field, one]) => [field, one.counts])), limits)) {
      found.set(field, counts);
    }
  }
  const apart = fields.filter((field) => isCountedApart(field, events, limits));
  const together = fields.filter((field) => !found.has(field) && !apart.includes(field));
  for (const some of oneByOne ? together.map((field) => [field]) : together.length === 0 ? [] : [together]) {
    const { counts } = await countTogether(scope, some, limits);
    for (const [field, one] of counts) {
      found.set(field, one);
    }
  }
  for (const field of apart.filter((one) => !found.has(one))) {
    found.set(field, await countApart(scope, field, limits));
  }
  return found;
}

/** Whether nearly every event may have a value of its own. `events`: the most that the search can find. */
export function isCountedApart(field: GroupDimension, events: number, { together }: ValueCountLimits): boolean {
  return field === 'url' && events > together;
}

/** Whether nothing has expired since the earlier counts, and their window is nearly the same: it may have moved with the clock. */
export function isNear(earlier: SearchExtent, { window, endSequence, expiries }: SearchExtent): boolean {
  const movedMs = Math.abs(window.fromMs - earlier.window.fromMs) + Math.abs(window.toMs - earlier.window.toMs);
  return earlier.expiries === expiries && earlier.endSequence <= endSequence && movedMs * 8 <= window.toMs - window.fromMs;
}

/** Counts all fields in one pass over the events. `total`: the number of the events. */
export async function countTogether(
  scope: SearchScope,
  fields: readonly GroupDimension[],
  { values, listed, listBytes, valueBytes }: ValueCountLimits,
): Promise<{ readonly counts: CountsByField; readonly total: number }> {
  if (fields.length > 0 && scope.mostEvents <= listed) {
    return await countListed(scope, fields, listBytes);
  }
  const lists = { max: values, maxBytes: listBytes, maxValueBytes: valueBytes };
  const found = countsByIndex(await scope.runner.run(valueCountsStatement(scope.plan, fields, lists, scope.events())));
  return { counts: countsOfFields(found, fields), total: found.get(fields.length)?.first[0]?.count ?? 0 };
}

/** Counts the values of few events. */
async function countListed(scope: SearchScope, fields: readonly GroupDimension[], listBytes: number) {
  const [row = []] = await scope.runner.run(sortedValuesStatement(scope.plan, fields, listBytes, scope.events()));
  const values = row.map((list) => (typeof list === 'string' ? listedTexts(list) : []));
  return { counts: new Map(fields.map((field, index) => [field, countSorted(values[index] ?? [])])), total: values[0]?.length ?? 0 };
}

/** The counts of values that are sorted by code point. */
function countSorted(values: readonly string[]): FieldCounts {
  const first: ValueCount[] = [];
  for (let from = 0, to = 0; from < values.length; from = to) {
    const value = values[from] as string;
    for (to = from + 1; values[to] === value; to += 1);
    first.push({ value, count: to - from });
  }
  // The sort is stable, so values with as many events stay in the order of code points.
  return { distinct: first.length, first: first.sort((a, b) => b.count - a.count) };
}

/** Counts as the first phase of a group search does, which knows fields of which nearly every event has a value of its own. */
async function countApart(scope: SearchScope, field: GroupDimension, { urls }: ValueCountLimits): Promise<FieldCounts> {
  const output = { kind: 'groups', by: [field], buckets: 0 } as const;
  const { total, keys, counts } = await findFirstGroups(scope.asking({ output, page: { index: 0, size: urls } }), output);
  return { distinct: total, first: keys.map(([value = ''], index) => ({ value, count: counts[index] as number })) };
}

/** The counts that could be brought up to date. Those of fields of which too many values have changed are left out. */
async function findChanged(
  scope: SearchScope,
  extent: SearchExtent,
  known: CountsByField,
  limits: ValueCountLimits,
): Promise<CountsByField> {
  const events = await scope.eventsChangedSince(extent);
  if (events === undefined) {
    return known;
  }
  const fields = [...known.keys()];
  const lists = { max: limits.values, maxBytes: limits.listBytes, maxValueBytes: limits.valueBytes };
  const rows = await scope.runner.run(changedValueCountsStatement(scope.plan, fields, lists, events, extent));
  const changes = countsOfFields(countsByIndex(rows), fields);
  const found = new Map<GroupDimension, FieldCounts>();
  for (const [field, before] of known) {
    const changed = changes.get(field) ?? NOTHING;
    if (isWhole(changed)) {
      const now = isWhole(before) ? withChanges(before, changed.first) : await recounted(scope, field, before, changed.first, limits);
      if (now.first.length >= Math.min(now.distinct, MAX_FACET_VALUES)) {
        found.set(field, atMost(now, isWhole(before) ? limits.values : before.first.length));
      }
    }
  }
  return found;
}

const NOTHING: FieldCounts = { distinct: 0, first: [] };
const UNKNOWN: FieldCounts = { distinct: Number.POSITIVE_INFINITY, first: [] };

async function recounted(
  scope: SearchScope,
  field: GroupDimension,
  before: FieldCounts,
  changes: readonly ValueCount[],
  { urls }: ValueCountLimits,
): Promise<FieldCounts> {
  if (changes.length > urls) {
    return UNKNOWN;
  }
  const values = changes.map(({ value }) => value);
  const now = await countsOf(scope, field, values);
  const recounts = values.map((value) => now.get(value) as number);
  return withRecounted(before, changes, recounts);
}

/** The number of events of the search with each of the values. */
export async function countsOf(scope: SearchScope, field: GroupDimension, values: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map(values.map((value) => [value, 0]));
  if (values.length > 0) {
    for (const [position, events] of await scope.runner.run(countsOfValuesStatement(scope.plan, field, values, scope.events()))) {
      counts.set(values[Number(position)] as string, Number(events));
    }
  }
  return counts;
}

/** Reads the rows of a statement that counts values: by the index of their field. */
function countsByIndex(rows: readonly DuckDBValue[][]): ReadonlyMap<number, FieldCounts> {
  return new Map(
    rows.map(([field, distinct, values, counts]) => {
      const numbers: readonly (number | null)[] = JSON.parse(counts as string);
      const texts = listedTexts(values as string);
      const first = texts.map((value, index) => ({ value, count: numbers[index] ?? 0 }));
      return [Number(field), { distinct: Number(distinct), first }];
    }),
  );
}

function countsOfFields(found: ReadonlyMap<number, FieldCounts>, fields: readonly GroupDimension[]): CountsByField {
  return new Map(fields.map((field, index) => [field, found.get(index) ?? NOTHING]));
}
