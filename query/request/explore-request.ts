import { DIMENSIONS, GROUP_DIMENSIONS, type GroupDimension } from '../event-fields.ts';
import { INT64, type IntegerRange } from '../integer-ranges.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import type { FacetOrder, FacetRequest, HistogramRequest } from '../plan/explore-plan.ts';
import { DEFAULT_FACET_VALUES, MAX_BUCKET_WIDTH_MS, MAX_COMBINED, MAX_FACET_VALUES, MAX_PER_ANSWER } from '../search-limits.ts';
import { type ClauseList, type FilterClause, readClauses } from './filter-clauses.ts';
import { type RequestConditions, readTerms } from './request-conditions.ts';
import { BODY, type ErrorList, elementPath, propertyPath, shownValue } from './request-errors.ts';
import { type RequestWindow, readWindow } from './request-window.ts';
import { type QueryTerms, refuseCostly } from './search-costs.ts';
import { type RequestOutput, readOutput } from './search-request.ts';
import { readInteger, readList, readName, readObject, readText } from './wire-readers.ts';

/** EventLogsExploreRequest with each field valid by itself; undefined where it was not. */
export interface ExploreRequest extends RequestWindow, RequestConditions, RequestOutput {
  readonly histogram: HistogramInRequest | null;
  readonly facets: readonly FacetRequest[];
  readonly selection: SelectionRequest | null;
  /** Clauses of `eq` with one value; null where none are asked for. */
  readonly combinations: readonly FilterClause[] | null;
}

/** EventLogsHistogramRequest, which gives either the number of the buckets or how many milliseconds each is wide. */
export interface HistogramInRequest extends Pick<HistogramRequest, 'by'> {
  readonly buckets: bigint | undefined;
  readonly width: bigint | undefined;
}

/** EventLogsSelection. A time that it does not give is undefined, too. */
export interface SelectionRequest extends RequestWindow {
  readonly path: string;
  readonly query: QueryTerms;
  readonly filters: ClauseList;
  readonly exclude: ClauseList;
}

const PROPERTIES = [
  'from',
  'to',
  'query',
  'filters',
  'exclude',
  'groupBy',
  'buckets',
  'page',
  'pageSize',
  'histogram',
  'facets',
  'selection',
  'combinations',
];

const BUCKETS: IntegerRange = { min: 1n, max: BigInt(MAX_PER_ANSWER) };
const WIDTH: IntegerRange = { min: 1n, max: BigInt(MAX_BUCKET_WIDTH_MS) };
const FACET_VALUES: IntegerRange = { min: 1n, max: BigInt(MAX_FACET_VALUES) };

/** The orders of the values of a facet. */
export const FACET_ORDERS: readonly FacetOrder[] = ['count', 'difference'];

const SELECTION_PROPERTIES = ['from', 'to', 'query', 'filters', 'exclude'];

/** Reads the body field by field and adds everything that is wrong to the errors. A null optional field counts as absent. */
export function readExploreRequest(body: JsonValue, errors: ErrorList): ExploreRequest | undefined {
  const fields = readObject(body, BODY, PROPERTIES, errors);
  if (fields === undefined) {
    return undefined;
  }
  const window = readWindow(fields, errors);
  const query = readTerms(fields, BODY, errors);
  const filters = readClauses(fields, BODY, 'filters', errors);
  const exclude = readClauses(fields, BODY, 'exclude', errors);
  const output = readOutput(fields, GROUP_DIMENSIONS, errors);
  const histogram = readHistogram(fields.get('histogram') ?? null, 'histogram', errors);
  const hasSelection = (fields.get('selection') ?? null) !== null;
  const facets = readFacets(fields.get('facets') ?? null, 'facets', hasSelection, errors);
  const selection = readSelection(fields.get('selection') ?? null, 'selection', errors);
  const combinations = readCombinations(fields.get('combinations') ?? null, hasSelection, errors);
  refuseCostly([query, filters, exclude, ...(selection === null ? [] : [selection.query, selection.filters, selection.exclude])], errors);
  return { ...window, terms: query.terms, filters, exclude, ...output, histogram, facets, selection, combinations };
}

function readHistogram(value: JsonValue, path: string, errors: ErrorList): HistogramInRequest | null {
  const fields = value === null ? undefined : readObject(value, path, ['buckets', 'width', 'by'], errors);
  if (fields === undefined) {
    return null;
  }
  const by = fields.get('by') ?? null;
  const isGiven = (name: string) => (fields.get(name) ?? null) !== null;
  if (isGiven('buckets') === isGiven('width')) {
    errors.add(path, `must have exactly one of buckets and width, not ${isGiven('width') ? 'both' : 'neither'}`);
  }
  return {
    buckets: isGiven('buckets') ? readInteger(fields.get('buckets'), propertyPath(path, 'buckets'), BUCKETS, errors) : undefined,
    width: isGiven('width') ? readInteger(fields.get('width'), propertyPath(path, 'width'), WIDTH, errors) : undefined,
    by: by === null ? null : (readName(by, propertyPath(path, 'by'), GROUP_DIMENSIONS, errors) ?? null),
  };
}

