import { compileSearch } from '../../query/compile-search.ts';
import type { SearchPlan } from '../../query/search-plan.ts';
import type { SearchResult } from '../../query/search-result.ts';
import { searchResponseJson } from '../../src/http/search-response.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';

export interface TimedAnswer {
  readonly elapsedMs: number;
  /** The text of the response. */
  readonly answer: string;
}

/** A search, timed from the bytes of the request to the text of the response. */
export async function timeSearch(
  store: { search(plan: SearchPlan): Promise<SearchResult> },
  { zone, body }: { readonly zone: number; readonly body: object },
): Promise<TimedAnswer> {
  const request = Buffer.from(JSON.stringify(body));
  const start = performance.now();
  const plan = compileSearch(request, { zoneId: zone, nowMs: BENCH_NOW_MS });
  const answer = searchResponseJson(await store.search(plan), plan.page);
  return { elapsedMs: performance.now() - start, answer };
}
