import { expect, test } from 'vitest';
import type { EventStore, FeedEvent } from '../../store/event-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { event, eventSeries, HOUR, NOW } from './stored-events.ts';

/** All events of the zones behind a sequence, page by page. */
async function wholeFeed(store: EventStore, zones: readonly number[] | 'all' = 'all', limit = 7): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  let afterSequence = 0n;
  for (;;) {
    const page = await store.readFeed({ zones, afterSequence, limit });
    events.push(...page.events);
    afterSequence = page.lastSequence;
    if (!page.more) return events;
  }
}

test('events come in the order in which they were taken in, hot or sealed', async () => {
  const store = await storeIn(temporaryFolder());
  await store.append(canonicalBatch(eventSeries('a', 10, NOW - HOUR, 1)));
  await store.sealNow();
  await store.append(canonicalBatch([...eventSeries('late', 5, NOW - 20 * HOUR, 1), event('a3', NOW - HOUR + 3)]));
  await store.append(canonicalBatch([event('z', NOW, { shieldZoneId: 9, log: { a: 1 }, url: 'https://x/?y=1' })]));
  const events = await wholeFeed(store);
  expect(events.map(({ logId }) => logId)).toEqual([
    ...Array.from({ length: 10 }, (_, index) => `a${index}`),
    ...Array.from({ length: 5 }, (_, index) => `late${index}`),
    'z',
  ]);
  expect(events.at(-1)).toMatchObject({ sequence: 17n, zoneId: 9, timestamp: NOW, fields: { url: 'https://x/?y=1' }, logJson: '{"a":1}' });
  expect((await wholeFeed(store, [9])).map(({ logId }) => logId)).toEqual(['z']);
  expect(await wholeFeed(store, [10])).toEqual([]);
  expect(store.lastSequence()).toBe(17n);
});
