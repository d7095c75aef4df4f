import type { ExplorePlan, Selection } from '../plan/explore-plan.ts';
import type { TimeWindow } from '../plan/search-plan.ts';
import { BODY_LIMITS, plannedOutput, type ZonesContext } from './compile-search.ts';
import { type ExploreRequest, readExploreRequest, type SelectionRequest } from './explore-request.ts';
import { ErrorList, InvalidSearchError, propertyPath } from './request-errors.ts';
import { requestPredicate } from './request-predicate.ts';
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
  if (window === undefined || !errors.isEmpty) throw new InvalidSearchError(errors.toArray());
  const search = { zones, window, where, ...plannedPage(request) };
  return { search, histogram: request.histogram, facets: request.facets, selection };
}

/** As in a search, but that a page of the size 0 stays empty. */
function plannedPage(request: ExploreRequest): ReturnType<typeof plannedOutput> {
  const { page, output } = plannedOutput(request);
  return { page: request.pageSize === 0 ? { ...page, size: 0 } : page, output };
}

/**
 * The part of the selection that lies in the window; one that lies outside is empty. Without a window, which is an error of its own, only
 * the selection's own faults are found.
 */
function plannedSelection(request: SelectionRequest, window: TimeWindow | undefined, errors: ErrorList): Selection | null {
  const { path, from, to, filters, exclude } = request;
  if (from !== undefined && to !== undefined && to <= from) {
    errors.add(propertyPath(path, 'to'), `must be greater than from (${from}), not ${to}`);
  }
  const where = requestPredicate({ terms: [], filters, exclude }, errors);
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
