import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import type { EventStore } from '../../../store/event-store.ts';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import type { CanonicalEvent } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';

export const ZONE = 7;
export { NOW };
export const HOUR = 3_600_000;

export function event(logId: string, timestamp: number, more: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return { logId, shieldZoneId: ZONE, timestamp, ...more };
}

/** `count` events named `prefix0` …, one every `everyMs`, the first at `startMs`. */
export function eventSeries(prefix: string, count: number, startMs: number, everyMs: number): CanonicalEvent[] {
  return Array.from({ length: count }, (_, index) => event(`${prefix}${index}`, startMs + index * everyMs));
}

export function rowsPlan(more: Partial<SearchPlan> = {}): SearchPlan {
  return {
    zones: [ZONE],
    window: { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
    where: { kind: 'everything' },
    page: { index: 0, size: 500 },
    output: { kind: 'rows' },
    ...more,
  };
}

/** The ids of every event of the zone, in the order of the answer, page by page. */
export async function storedIds(store: EventStore, plan: SearchPlan = rowsPlan()): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; ; index += 1) {
    const result = await store.search({ ...plan, page: { index, size: plan.page.size } });
    const rows = await rowsOf(result);
    ids.push(...rows.map(({ logId }) => logId));
    if (rows.length === 0) {
      if (ids.length !== result.total) {
        throw new Error(`${ids.length} rows on all pages, total ${result.total}`);
      }
      return ids;
    }
  }
}

export function idsOf(events: readonly CanonicalEvent[]): string[] {
  return events.map(({ logId }) => logId);
}

/** Newest first, then by id, as a search answers. */
export function inAnswerOrder(events: readonly CanonicalEvent[]): string[] {
  return idsOf([...events].sort((a, b) => b.timestamp - a.timestamp || (a.logId < b.logId ? -1 : 1)));
}
