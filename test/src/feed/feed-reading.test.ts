import { expect, test } from 'vitest';
import { readPage } from '../../../src/feed/feed-reading.ts';
import { PageMemory } from '../../../src/feed/page-memory.ts';
import type { EventStore, FeedPosition } from '../../../store/event-store.ts';
import { StoreError } from '../../../store/store-error.ts';

const POSITION = 'a position' as unknown as FeedPosition;

const BUSY = () => Promise.reject(new StoreError('overloaded', 'the database elsewhere is busy'));
const PAGE = { lines: [{ sequence: 1n, ingestedAtMs: 1, bytes: Buffer.from('{}'), start: 0, end: 2 }], end: POSITION, more: false };

test.each([
  ['whose expiry cannot be looked up', { readFeed: async () => PAGE, positions: { afterExpiry: BUSY } }],
  ['that cannot be read', { readFeed: BUSY, positions: { afterExpiry: async () => undefined } }],
])('a page %s gives its memory back, and the error is a problem of the store', async (_, parts) => {
  const store = parts as unknown as EventStore;
  const memory = new PageMemory(100);
  const reading = {
    store,
    reads: store,
    zones: 'all',
    where: { kind: 'everything' },
    deadlineMs: 60_000,
    hungUp: new AbortController().signal,
    memory,
  } as const;

  await expect(readPage(POSITION, 1, reading)).rejects.toMatchObject({ errorKey: 'store.busy' });

  expect((await memory.reserve(100, AbortSignal.timeout(20_000))).value).toBeUndefined();
});
