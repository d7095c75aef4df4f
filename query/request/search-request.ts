import { DIMENSIONS, type GroupDimension } from '../event-fields.ts';
import { INT32, type IntegerRange } from '../integer-ranges.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { DEFAULT_PAGE_SIZE } from '../search-limits.ts';
import { readClauses } from './filter-clauses.ts';
import { type RequestConditions, readTerms } from './request-conditions.ts';
import { BODY, type ErrorList, elementPath, shownValue } from './request-errors.ts';
import { type RequestWindow, readWindow } from './request-window.ts';
import { refuseCostly } from './search-costs.ts';
import { readInteger, readList, readName, readObject } from './wire-readers.ts';

/** EventLogsSearchRequest with each field valid by itself; undefined where it was not. */
export interface SearchRequest extends RequestWindow, RequestConditions, RequestOutput {}

/** The part of a request that says what is wanted of the matching events. */
export interface RequestOutput {
  readonly groupBy: readonly GroupDimension[];
  /** int32, not clamped yet. */
  readonly buckets: number;
  readonly page: number;
  /** int32, not clamped yet. */
  readonly pageSize: number;
}

const PROPERTIES = ['from', 'to', 'query', 'filters', 'groupBy', 'buckets', 'page', 'pageSize'];

const PAGE_INDEX: IntegerRange = { min: 0n, max: INT32.max };

/** Reads the body field by field and adds everything that is wrong to the errors. A null optional field counts as absent. */
export function readSearchRequest(body: JsonValue, errors: ErrorList): SearchRequest | undefined {
  const fields = readObject(body, BODY, PROPERTIES, errors);
  if (fields === undefined) {
    return undefined;
  }
  const window = readWindow(fields, errors);
  const query = readTerms(fields, BODY, errors);
  const filters = readClauses(fields, BODY, 'filters', errors);
  refuseCostly([query, filters], errors);
  return { ...window, terms: query.terms, filters, exclude: { path: 'exclude', clauses: [] }, ...readOutput(fields, DIMENSIONS, errors) };
}

/** Reads what is wanted of the events, which may be grouped by the given dimensions. */
export function readOutput(fields: JsonObject, dimensions: readonly GroupDimension[], errors: ErrorList): RequestOutput {
  return {
    groupBy: readGroupBy(fields.get('groupBy') ?? null, 'groupBy', dimensions, errors),
    buckets: readCount(fields, 'buckets', INT32, 0, errors),
    page: readCount(fields, 'page', PAGE_INDEX, 0, errors),
    pageSize: readCount(fields, 'pageSize', INT32, DEFAULT_PAGE_SIZE, errors),
  };
}

function readCount(fields: JsonObject, name: string, range: IntegerRange, unset: number, errors: ErrorList): number {
  const value = fields.get(name) ?? null;
  return value === null ? unset : Number(readInteger(value, name, range, errors) ?? unset);
}

/** The dimensions in their order. */
function readGroupBy(value: JsonValue, path: string, allowed: readonly GroupDimension[], errors: ErrorList): readonly GroupDimension[] {
  if (value === null) {
    return [];
  }
  const names = readList(value, path, { of: 'dimensions', max: allowed.length }, errors) ?? [];
  const dimensions = new Set<GroupDimension>();
  for (const [index, name] of names.entries()) {
    const dimension = readName(name, elementPath(path, index), allowed, errors);
    if (dimension !== undefined && dimensions.has(dimension)) {
      errors.add(elementPath(path, index), `must not repeat a dimension, as ${shownValue(name)} does`);
    }
    if (dimension !== undefined) {
      dimensions.add(dimension);
    }
  }
  return [...dimensions];
}
