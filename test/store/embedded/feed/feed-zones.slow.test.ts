import { expect, test } from 'vitest';
import { zonesAmong } from '../../../../query/plan/feed-zones.ts';
import { feedPosition } from '../../../../store/embedded/feed/feed-positions.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import type { FeedRequest } from '../../../../store/event-store.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, NOW } from '../stored-events.ts';
import { wholeFeed } from './whole-feed.ts';

/**
 * The facts that a feed of several zones depends on: the zones, the half days, flushes and merges that their events were written in, the
 * sequence it is read from, and the size of its pages.
 */

const ZONES = 9;
const PER_FLUSH = 24_000;

const ZONE_LISTS: readonly FeedRequest['zones'][] = [
  [7],
  [1, 7],
  [7, 1, 1],
  [1, 2, 7],
  [0, 8],
  [1, 3, 5, 7],
  [0, 1, 2, 3, 4, 5, 6, 8],
  [1, 99],
  'all',
  { modulo: 2, remainder: 1 },
  { modulo: 9, remainder: 7 },
  { modulo: 99, remainder: 98 },
];

/** Events of all zones over two and a half days, in an order that is not that of their times. */
function spread(first: number): CanonicalEvent[] {
  return Array.from({ length: PER_FLUSH }, (_, index) => {
    const logId = `e${first + index}`;
    return event(logId, NOW - 60 * HOUR + ((index * 7_919) % 24_001) * 9_000, { shieldZoneId: (index * 31) % ZONES, log: { logId } });
  });
}

const isOf = (zones: FeedRequest['zones'], { shieldZoneId }: CanonicalEvent) =>
  [...zonesAmong(zones, [shieldZoneId])].includes(shieldZoneId);

async function expectEachOnce(
  store: OpenStore,
  events: readonly CanonicalEvent[],
  from: number,
  limit: number,
  of: readonly FeedRequest['zones'][],
): Promise<void> {
  for (const zones of of) {
    const wanted = events.slice(from).filter((candidate) => isOf(zones, candidate));
    const read = await wholeFeed(store, { zones, limit, after: feedPosition(BigInt(from)) });
    // Comparing whole lists would print each difference line by line.
    expect(read.map(({ logId }) => logId).join(), `zones ${JSON.stringify(zones)} behind ${from}, pages of ${limit}`).toBe(
      wanted.map(({ logId }) => logId).join(),
    );
    expect(read.every(({ logId, logJson }) => logJson === JSON.stringify({ logId }))).toBe(true);
  }
}

test('a feed of any zones has each event once, in order, however many half days a flush holds, and also after merges', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const events: CanonicalEvent[] = [];
  const flush = async (): Promise<void> => {
    const more = spread(events.length);
    events.push(...more);
    await store.append(canonicalBatch(more));
    await store.flushNow();
  };
  await flush();
  await expectEachOnce(store, events, 0, 10_000, ZONE_LISTS);
  await flush();
  await expectEachOnce(store, events, PER_FLUSH - 500, 5_000, [[1, 7], [1, 2, 7], 'all', { modulo: 3, remainder: 1 }]);
  await store.compactNow();
  const hot = eventSeries('hot', 500, NOW - HOUR, 1).map((one) => ({ ...one, log: { logId: one.logId } }));
  await store.append(canonicalBatch(hot));
  events.push(...hot);
  await expectEachOnce(store, events, 10, 20_000, [[1, 7], [2, 3, 4, 5], 'all', { modulo: 2, remainder: 0 }]);
});
