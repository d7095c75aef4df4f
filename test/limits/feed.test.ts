import { afterAll, beforeAll } from 'vitest';
import { MAX_ZONE_PARTS } from '../../query/plan/feed-zones.ts';
import { MAX_LOOKED_AT } from '../../query/plan/wanted-events.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type FeedReading, readPage } from '../../src/feed/feed-reading.ts';
import { DEFAULT_EVENTS, MAX_EVENTS, MAX_WAIT_SECONDS } from '../../src/feed/feed-request.ts';
import { FeedSlots, MAX_READERS, MAX_WAITING_READERS } from '../../src/feed/feed-slots.ts';
import { MIN_LINE_BYTES } from '../../src/feed/line-limit.ts';
import { PageMemory } from '../../src/feed/page-memory.ts';
import { FEED_IDLE_MS } from '../../src/routes/feed.ts';
import { FairQueue } from '../../src/scheduling/fair-queue.ts';
import { ScheduledReads } from '../../src/scheduling/scheduled-reads.ts';
import { MAX_EPOCHS } from '../../store/embedded/catalog/epoch-table.ts';
import { MEBIBYTE, memoryShares } from '../../store/memory-shares.ts';
import { alteredStore } from '../broker/altered-store.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf, refusalOf } from './limit-table.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  const lines = Array.from({ length: DEFAULT_EVENTS + 1 }, (_, index) => eventLine({ logId: `e${index}` }));
  await ingest(app, lines.join(''));
});

afterAll(() => app.stop());

const feed = (query: string) => ask(app, `/shield/event-logs/7/feed?${query}`);

/** A page that the store has at once, or one that it never has where it may take 100 ms. */
function pageWithin(ms: number): Promise<string> {
  const isSlow = ms > 100;
  const changes = isSlow ? { readFeed: () => new Promise<never>(() => undefined) } : {};
  const store = alteredStore(app.store, changes);
  const reading: FeedReading = {
    store,
    reads: new ScheduledReads(store, new FairQueue()).of('a caller'),
    zones: [7],
    where: { kind: 'everything' },
    deadlineMs: isSlow ? 100 : 60_000,
    hungUp: new AbortController().signal,
    memory: new PageMemory(1024 ** 3),
  };
  return refusalOf(async () => readPage(await store.positions.oldest(), 1, reading));
}

describeLimits('Feed', import.meta.filename, {
  '`limit`': { is: count(MAX_EVENTS), ask: async (limit) => outcomeOf(await feed(`limit=${limit}`)) },
  'events of an answer without `limit`': {
    is: count(DEFAULT_EVENTS),
    ask: async (events) => {
      const { text } = await feed('');
      const { count: sent } = JSON.parse(text.trim().split('\n').at(-1) ?? '');
      return sent >= events ? 'ok' : `taken as ${sent}`;
    },
  },
  '`wait`': {
    is: milliseconds(MAX_WAIT_SECONDS * 1_000),
    past: (MAX_WAIT_SECONDS + 1) * 1_000,
    ask: async (ms) => outcomeOf(await feed(`limit=1&wait=${ms / 1_000}`)),
  },
  '`maxLine`, in bytes, at least': {
    is: bytes(MIN_LINE_BYTES),
    past: MIN_LINE_BYTES - 1,
    ask: async (size) => outcomeOf(await feed(`limit=1&maxLine=${size}`)),
  },
  'parts of the zones, `N` of `part`': {
    is: count(MAX_ZONE_PARTS),
    ask: async (parts) => outcomeOf(await feed(`limit=1&part=1/${parts}`)),
  },
  'events that are looked at for an answer with `search`': {
    is: count(MAX_LOOKED_AT),
    elsewhere: 'an answer ends once so many events were looked at, with a cursor behind them, from which the next one goes on',
  },
  'time of a page in the store': {
    is: milliseconds(loadConfig({}).queryDeadlineMs),
    within: 0,
    past: 101,
    ask: pageWithin,
  },
  'requests that are answered at a time': {
    is: count(MAX_READERS),
    ask: (readers) =>
      refusalOf(() => {
        const slots = new FeedSlots();
        for (let reader = 0; reader < readers; reader += 1) slots.take();
      }),
  },
  'requests that wait for events at a time': {
    is: count(MAX_WAITING_READERS),
    ask: (waiting) =>
      refusalOf(() => {
        const slots = new FeedSlots();
        for (let waiter = 0; waiter < waiting; waiter += 1) slots.take().wait();
      }),
  },
  'time in which a reader takes nothing of what is ready': {
    is: milliseconds(FEED_IDLE_MS),
    elsewhere: 'a client that keeps its answer and reads nothing of it loses its slot',
  },
  'starts that the program remembers': {
    is: count(MAX_EPOCHS),
    elsewhere: 'the last epochs are kept',
  },
  'bytes of the pages that wait for their readers': {
    is: bytes(memoryShares(loadConfig({}).memoryLimitMb).feedPagesShareMb * MEBIBYTE),
    elsewhere: 'two hundred feeds that nobody reads take little memory, and keep nobody from reading another',
  },
});
