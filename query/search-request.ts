import type { Dimension } from './dimensions.ts';
import type { ErrorList } from './error-list.ts';
import type { JsonObject, JsonValue } from './exact-json.ts';
import { type FilterClause, readFilters } from './filter-clause.ts';
import { readGroupBy } from './group-by.ts';
import { BODY } from './json-path.ts';
import { INT32, INT64, type IntegerRange, readInteger } from './wire-integer.ts';
import { readObject } from './wire-object.ts';
import { readText } from './wire-text.ts';

const PROPERTIES = ['from', 'to', 'query', 'filters', 'groupBy', 'buckets', 'page', 'pageSize'];

const PAGE_INDEX: IntegerRange = { least: 0n, most: INT32.most };

/** EventLogsSearchRequest, each field by itself valid; undefined where it was not. */
export interface SearchRequest {
  readonly from: bigint | undefined;
  readonly to: bigint | undefined;
  readonly query: string | undefined;
  readonly filters: readonly FilterClause[];
  readonly groupBy: readonly Dimension[];
  /** int32, not clamped yet. */
  readonly buckets: number;
  readonly page: number;
  /** int32, not clamped yet. */
  readonly pageSize: number;
}

const DEFAULT_PAGE_SIZE = 50;

/** Reads the body field by field; all that is wrong is added to the errors. An absent optional field and a null one are the same. */
export function readSearchRequest(body: JsonValue, errors: ErrorList): SearchRequest | undefined {
  const fields = readObject(body, BODY, PROPERTIES, errors);
  if (fields === undefined) {
    return undefined;
  }
  return {
    from: readTime(fields, 'from', errors),
    to: readTime(fields, 'to', errors),
    ...readConditions(fields, errors),
    groupBy: readGroupBy(fields.get('groupBy') ?? null, 'groupBy', errors),
    buckets: readCount(fields, 'buckets', INT32, 0, errors),
    page: readCount(fields, 'page', PAGE_INDEX, 0, errors),
    pageSize: readCount(fields, 'pageSize', INT32, DEFAULT_PAGE_SIZE, errors),
  };
}

/** The text and the filters of a request. */
export function readConditions(fields: JsonObject, errors: ErrorList): Pick<SearchRequest, 'query' | 'filters'> {
  const query = fields.get('query') ?? null;
  return {
    query: query === null ? '' : readText(query, 'query', errors),
    filters: readFilters(fields.get('filters') ?? null, 'filters', errors),
  };
}

function readTime(fields: JsonObject, name: string, errors: ErrorList): bigint | undefined {
  const value = fields.get(name);
  if (value === undefined) {
    errors.add(name, 'is required: Unix milliseconds, UTC');
    return undefined;
  }
  return readInteger(value, name, INT64, errors);
}

function readCount(fields: JsonObject, name: string, range: IntegerRange, unset: number, errors: ErrorList): number {
  const value = fields.get(name) ?? null;
  return value === null ? unset : Number(readInteger(value, name, range, errors) ?? unset);
}