/** The facets in their order. `difference` orders them only where there is a selection. */
function readFacets(value: JsonValue, path: string, hasSelection: boolean, errors: ErrorList): readonly FacetRequest[] {
  if (value === null) {
    return [];
  }
  const elements = readList(value, path, { of: 'facets', max: GROUP_DIMENSIONS.length }, errors) ?? [];
  const facets = new Map<GroupDimension, FacetRequest>();
  for (const [index, element] of elements.entries()) {
    const facetPath = elementPath(path, index);
    const facet = readFacet(element, facetPath, errors);
    if (facet?.order === 'difference' && !hasSelection) {
      errors.add(propertyPath(facetPath, 'order'), 'must be count, not "difference": there is no selection to hold against the rest');
    }
    if (facet !== undefined && facets.has(facet.field)) {
      errors.add(propertyPath(facetPath, 'field'), `must not repeat a field, as ${shownValue(facet.field)} does`);
    }
    if (facet !== undefined) {
      facets.set(facet.field, facet);
    }
  }
  return [...facets.values()];
}

function readFacet(value: JsonValue, path: string, errors: ErrorList): FacetRequest | undefined {
  const fields = readObject(value, path, ['field', 'limit', 'order'], errors);
  if (fields === undefined) {
    return undefined;
  }
  const field = readName(fields.get('field'), propertyPath(path, 'field'), GROUP_DIMENSIONS, errors);
  const limit = fields.get('limit') ?? null;
  const order = fields.get('order') ?? null;
  const most = limit === null ? undefined : readInteger(limit, propertyPath(path, 'limit'), FACET_VALUES, errors);
  const first = order === null ? undefined : readName(order, propertyPath(path, 'order'), FACET_ORDERS, errors);
  return field === undefined ? undefined : { field, limit: Number(most ?? DEFAULT_FACET_VALUES), order: first ?? 'count' };
}

function readSelection(value: JsonValue, path: string, errors: ErrorList): SelectionRequest | null {
  const fields = value === null ? undefined : readObject(value, path, SELECTION_PROPERTIES, errors);
  if (fields === undefined) {
    return null;
  }
  if (SELECTION_PROPERTIES.every((name) => (fields.get(name) ?? null) === null)) {
    errors.add(path, `must have at least one of ${SELECTION_PROPERTIES.join(', ')}`);
  }
  return {
    path,
    from: readOptionalTime(fields, path, 'from', errors),
    to: readOptionalTime(fields, path, 'to', errors),
    query: readTerms(fields, path, errors),
    filters: readClauses(fields, path, 'filters', errors),
    exclude: readClauses(fields, path, 'exclude', errors),
  };
}

function readCombinations(value: JsonValue, hasSelection: boolean, errors: ErrorList): readonly FilterClause[] | null {
  const path = 'combinations';
  if (value === null) {
    return null;
  }
  if (!hasSelection) {
    errors.add(path, 'must not be there without a selection to hold against the rest');
  }
  const elements = readList(value, path, { of: 'conditions', max: MAX_COMBINED }, errors);
  if (elements !== undefined && elements.length < 2) {
    errors.add(path, `must have at least 2 elements, not ${elements.length}`);
  }
  const conditions = new Map<string, FilterClause>();
  for (const [index, element] of (elements ?? []).entries()) {
    const conditionPath = elementPath(path, index);
    const condition = readCondition(element, conditionPath, errors);
    const name = condition && JSON.stringify([condition.field, ...condition.alternatives.map(({ text }) => text)]);
    if (condition === undefined || name === undefined) continue;
    if (conditions.has(name)) {
      errors.add(conditionPath, `must not repeat a condition, as that for ${condition.field} does`);
    }
    conditions.set(name, condition);
  }
  return [...conditions.values()];
}

function readCondition(element: JsonValue, path: string, errors: ErrorList): FilterClause | undefined {
  const fields = readObject(element, path, ['field', 'value'], errors);
  if (fields === undefined) {
    return undefined;
  }
  const field = readName(fields.get('field'), propertyPath(path, 'field'), DIMENSIONS, errors);
  const text = readText(fields.get('value') ?? null, propertyPath(path, 'value'), errors);
  return field === undefined || text === undefined ? undefined : { path, field, op: 'eq', alternatives: [{ text, path }] };
}

function readOptionalTime(fields: JsonObject, path: string, name: string, errors: ErrorList): bigint | undefined {
  const value = fields.get(name) ?? null;
  return value === null ? undefined : readInteger(value, propertyPath(path, name), INT64, errors);
}
