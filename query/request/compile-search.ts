import type { JsonLimits } from '../exact-json.ts';
import type { Predicate, SearchPlan, TimeWindow, ZoneSelection } from '../plan/search-plan.ts';
import { MAX_PER_ANSWER, REACH_HOURS, SEARCH_LIMITS, TOLERANCE_SECONDS } from '../search-limits.ts';
import { BODY, ErrorList, InvalidSearchError } from './request-errors.ts';
import { requestPredicate } from './request-predicate.ts';
import { readConditions, readSearchRequest, readTime } from './search-request.ts';
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

const BODY_LIMITS: JsonLimits = { depth: SEARCH_LIMITS.jsonDepth, values: SEARCH_LIMITS.jsonValues };

/**
 * Compiles the body of a search request, JSON in UTF-8, into the plan that engines are given. Throws {@link InvalidSearchError} with
 * everything that is wrong. `page.index * page.size` is below 2^41, so offsets are exact numbers.
 */
export function compileSearch(body: Uint8Array, { zoneId, nowMs }: SearchContext): SearchPlan {
  const errors = new ErrorList();
  const json = readJson(body, BODY_LIMITS, errors);
  const request = json === undefined ? undefined : readSearchRequest(json, errors);
  const window = checkWindow(request?.from, request?.to, nowMs, errors);
  const where = request === undefined ? undefined : requestPredicate(request, errors);
  if (request === undefined || where === undefined || window === undefined || !errors.isEmpty) {
    throw new InvalidSearchError(errors.toArray());
  }
  const { groupBy: by, buckets, page, pageSize } = request;
  return {
    zones: [zoneId],
    window,
    where,
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
  const window = checkWindow(readTime(fields, 'from', errors), readTime(fields, 'to', errors), nowMs, errors);
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

/**
 * The half-open window `[from, to)`, or undefined and an error for each rule that it breaks: `to > from`, `from` not before the reach and
 * the tolerance, `to` not after the tolerance. Compared as 64-bit integers; a window that passes is near `nowMs`, so its numbers are exact.
 */
function checkWindow(from: bigint | undefined, to: bigint | undefined, nowMs: number, errors: ErrorList): TimeWindow | undefined {
  const now = BigInt(Math.floor(nowMs));
  const toleranceMs = BigInt(TOLERANCE_SECONDS * 1000);
  const earliest = now - BigInt(REACH_HOURS * 3_600_000) - toleranceMs;
  const latest = now + toleranceMs;
  const problems: [field: string, message: string][] = [];
  if (from !== undefined && from < earliest) {
    problems.push(['from', `must be at least ${earliest} (${REACH_HOURS} hours and ${TOLERANCE_SECONDS} seconds ago), not ${from}`]);
  }
  if (to !== undefined && to > latest) {
    problems.push(['to', `must be at most ${latest} (${TOLERANCE_SECONDS} seconds from now), not ${to}`]);
  }
  if (from !== undefined && to !== undefined && to <= from) {
    problems.push(['to', `must be greater than from (${from}), not ${to}`]);
  }
  for (const [field, message] of problems) {
    errors.add(field, message);
  }
  return from === undefined || to === undefined || problems.length > 0 ? undefined : { fromMs: Number(from), toMs: Number(to) };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
