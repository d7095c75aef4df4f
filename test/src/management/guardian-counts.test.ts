import { describe, expect, onTestFinished, test } from 'vitest';
import type { SearchResult } from '../../../query/plan/search-result.ts';
import { STORE_PROBLEMS } from '../../../src/http/problem.ts';
import { guardianDays } from '../../../src/management/guardian-counts.ts';
import { FairQueue, LIGHT_SEATS, MAX_WAITING_READS, SEATS } from '../../../src/scheduling/fair-queue.ts';
import { ScheduledReads } from '../../../src/scheduling/scheduled-reads.ts';
import { StoreError } from '../../../store/store-error.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { eventLine, ingest, startApp } from '../running-app.ts';

const DAY_MS = 86_400_000;

describe('the days of API Guardian', () => {
  test('are the 28 UTC days up to today, and more rules than a page of groups has are all counted', async () => {
    const app = await startApp({ env: { RETENTION_HOURS: '720' } });
    try {
      const nowMs = Date.now();
      const oldestMs = Math.floor(nowMs / DAY_MS) * DAY_MS - 27 * DAY_MS;
      const event = (index: number, timestamp: number): string =>
        eventLine({ feature: 'api-guardian', action: 'blocked', ruleId: `schema-${index}`, timestamp });
      const lines = Array.from({ length: 501 }, (_, index) => event(index, oldestMs) + event(index, nowMs));
      await ingest(app, lines.join('') + event(0, oldestMs - 1));
      const days = await guardianDays({ store: app.store, now: () => nowMs, deadlineMs: 20_000 }, 7);
      expect(days.map(({ day }) => day)).toEqual(
        Array.from({ length: 28 }, (_, index) => new Date(oldestMs + index * DAY_MS).toISOString().slice(0, 10)),
      );
      expect(days.map(({ counts }) => counts.requestsInspected)).toEqual([501, ...Array.from({ length: 26 }, () => 0), 501]);
      expect(days[0]?.counts).toEqual({
        blockedRequests: 501,
        loggedRequests: 0,
        rateLimited: 0,
        requestsInspected: 501,
        failedRequestValidation: 501,
        failedAuthenticationEnforcement: 0,
      });
    } finally {
      await app.stop();
    }
  });

  test('are given up past the deadline, for the caller to try again', async () => {
    const app = await startApp();
    onTestFinished(() => app.stop());
    const search = (): Promise<SearchResult> => new Promise(() => {});
    const reads = new ScheduledReads(alteredStore(app.store, { search }), new FairQueue());
    const counted = guardianDays({ store: reads.of('all'), now: Date.now, deadlineMs: 5 }, 7);
    await expect(counted).rejects.toMatchObject({ status: 503, key: 'metrics.deadline', headers: { 'retry-after': '5' } });
  });

  test.each([
    ['overloaded', 'metrics.busy'],
    ['unavailable', 'metrics.unavailable'],
  ] as const)('are given up where the store is %s, for the caller to try again', async (code, key) => {
    const search = (): Promise<SearchResult> => Promise.reject(new StoreError(code, 'not now'));
    const counted = guardianDays({ store: { search }, now: Date.now, deadlineMs: 100_000 }, 7);
    await expect(counted).rejects.toMatchObject({
      status: 503,
      key,
      message: `The events could not be counted: ${STORE_PROBLEMS[code].detail}`,
      headers: { 'retry-after': '5' },
    });
  });

  test('are given up where too many searches wait, for the caller to try again', async () => {
    const app = await startApp();
    onTestFinished(() => app.stop());
    const reads = new ScheduledReads(app.store, new FairQueue());
    const counting = { store: reads.of('all'), now: Date.now, deadlineMs: 100_000 };
    // All of them ask for a seat before the first one is free again.
    const most = SEATS + LIGHT_SEATS + MAX_WAITING_READS;
    const all = await Promise.allSettled(Array.from({ length: most + 1 }, () => guardianDays(counting, 7)));
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toMatchObject([{ status: 503, key: 'metrics.busy', headers: { 'retry-after': '5' } }]);
  });
});
