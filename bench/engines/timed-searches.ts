import { setTimeout as delay } from 'node:timers/promises';
import { HOUR_MS } from '../../query/durations.ts';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { ExploreResult, SearchResult } from '../../query/plan/search-result.ts';
import { compileExplore } from '../../query/request/compile-explore.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import { exploreJson } from '../../src/http/explore-json.ts';
import { searchJson } from '../../src/http/search-json.ts';
import { uncounted, wholeAnswer } from '../../test/fixtures/whole-answer.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';

export interface TimedAnswer {
  readonly elapsedMs: number;
  /** The text of the response. */
  readonly answer: string;
}

/** Runs a search and measures the time from the bytes of the request to those of the response. */
export async function timeSearch(
  store: { search(plan: SearchPlan): Promise<SearchResult> },
  { zone, body }: { readonly zone: number; readonly body: object },
): Promise<TimedAnswer> {
  const request = Buffer.from(JSON.stringify(body));
  const start = performance.now();
  const plan = compileSearch(request, { zoneId: zone, nowMs: BENCH_NOW_MS });
  const answer = await wholeAnswer(searchJson(await store.search(plan), plan.page, uncounted));
  return { elapsedMs: performance.now() - start, answer: answer.toString() };
}

/** Asks a question of the explorer and measures the time from the bytes of the request to those of the response. */
export async function timeExplore(
  store: { explore(plan: ExplorePlan): Promise<ExploreResult> },
  { zone, body }: { readonly zone: number; readonly body: object },
): Promise<TimedAnswer> {
  const request = Buffer.from(JSON.stringify(body));
  const start = performance.now();
  const plan = compileExplore(request, { zones: [zone], nowMs: BENCH_NOW_MS });
  const answer = await wholeAnswer(exploreJson(await store.explore(plan), plan, uncounted));
  return { elapsedMs: performance.now() - start, answer: answer.toString() };
}

/** All events of the race. */
export const WINDOW = { from: BENCH_NOW_MS - 72 * HOUR_MS, to: BENCH_NOW_MS + 1 };

/** The zone with an eighth of all events. */
export const BIG_ZONE = 1;

/** The searches that an open dashboard repeats while events are taken in. */
export const DASHBOARD = [{}, { groupBy: ['action'], buckets: 60 }, { groupBy: ['ip'], buckets: 60, pageSize: 10 }, { query: 'admin' }].map(
  (body) => ({ zone: BIG_ZONE, body: { ...WINDOW, ...body } }),
);

export type DashboardSearch = (typeof DASHBOARD)[number];

export interface BackgroundSearches {
  /** Waits for the running search. Resolves with the milliseconds of each search. */
  stop(): Promise<readonly number[]>;
}

/** Starts a search every `periodMs`, or when the one before ends if that is later, until it is stopped. */
export function startBackgroundSearches(
  search: (search: DashboardSearch) => Promise<{ readonly elapsedMs: number }>,
  periodMs = 100,
): BackgroundSearches {
  const stopping = new AbortController();
  const times: number[] = [];
  const run = async () => {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const { elapsedMs } = await search(DASHBOARD[turn % DASHBOARD.length] as DashboardSearch);
      times.push(elapsedMs);
      await delay(Math.max(0, periodMs - elapsedMs));
    }
  };
  const done = run();
  return {
    stop: async () => {
      stopping.abort();
      await done;
      return times;
    },
  };
}
