import { setTimeout as delay } from 'node:timers/promises';
import type { OpenStore } from '../store/open-store.ts';
import { timeSearch } from './time-search.ts';
import { BACKGROUND } from './workload.ts';

const PERIOD_MS = 100;

/** Starts a search every 100 ms until stopped, or as soon as the one before has ended where that took longer. Times are in ms. */
export function startBackgroundSearches(store: OpenStore): { stop(): Promise<readonly number[]> } {
  const stopping = new AbortController();
  const times: number[] = [];
  const run = async () => {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const workload = BACKGROUND[turn % BACKGROUND.length];
      if (workload !== undefined) {
        const { elapsedMs } = await timeSearch(store, workload.body);
        times.push(elapsedMs);
        await delay(Math.max(0, PERIOD_MS - elapsedMs));
      }
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
