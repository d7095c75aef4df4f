import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../ingest/batch-builder.ts';
import { demoEvent } from '../../ingest/demo-event.ts';
import { DEMO_TOPIC, startDemoFeed } from '../../ingest/demo-feed.ts';
import { seededRandom } from '../../ingest/demo-random.ts';
import { campaignAt, DemoDensity } from '../../ingest/demo-schedule.ts';
import type { GroupsOutput } from '../../query/search-plan.ts';
import type { EventGroup } from '../../query/search-result.ts';
import type { EventStore } from '../../store/event-store.ts';
import { silentLogger } from '../../store/store-logger.ts';
import { alteredStore } from '../broker/altered-store.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { HOUR, NOW } from './raw-events.ts';

const EVENTS = 6000;
const RETENTION_MS = 72 * HOUR;

const feedInto = (store: EventStore, now: () => number, more = {}) =>
  startDemoFeed({ store, now, retentionMs: RETENTION_MS, logger: silentLogger, backfillEvents: EVENTS, ...more });

async function groups(store: EventStore, zoneId: number, by: GroupsOutput['by']): Promise<readonly EventGroup[]> {
  const window = { fromMs: NOW - RETENTION_MS, toMs: NOW + HOUR };
  const plan = {
    zoneId,
    window,
    where: { kind: 'everything' },
    page: { index: 0, size: 500 },
    output: { kind: 'groups', by, buckets: 0 },
  } as const;
  const result = await store.search(plan);
  return result.kind === 'groups' ? result.groups : [];
}

test('the past 72 hours are filled, and a second start does not fill them again', async () => {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir, { now: () => NOW });
  const feed = feedInto(store, () => NOW);
  await feed.filled;
  await feed.stop();
  expect(store.stats()).toMatchObject({ events: EVENTS, deadLetters: 0, expiredEvents: 0, duplicateEvents: 0 });
  await store.close();

  const reopened = await storeIn(dataDir, { now: () => NOW });
  const again = feedInto(reopened, () => NOW);
  await again.filled;
  await again.stop();
  expect(reopened.stats()).toMatchObject({ events: EVENTS, duplicateEvents: 0 });
});

test('a feed that was stopped goes on where it was, and live events follow as the clock goes on', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW + 2 * HOUR });
  const first = feedInto(store, () => NOW - HOUR);
  await first.filled;
  await first.stop();
  const before = store.stats().events;
  let now = NOW;
  const second = feedInto(store, () => now, { liveEventsPerSecond: 50 });
  await second.filled;
  const filled = store.stats().events;
  expect(filled - before).toBeGreaterThan(EVENTS / 72 / 4);
  expect(filled - before).toBeLessThan((EVENTS / 72) * 4);
  now += 3000;
  await expect.poll(() => store.stats().events).toBeGreaterThan(filled + 50);
  await second.stop();
  expect(store.position(DEMO_TOPIC, 0)).toBe(BigInt(NOW / 1000 + 3));
  expect(store.stats().duplicateEvents).toBe(0);
});

test("the feed's place is none that a topic of Kafka can have", async () => {
  expect(DEMO_TOPIC).not.toMatch(/^[A-Za-z0-9._-]+$/);
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder({ now: () => NOW, retentionMs: RETENTION_MS });
  // Further than any second: taken for its own, the feed would make nothing.
  builder.moveTo('demo', 0, BigInt(NOW));
  await store.append(builder.take());
  const feed = feedInto(store, () => NOW);
  await feed.filled;
  await feed.stop();
  expect(store.stats().events).toBe(EVENTS);
  expect(store.position('demo', 0)).toBe(BigInt(NOW));
});

test('a feed that is stopped while it fills ends at once and keeps what it has', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const feed = feedInto(store, () => NOW, { backfillEvents: 200_000 });
  await feed.stop();
  expect(store.stats().events).toBeLessThan(100_000);
});

describe('in the search one sees', () => {
  test('a scanner, a stuffing wave and a bot net', async () => {
    const store = await storeIn(temporaryFolder(), { now: () => NOW });
    const feed = feedInto(store, () => NOW);
    await feed.filled;
    await feed.stop();

    const [scanner] = await groups(store, 7, ['ua']);
    expect(scanner?.key.ua).toMatch(/Nuclei/);
    expect(scanner?.context).toMatchObject({ asn: '64510', country: 'NL', features: 'waf' });

    const wave = (await groups(store, 1, ['url', 'feature'])).find(
      ({ key }) => key.feature === 'rate-limit' && key.url?.endsWith('/login'),
    );
    expect(wave?.count).toBeGreaterThan(EVENTS / 20);
    expect(wave?.context.challenged).toBeGreaterThan(wave?.context.blocked ?? 0);

    const net = (await groups(store, 2, ['asn', 'feature'])).find(({ key }) => key.asn === '64530');
    const members = (await groups(store, 2, ['ip', 'asn'])).filter(({ key }) => key.asn === '64530');
    expect(net?.key.feature).toBe('bot-detection');
    expect(members.length).toBeGreaterThan((net?.count ?? 0) / 2);
  });
});

test('the same seed makes the same event, another one another', () => {
  const made = (seed: number) => demoEvent('x', NOW, null, seededRandom(seed, 5));
  expect(made(1)).toBe(made(1));
  expect(made(1)).not.toBe(made(2));
});

test('a span holds exactly the events asked for, and each campaign runs in 72 hours', () => {
  for (const [start, length] of [
    [Math.floor(NOW / 1000), 72 * 3600],
    [Math.floor(NOW / 1000) + 12_345, 72 * 3600 - 2],
    [0, 7],
  ] as const) {
    const density = new DemoDensity(10_007, start, start + length);
    const seconds = Array.from({ length }, (_, place) => start + place);
    expect(seconds.reduce((sum, second) => sum + density.eventsAt(second), 0)).toBe(10_007);
    if (length > 7) expect(new Set(seconds.map(campaignAt))).toEqual(new Set(['scan', 'stuffing', 'bot net', null]));
  }
});

test.each([0, 1, 250, 999])(
  'the past is exactly as many events as asked for at %i ms past a second, while the clock goes on',
  async (ms) => {
    const store = await storeIn(temporaryFolder(), { now: () => NOW });
    let asked = 0;
    // Most of a second passes between the start and the first event.
    const now = () => NOW + ms + (asked++ === 0 ? 0 : 900);
    // Several a second, also in the first one.
    const feed = feedInto(store, now, { retentionMs: HOUR, backfillEvents: 72 * 15_000, liveEventsPerSecond: 0 });
    await feed.filled;
    await feed.stop();
    expect(store.stats()).toMatchObject({ events: 15_000, expiredEvents: 0, deadLetters: 0 });
  },
);

test('live events use the memory of those before them again', async () => {
  let now = NOW;
  const store = await storeIn(temporaryFolder(), { now: () => now });
  const memory: ArrayBufferLike[] = [];
  const watched = alteredStore(store, {
    append: (batch) => {
      memory.push(...[...batch.fields.values.flat(), ...batch.fields.masks, ...batch.logs].map(({ buffer }) => buffer));
      return store.append(batch);
    },
  });
  const feed = feedInto(watched, () => now, { backfillEvents: 0, liveEventsPerSecond: 6000 });
  await feed.filled;
  const before = memory.length;
  for (let second = 1; second <= 2; second++) {
    now = NOW + second * 1000;
    await expect.poll(() => store.position(DEMO_TOPIC, 0)).toBe(BigInt(now / 1000));
  }
  await feed.stop();
  const live = memory.slice(before);
  expect(new Set(live).size).toBeLessThan(live.length);
});
