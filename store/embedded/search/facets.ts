import { type GroupDimension, isFolded } from '../../../query/event-fields.ts';
import type { ExplorePlan, FacetRequest, Selection } from '../../../query/plan/explore-plan.ts';
import type { Facet, FacetValue } from '../../../query/plan/search-result.ts';
import { facetStatement, otherValuesStatement } from '../../../sql/explore-statements.ts';
import { unmarkText } from '../../../sql/statement.ts';
import { contendersOf, firstIfCertain, type PartlyCounted } from './difference-contenders.ts';
import {
  areOthersSingle,
  byDifference,
  eventCountOf,
  type FieldCounts,
  foldedCounts,
  isWhole,
  type SelectedCount,
  type Sides,
} from './field-counts.ts';
import type { SearchScope } from './search-scope.ts';
import { type CountsByField, countsOf, countTogether, isCountedApart, type ValueCounting } from './value-counts.ts';

/** The facets, and the number of events in the selection; null without one. `counts`: of all fields that have a facet. */
export async function findFacets(
  scope: SearchScope,
  { facets, selection }: Pick<ExplorePlan, 'facets' | 'selection'>,
  counting: ValueCounting,
  counts: CountsByField,
): Promise<{ readonly facets: readonly Facet[]; readonly selectedTotal: number | null }> {
  const selected = selection === null ? null : await select(scope, selection, counting, counts);
  const found: Facet[] = [];
  for (const facet of facets) {
    const of = counts.get(facet.field) as FieldCounts;
    if (isFolded(facet.field)) {
      found.push(await findFolded(scope, facet, of, selected));
    } else {
      const values = await findValues(scope, facet, of, selected);
      found.push({ field: facet.field, distinct: of.distinct, values: values.map((one) => ({ ...one, spellings: 1 })) });
    }
  }
  return { facets: found, selectedTotal: selected?.total ?? null };
}

/** The selection as a search of its own. */
interface Selected {
  readonly selection: Selection;
  readonly scope: SearchScope;
  readonly total: number;
  /** Undefined where the number of the search's events is not known, because no facet has all values. */
  readonly sides: Sides | undefined;
  /** The counts of values in the selection. Those of fields that are counted apart are missing, and all where memory is short. */
  readonly counts: CountsByField;
}

async function select(
  scope: SearchScope,
  selection: Selection,
  { events, limits, oneByOne }: ValueCounting,
  known: CountsByField,
): Promise<Selected> {
  const { where } = scope.plan;
  const within = scope.asking({ window: selection.window, where: { kind: 'all', of: [where, selection.where] } });
  const together = oneByOne ? [] : [...known.keys()].filter((field) => !isCountedApart(field, events, limits));
  const { total, counts } = await countTogether(within, together, limits);
  const summed = [...known.values()].find((one) => isWhole(one) || areOthersSingle(one));
  return { selection, scope: within, total, sides: summed && { inside: total, outside: eventCountOf(summed) - total }, counts };
}

/** The facet of a folded field: of all values by bytes where these are known. */
async function findFolded(scope: SearchScope, request: FacetRequest, counts: FieldCounts, selected: Selected | null): Promise<Facet> {
  const inSelection = selected === null ? NO_COUNTS : selected.counts.get(request.field);
  if (!isWhole(counts) || inSelection === undefined || !isWhole(inSelection)) {
    return await countFacet(scope, request, selected?.selection ?? null);
  }
  const known = new Map(inSelection.first.map(({ value, count }) => [value, count]));
  const values = counts.first.map((one) => ({ ...one, selected: known.get(one.value) ?? 0 }));
  return foldedFacet(request, values, selected?.sides ?? null);
}

const NO_COUNTS: FieldCounts = { distinct: 0, first: [] };

/** The facet of a folded field all of whose values are known. `sides`: null without a selection. */
export function foldedFacet({ field, limit, order }: FacetRequest, values: readonly SelectedCount[], sides: Sides | null): Facet {
  const folded = foldedCounts(values);
  const ordered = order === 'difference' && sides !== null ? byDifference(folded, sides) : folded;
  const first = ordered.slice(0, limit);
  return { field, distinct: folded.length, values: sides === null ? first.map((one) => ({ ...one, selected: null })) : first };
}

