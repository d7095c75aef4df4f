import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { GroupDimension } from '../../../../query/event-fields.ts';
import type { ExplorePlan, FacetOrder, Selection } from '../../../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../../../query/plan/search-plan.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import { explored } from '../../../fixtures/answered-rows.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW } from '../stored-events.ts';
import { actionIs, explorePlan } from './explore-plan.ts';

const MINUTE = 60_000;
const FIRST = NOW - 60 * HOUR;
/** Only the first values of fields with more are known, and urls are counted apart from the other fields. */
export const LIMITS = { values: 110, urls: 100, together: 150, listed: 130, listBytes: 1e6, valueBytes: 1e6 };

/**
 * Events, one a minute from minute `from` on. There are 131 addresses, and urls of which most have one event; two events share one, and one
 * event has none.
 */
export function minutes(from: number, count: number): CanonicalEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const minute = from + index;
    return event(`e${minute}`, FIRST + minute * MINUTE, {
      ip: `192.0.2.${(minute * 7) % 131}`,
      ...(minute !== 50 && {
        url: `https://a.example/?${minute % 9 === 0 ? `often=${minute % 4}` : `once=${minute === 60 ? 61 : minute}`}`,
      }),
      action: ['blocked', 'logged', 'challenged'][minute % 3],
      ...(minute % 4 === 0 && { country: minute % 8 === 0 ? 'DE' : '' }),
    });
  });
}

/** Two of many values, one of few that are often missing, and one of a single value. */
const FIELDS: readonly GroupDimension[] = ['ip', 'url', 'country', 'shieldZoneId'];

const windowOf = (fromMinute: number, toMinute: number) => ({
  fromMs: FIRST + fromMinute * MINUTE,
  toMs: FIRST + toMinute * MINUTE,
});

/** Four fields and a histogram of these minutes. */
export function question(
  fromMinute: number,
  toMinute: number,
  selection: Selection | null = null,
  more: Partial<SearchPlan> = {},
): ExplorePlan {
  const order: FacetOrder = selection === null ? 'count' : 'difference';
  return explorePlan(
    { window: windowOf(fromMinute, toMinute), ...more },
    { histogram: { buckets: 7, by: 'ip' }, facets: FIELDS.map((field) => ({ field, limit: 20, order })), selection },
  );
}

export const blockedIn = (fromMinute: number, toMinute: number): Selection => ({
  window: windowOf(fromMinute, toMinute),
  where: actionIs('blocked'),
});
export const during = (fromMinute: number, toMinute: number): Selection => ({
  window: windowOf(fromMinute, toMinute),
  where: { kind: 'everything' },
});

/** Two stores with the same events, of which one counts everything anew. */
export class Twins {
  readonly folder = temporaryFolder();
  readonly #stores: readonly [caching: OpenStore, plain: OpenStore];
  #nowMs: { value: number };

  private constructor(folder: string, stores: readonly [OpenStore, OpenStore], nowMs: { value: number }) {
    this.folder = folder;
    this.#stores = stores;
    this.#nowMs = nowMs;
  }

  static async open(): Promise<Twins> {
    const nowMs = { value: NOW };
    const folder = temporaryFolder();
    const now = () => nowMs.value;
    const stores = await Promise.all([
      embeddedStoreIn(folder, { valueCountLimits: LIMITS, now }),
      embeddedStoreIn(temporaryFolder(), { cachesCounts: false, now }),
    ]);
    return new Twins(folder, stores, nowMs);
  }

  get caching(): OpenStore {
    return this.#stores[0];
  }

  async append(events: readonly CanonicalEvent[]): Promise<void> {
    for (const store of this.#stores) {
      await store.append(canonicalBatch(events));
    }
  }

  async flush(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.flushNow()));
  }

  async merge(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.compactNow()));
  }

  /** What is older than 72 hours expires, after so many hours more. */
  async expireAfter(hours: number): Promise<void> {
    this.#nowMs.value += hours * HOUR;
    await Promise.all(this.#stores.map((store) => store.dropExpiredNow()));
  }

  async expectEqual(...plans: readonly ExplorePlan[]): Promise<void> {
    for (const plan of plans) {
      const [answer, expected] = await Promise.all(this.#stores.map(async (store) => await explored(await store.explore(plan))));
      expect(answer).toEqual(expected);
    }
  }

  /** Makes every segment of the caching store that is there now unreadable. */
  removeSegments(): void {
    for (const folder of ['segments', 'links'].map((name) => join(this.folder, name))) {
      for (const file of readdirSync(folder)) {
        rmSync(join(folder, file));
      }
    }
  }
}
