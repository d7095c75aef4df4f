import { setTimeout as delay } from 'node:timers/promises';
import { BENCH_NOW_MS } from '../events/event-file.ts';

const WINDOW = { from: BENCH_NOW_MS - 72 * 3_600_000, to: BENCH_NOW_MS + 1 };

/** The zone with an eighth of all events: of 20 million it has 2.5 million. */
const BIG_ZONE = 1;

/** What an open dashboard asks, one after the other, while events are taken in. */
export const DASHBOARD = [{}, { groupBy: ['action'], buckets: 60 }, { groupBy: ['ip'], buckets: 60, pageSize: 10 }, { query: 'admin' }].map(
  (body) => ({ zone: BIG_ZONE, body: { ...WINDOW, ...body } }),
);

export type DashboardSearch = (typeof DASHBOARD)[number];

export interface BackgroundSearches {
  /** Resolves with the milliseconds of each search, once the one under way has ended. */
  stop(): Promise<readonly number[]>;
}

/** Starts a search every `periodMs` until stopped, or as soon as the one before has ended where that took longer. */
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