/** Counts the values of a field in the engine, folded where the field is. */
export async function countFacet(scope: SearchScope, request: FacetRequest, selection: Selection | null): Promise<Facet> {
  const rows = await scope.runner.run(facetStatement(scope.plan, request, selection, scope.events()));
  return {
    field: request.field,
    distinct: Number(rows[0]?.at(-1) ?? 0),
    values: rows.map(([value, count, selected, spellings]) => ({
      value: unmarkText(value as string),
      count: Number(count),
      selected: selection === null ? null : Number(selected),
      spellings: Number(spellings),
    })),
  };
}

async function findValues(
  scope: SearchScope,
  request: FacetRequest,
  counts: FieldCounts,
  selected: Selected | null,
): Promise<readonly Omit<FacetValue, 'spellings'>[]> {
  const { field, limit, order } = request;
  const first = counts.first.slice(0, limit);
  if (selected === null) {
    return first.map((one) => ({ ...one, selected: null }));
  }
  const inSelection = selected.counts.get(field);
  if (order === 'count') {
    const known = new Map(inSelection?.first.map(({ value, count }) => [value, count]));
    const others = inSelection !== undefined && isWhole(inSelection) ? 0 : undefined;
    return await counted(
      scope,
      selected.scope,
      field,
      first.map((one) => ({ ...one, selected: known.get(one.value) ?? others })),
    );
  }
  const found = inSelection === undefined ? undefined : await firstByDifference(scope, request, counts, inSelection, selected);
  return (
    found ??
    (await singletonsByDifference(scope, request, counts, selected)) ??
    (await countFacet(scope, request, selected.selection)).values.map(withSelected)
  );
}

function withSelected({ value, count, selected }: FacetValue): SelectedCount {
  return { value, count, selected: selected ?? 0 };
}

/** More values than this are not counted one by one. */
const MOST_CONTENDERS = 1_000;

/** The first values of a facet by difference. Undefined where one that is not known may be among them, or where too many may. */
async function firstByDifference(
  scope: SearchScope,
  { field, limit }: FacetRequest,
  counts: FieldCounts,
  inSelection: FieldCounts,
  selected: Selected,
): Promise<readonly SelectedCount[] | undefined> {
  const { sides } = selected;
  if (sides === undefined) {
    return undefined;
  }
  const { values, mostOfOthers } = contendersOf(counts, inSelection, sides, limit);
  if (values.filter(({ count, selected }) => count === undefined || selected === undefined).length > MOST_CONTENDERS) {
    return undefined;
  }
  return firstIfCertain(await counted(scope, selected.scope, field, values), sides, limit, mostOfOthers);
}

/**
 * The same where all values with several events are known: these and the first others in the selection, all of which differ by as much.
 * Undefined where there are other values, or where one that is not in the selection may be among the first.
 */
async function singletonsByDifference(
  scope: SearchScope,
  { field, limit }: FacetRequest,
  counts: FieldCounts,
  selected: Selected,
): Promise<readonly SelectedCount[] | undefined> {
  const { sides } = selected;
  if (sides === undefined || !areOthersSingle(counts)) {
    return undefined;
  }
  const several = counts.first.filter(({ count }) => count > 1);
  const among = several.map(({ value }) => value);
  const statement = otherValuesStatement(selected.scope.plan, field, among, limit, selected.scope.events());
  const singletons = (await scope.runner.run(statement)).map(([value]) => ({ value: unmarkText(value as string), count: 1, selected: 1 }));
  const known = await counted(
    scope,
    selected.scope,
    field,
    several.map((one) => ({ ...one, selected: undefined })),
  );
  return firstIfCertain([...known, ...singletons], sides, limit, -sides.inside);
}

/** Counts what is not known of the values. */
async function counted(
  scope: SearchScope,
  within: SearchScope,
  field: GroupDimension,
  values: readonly PartlyCounted[],
): Promise<SelectedCount[]> {
  const valuesOf = (some: readonly PartlyCounted[]) => some.map(({ value }) => value);
  const counts = await countsOf(scope, field, valuesOf(values.filter(({ count }) => count === undefined)));
  const inSelection = await countsOf(within, field, valuesOf(values.filter(({ selected }) => selected === undefined)));
  return values.map(({ value, count, selected }) => ({
    value,
    count: count ?? (counts.get(value) as number),
    selected: selected ?? (inSelection.get(value) as number),
  }));
}
