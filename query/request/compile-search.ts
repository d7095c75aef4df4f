import type { JsonLimits } from '../exact-json.ts';
import type { Predicate, SearchPlan, ZoneSelection } from '../plan/search-plan.ts';
import { MAX_PER_ANSWER, SEARCH_LIMITS } from '../search-limits.ts';
import { readConditions } from './request-conditions.ts';
import { BODY, ErrorList, InvalidSearchError } from './request-errors.ts';
import { requestPredicate } from './request-predicate.ts';
import { checkWindow, readWindow } from './request-window.ts';
import { type RequestOutput, readSearchRequest } from './search-request.ts';
import { readJson, readObject } from './wire-readers.ts';

export interface SearchContext {
  readonly zoneId: number;
  /** The time of the request, Unix milliseconds UTC. */
  readonly nowMs: number;
}

/** The context of a request about several zones. */
export interface ZonesContext {
  readonly zones: ZoneSelection;
  /** The time of the request, Unix milliseconds UTC. */
  readonly nowMs: number;
}

/** The limits of the bodies of all kinds of searches. */
export const BODY_LIMITS: JsonLimits = { depth: SEARCH_LIMITS.jsonDepth, values: SEARCH_LIMITS.jsonValues };

/**
 * Compiles the body of a search request, JSON in UTF-8, into the plan that engines are given. Throws {@link InvalidSearchError} with
 * everything that is wrong. `page.index * page.size` is below 2^41, so offsets are exact numbers.
 */
export function compileSearch(body: Uint8Array, { zoneId, nowMs }: SearchContext): SearchPlan {
  const errors = new ErrorList();
  const json = readJson(body, BODY_LIMITS, errors);
  const request = json === undefined ? undefined : readSearchRequest(json, errors);
  if (request === undefined) throw new InvalidSearchError(errors.toArray());
  const window = checkWindow(request, nowMs, errors);
  const where = requestPredicate(request, errors);
  if (window === undefined || !errors.isEmpty) throw new InvalidSearchError(errors.toArray());
  return { zones: [zoneId], window, where, ...plannedOutput(request) };
}

/** The page and the output of a plan. */
export function plannedOutput({ groupBy: by, buckets, page, pageSize }: RequestOutput): Pick<SearchPlan, 'page' | 'output'> {
  return {
    page: { index: page, size: clamp(pageSize, 1, MAX_PER_ANSWER) },
    output: by.length === 0 ? { kind: 'rows' } : { kind: 'groups', by, buckets: clamp(buckets, 0, MAX_PER_ANSWER) },
  };
}

/**
 * Compiles the body of an export, a search with `exclude` and without pages and groups, into the plan of all its rows. Throws
 * {@link InvalidSearchError} with everything that is wrong.
 */
export function compileExport(body: Uint8Array, { zones, nowMs }: ZonesContext): SearchPlan {
  const errors = new ErrorList();
  const json = readJson(body, BODY_LIMITS, errors);
  const fields = json === undefined ? undefined : readObject(json, BODY, ['from', 'to', 'query', 'filters', 'exclude'], errors);
  if (fields === undefined) throw new InvalidSearchError(errors.toArray());
  const window = checkWindow(readWindow(fields, errors), nowMs, errors);
  const where = requestPredicate(readConditions(fields, errors), errors);
  if (window === undefined || !errors.isEmpty) throw new InvalidSearchError(errors.toArray());
  return { zones, window, where, page: { index: 0, size: 1 }, output: { kind: 'rows' } };
}

/**
 * Compiles a request that has only conditions, JSON in UTF-8 with `query`, `filters` and `exclude`, all optional, by the rules and limits
 * of a search. Throws {@link InvalidSearchError} with everything that is wrong.
 */
export function compileConditions(body: Uint8Array): Predicate {
  const errors = new ErrorList();
  const json = readJson(body, BODY_LIMITS, errors);
  const fields = json === undefined ? undefined : readObject(json, BODY, ['query', 'filters', 'exclude'], errors);
  const where = fields === undefined ? undefined : requestPredicate(readConditions(fields, errors), errors);
  if (where === undefined || !errors.isEmpty) throw new InvalidSearchError(errors.toArray());
  return where;
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
