import { expect, test } from 'vitest';
import { readPage } from '../../../src/feed/feed-reading.ts';
import { PageMemory } from '../../../src/feed/page-memory.ts';
import { type EventStore, type FeedPosition, StoreError } from '../../../store/event-store.ts';

const POSITION = 'a position' as unknown as FeedPosition;

test('a page whose expiry cannot be looked up gives its memory back, and the error is a problem of the store', async () => {
  const bytes = Buffer.from('{}');
  const store = {
    readFeed: async () => ({ lines: [{ sequence: 1n, ingestedAtMs: 1, bytes, start: 0, end: 2 }], end: POSITION, more: false }),
    positions: { afterExpiry: () => Promise.reject(new StoreError('overloaded', 'the database elsewhere is busy')) },
  } as unknown as EventStore;
  const memory = new PageMemory(100);
  const reading = { store, zones: 'all', deadlineMs: 60_000, hungUp: new AbortController().signal, memory } as const;

  await expect(readPage(POSITION, 1, reading)).rejects.toMatchObject({ errorKey: 'store.busy' });

  const next = memory.hold(
    100,
    async () => 'page',
    () => 100,
    AbortSignal.timeout(20_000),
  );
  expect((await next).value).toBe('page');
});
