import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { KNOWN_IN_TIME } from '../../../fixtures/known-in-time.ts';
import { storeIn, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { event, HOUR, NOW } from '../stored-events.ts';
import { wholeFeed } from './whole-feed.ts';

const STEP = 12 * HOUR;
const anyEvents = fc.array(fc.record({ zone: fc.integer({ min: 1, max: 3 }), age: fc.integer({ min: 0, max: 5 }) }), {
  minLength: 1,
  maxLength: 6,
});
const anyLife = fc.array(fc.record({ events: anyEvents, steps: fc.integer({ min: 0, max: 4 }) }), { minLength: 2, maxLength: 5 });

test('a store tells exactly those readers that have missed events, and whoever starts over gets all that is left', async () => {
  await fc.assert(
    fc.asyncProperty(anyLife, async (life) => {
      const dataDir = temporaryFolder();
      let now = NOW;
      let store = await storeIn(dataDir, { now: () => now });
      const everKept = new Map<bigint, { readonly zone: number; readonly droppedAfter: number }>();
      const readers: { readonly zones: readonly number[] | 'all'; readonly sequence: bigint; readonly afterRuns: number }[] = [];
      for (const [round, { events, steps }] of life.entries()) {
        const batch = events.map(({ zone, age }, index) => event(`${round}-${index}`, now - age * STEP, { shieldZoneId: zone }));
        await store.append(canonicalBatch(batch));
        await store.flushNow();
        for (const zones of [[1], [2, 3], 'all'] as const) {
          for (const sequence of [0n, store.lastSequence() / 2n, store.lastSequence()]) {
            readers.push({ zones, sequence, afterRuns: store.retentionRuns() });
          }
        }
        const before = await wholeFeed(store, { limit: 100 });
        const runs = store.retentionRuns();
        await store.close();
        now += steps * STEP;
        store = await storeIn(dataDir, { now: () => now });
        const kept = new Set((await wholeFeed(store, { limit: 100 })).map(({ sequence }) => sequence));
        for (const { sequence, zoneId } of before) {
          if (!kept.has(sequence)) everKept.set(sequence, { zone: zoneId, droppedAfter: runs });
        }
        for (const { zones, sequence, afterRuns } of readers) {
          const missed = [...everKept].some(
            ([dropped, { zone, droppedAfter }]) =>
              dropped > sequence && droppedAfter >= afterRuns && (zones === 'all' || zones.some((wanted) => wanted === zone)),
          );
          expect(store.expiredWatermark(zones, afterRuns) > sequence).toBe(missed);
        }
      }
      await store.close();
    }),
    { ...KNOWN_IN_TIME, numRuns: 12 },
  );
});
