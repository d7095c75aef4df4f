import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zonesAmong } from '../../../../query/plan/feed-zones.ts';
import { sequenceOf } from '../../../../store/embedded/feed/feed-positions.ts';
import type { FeedPosition, FeedRequest } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { KNOWN_IN_TIME } from '../../../fixtures/known-in-time.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { assertAsyncProperty } from '../../../random/assert-property.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW } from '../stored-events.ts';
import { wholeFeed } from './whole-feed.ts';

/** A reader that has all events up to a sequence, and began before the retention run of a round. */
interface Reader {
  readonly zones: FeedRequest['zones'];
  readonly sequence: bigint;
  readonly position: FeedPosition;
  readonly round: number;
}

const STEP = 12 * HOUR;
const anyEvents = fc.array(fc.record({ zone: fc.integer({ min: 1, max: 3 }), age: fc.integer({ min: 0, max: 5 }) }), {
  minLength: 1,
  maxLength: 6,
});
const anyLife = fc.array(fc.record({ events: anyEvents, steps: fc.integer({ min: 0, max: 4 }) }), { minLength: 2, maxLength: 5 });

test('a store tells exactly those readers that have missed events, and whoever starts over gets all that is left', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(anyLife, async (life) => {
      const dataDir = temporaryFolder();
      let now = NOW;
      let store = await embeddedStoreIn(dataDir, { now: () => now });
      const everKept = new Map<bigint, { readonly zone: number; readonly droppedIn: number }>();
      const readers: Reader[] = [];
      for (const [round, { events, steps }] of life.entries()) {
        const batch = events.map(({ zone, age }, index) => event(`${round}-${index}`, now - age * STEP, { shieldZoneId: zone }));
        await store.append(canonicalBatch(batch));
        await store.flushNow();
        for (const zones of [[1], [2, 3], 'all', { modulo: 2, remainder: 1 }] as const) {
          const last = sequenceOf(await store.positions.newest());
          for (const sequence of [0n, last / 2n, last]) {
            const position = store.positions.advance(await store.positions.oldest(), { sequence });
            readers.push({ zones, sequence, position, round });
          }
        }
        const before = await wholeFeed(store, { limit: 100 });
        await store.close();
        now += steps * STEP;
        store = await embeddedStoreIn(dataDir, { now: () => now });
        const kept = new Set((await wholeFeed(store, { limit: 100 })).map(({ sequence }) => sequence));
        for (const { sequence, zoneId } of before) {
          if (!kept.has(sequence)) everKept.set(sequence, { zone: zoneId, droppedIn: round });
        }
        for (const { zones, sequence, position, round: began } of readers) {
          const missed = [...everKept].some(
            ([dropped, { zone, droppedIn }]) => dropped > sequence && droppedIn >= began && [...zonesAmong(zones, [zone])].includes(zone),
          );
          expect((await store.positions.afterExpiry(zones, position)) !== undefined).toBe(missed);
        }
      }
      await store.close();
    }),
    { ...KNOWN_IN_TIME, numRuns: 12 },
  );
});
