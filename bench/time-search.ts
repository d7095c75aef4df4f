import { compileSearch } from '../query/compile-search.ts';
import { searchResponseJson } from '../src/search-response.ts';
import type { OpenStore } from '../store/open-store.ts';
import { BENCH_NOW_MS } from './event-file.ts';
import { BIG_ZONE } from './workload.ts';

export interface TimedSearch {
  readonly elapsedMs: number;
  readonly total: number;
}

/** A search of the big zone, timed from the bytes of the request to the text of the response. */
export async function timeSearch(store: OpenStore, body: object): Promise<TimedSearch> {
  const request = Buffer.from(JSON.stringify(body));
  const start = performance.now();
  const plan = compileSearch(request, { zoneId: BIG_ZONE, nowMs: BENCH_NOW_MS });
  const result = await store.search(plan);
  searchResponseJson(result, plan.page);
  return { elapsedMs: performance.now() - start, total: result.total };
}
