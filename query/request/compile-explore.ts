import type { ExplorePlan, HistogramRequest, Selection } from '../plan/explore-plan.ts';
import type { TimeWindow } from '../plan/search-plan.ts';
import { MAX_PER_ANSWER } from '../search-limits.ts';
import { BODY_LIMITS, plannedOutput, type ZonesContext } from './compile-search.ts';
import { type ExploreRequest, type HistogramInRequest, readExploreRequest, type SelectionRequest } from './explore-request.ts';
import { ErrorList, InvalidSearchError, propertyPath } from './request-errors.ts';
import { filterPredicate, requestPredicate } from './request-predicate.ts';
import { checkWindow } from './request-window.ts';
import { readJson } from './wire-readers.ts';

/**
 * Compiles the body of a question of the explorer, JSON in UTF-8, into its plan. Throws {@link InvalidSearchError} with everything that is
 * wrong.
 */
export function compileExplore(body: Uint8Array, { zones, nowMs }: ZonesContext): ExplorePlan {
  const errors = new ErrorList();
  const json = readJson(body, BODY_LIMITS, errors);
  const request = json === undefined ? undefined : readExploreRequest(json, errors);
  if (request === undefined) throw new InvalidSearchError(errors.toArray());
  const window = checkWindow(request, nowMs, errors);
  const where = requestPredicate(request, errors);
  const selection = request.selection === null ? null : plannedSelection(request.selection, window, errors);
  const combinations = request.combinations?.map((clause) => filterPredicate(clause, errors));
  const histogram = request.histogram === null ? null : plannedHistogram(request.histogram, window, errors);
  if (window === undefined || !errors.isEmpty) throw new InvalidSearchError(errors.toArray());
  const search = { zones, window, where, ...plannedPage(request) };
  return { search, histogram, facets: request.facets, selection, ...(combinations && { combinations }) };
}

/** As in a search, but that a page of the size 0 stays empty. */
function plannedPage(request: ExploreRequest): ReturnType<typeof plannedOutput> {
  const { page, output } = plannedOutput(request);
  return { page: request.pageSize === 0 ? { ...page, size: 0 } : page, output };
}

/** Buckets of a width begin at its multiples since 1970 in UTC, so that the first and the last may lie in the window only in part. */
function plannedHistogram(
  { buckets, width, by }: HistogramInRequest,
  window: TimeWindow | undefined,
  errors: ErrorList,
): HistogramRequest | null {
  if (width === undefined || window === undefined) return buckets === undefined ? null : { buckets: Number(buckets), by };
  const widthMs = Number(width);
  const [first, end] = [Math.floor(window.fromMs / widthMs), Math.ceil(window.toMs / widthMs)];
  if (end - first > MAX_PER_ANSWER) {
    errors.add('histogram.width', `must make at most ${MAX_PER_ANSWER} buckets of the window, not ${end - first}`);
  }
  return { buckets: end - first, by, window: { fromMs: first * widthMs, toMs: end * widthMs } };
}

/**
 * The part of the selection that lies in the window; one that lies outside is empty. Without a window, which is an error of its own, only
 * the selection's own faults are found.
 */
function plannedSelection(request: SelectionRequest, window: TimeWindow | undefined, errors: ErrorList): Selection | null {
  const { path, from, to, query, filters, exclude } = request;
  if (from !== undefined && to !== undefined && to <= from) {
    errors.add(propertyPath(path, 'to'), `must be greater than from (${from}), not ${to}`);
  }
  const where = requestPredicate({ terms: query.terms, filters, exclude }, errors);
  if (window === undefined) return null;
  const fromMs = from === undefined ? window.fromMs : within(from, window);
  const toMs = to === undefined ? window.toMs : within(to, window);
  return { window: { fromMs, toMs: Math.max(fromMs, toMs) }, where };
}

/** The time, or the end of the window that is nearest to it. Compared as integers, so that no time is rounded. */
function within(time: bigint, { fromMs, toMs }: TimeWindow): number {
  if (time <= BigInt(fromMs)) return fromMs;
  return time >= BigInt(toMs) ? toMs : Number(time);
}
