import { describe, expect, test } from 'vitest';
import { DEMO_SITES } from '../../../ingest/demo/demo-cast.ts';
import { demoEvent } from '../../../ingest/demo/demo-event.ts';
import { DEMO_TOPIC, startDemoFeed } from '../../../ingest/demo/demo-feed.ts';
import { attackAt, DEMO_ATTACKS, DemoDensity } from '../../../ingest/demo/demo-schedule.ts';
import { seededRandom } from '../../../ingest/demo/seeded-random.ts';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import type { GroupsOutput } from '../../../query/plan/search-plan.ts';
import type { EventGroup } from '../../../query/plan/search-result.ts';
import { type EventStore, silentLogger } from '../../../store/event-store.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { HOUR, NOW } from '../event/raw-events.ts';

const EVENTS_PER_DAY = 2000;
const RETENTION_MS = 72 * HOUR;
/** Three days without the second that runs and the one that would expire first. */
const EVENTS = eventsBetween(NOW - RETENTION_MS + 1000, NOW);

function eventsBetween(fromMs: number, toMs: number, eventsPerDay = EVENTS_PER_DAY): number {
  const density = new DemoDensity(eventsPerDay);
  let events = 0;
  for (let second = fromMs / 1000; second < toMs / 1000; second++) events += density.eventsAt(second);
  return events;
}

const feedInto = (store: EventStore, now: () => number, more = {}) =>
  startDemoFeed({ store, now, retentionMs: RETENTION_MS, logger: silentLogger, eventsPerDay: EVENTS_PER_DAY, ...more });

async function groups(store: EventStore, zoneId: number, by: GroupsOutput['by']): Promise<readonly EventGroup[]> {
  const window = { fromMs: NOW - RETENTION_MS, toMs: NOW + HOUR };
  const plan = {
    zones: [zoneId],
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
  expect(await store.stats()).toMatchObject({ events: EVENTS, deadLetters: 0, expiredEvents: 0, duplicateEvents: 0 });
  await store.close();

  const reopened = await storeIn(dataDir, { now: () => NOW });
  const again = feedInto(reopened, () => NOW);
  await again.filled;
  await again.stop();
  expect(await reopened.stats()).toMatchObject({ events: EVENTS, duplicateEvents: 0 });
});

test('a feed that was stopped goes on where it was, and live events follow as the clock goes on', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW + 2 * HOUR });
  const first = feedInto(store, () => NOW - HOUR);
  await first.filled;
  await first.stop();
  const before = (await store.stats()).events;
  let now = NOW;
  const second = feedInto(store, () => now);
  await second.filled;
  expect((await store.stats()).events - before).toBe(eventsBetween(NOW - HOUR, NOW));
  now += HOUR;
  const live = eventsBetween(NOW, NOW + HOUR);
  await expect.poll(async () => (await store.stats()).events - before).toBe(eventsBetween(NOW - HOUR, NOW) + live);
  await second.stop();
  expect(live).toBeGreaterThan(EVENTS / 72 / 4);
  expect((await store.stats()).duplicateEvents).toBe(0);
});

/** Every event of the window, by zone: its name, and what the search shows of it. */
async function eventsIn(store: EventStore, fromMs: number, toMs: number): Promise<ReadonlyMap<number, readonly string[]>> {
  const found = new Map<number, readonly string[]>();
  for (const { zoneId } of DEMO_SITES) {
    const plan = {
      zones: [zoneId],
      window: { fromMs, toMs },
      where: { kind: 'everything' },
      page: { index: 0, size: 1 },
      output: { kind: 'rows' },
    } as const;
    const rows: string[] = [];
    for await (const some of store.readAll(plan))
      rows.push(...[...some].map((row) => JSON.stringify([row.timestamp, row.logId, row.fields])));
    found.set(zoneId, rows);
  }
  return found;
}

test('a time has the same events whether the feed filled it afterwards or was live then', async () => {
  let now = NOW;
  const live = await storeIn(temporaryFolder(), { now: () => NOW + 24 * HOUR });
  const feed = feedInto(live, () => now, { eventsPerDay: 20_000 });
  await feed.filled;
  const before = (await live.stats()).events;
  const expected = eventsBetween(NOW, NOW + 24 * HOUR, 20_000);
  for (const hours of [1, 7, 24]) {
    now = NOW + hours * HOUR;
    await expect.poll(async () => (await live.stats()).events - before).toBe(eventsBetween(NOW, now, 20_000));
  }
  await feed.stop();
  const past = await storeIn(temporaryFolder(), { now: () => NOW + 24 * HOUR });
  const filling = feedInto(past, () => NOW + 24 * HOUR, { eventsPerDay: 20_000 });
  await filling.filled;
  await filling.stop();

  const [lived, filled] = await Promise.all([live, past].map((store) => eventsIn(store, NOW, NOW + 24 * HOUR)));
  expect(lived).toEqual(filled);
  // And the day that was live is like the day before it, in every zone.
  const dayBefore = await eventsIn(live, NOW - 24 * HOUR, NOW);
  for (const { zoneId } of DEMO_SITES) {
    const [here, there] = [lived?.get(zoneId)?.length ?? 0, dayBefore.get(zoneId)?.length ?? 0];
    expect([zoneId, Math.abs(here - there) < 4 * Math.sqrt(here + there)]).toEqual([zoneId, true]);
    expect(here).toBeGreaterThan(expected / 100);
  }
});

test("the feed's topic is none that Kafka can have", async () => {
  expect(DEMO_TOPIC).not.toMatch(/^[A-Za-z0-9._-]+$/);
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder({ now: () => NOW, retentionMs: RETENTION_MS });
  // Further than any second: taken for its own, the feed would make nothing.
  builder.moveTo('demo', 0, BigInt(NOW));
  await store.append(builder.take());
  const feed = feedInto(store, () => NOW);
  await feed.filled;
  await feed.stop();
  expect((await store.stats()).events).toBe(EVENTS);
  expect(await store.sourceOffset('demo', 0)).toBe(BigInt(NOW));
});

test('a feed that is stopped while it fills ends at once and keeps what it has', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const feed = feedInto(store, () => NOW, { eventsPerDay: 70_000 });
  await feed.stop();
  expect((await store.stats()).events).toBeLessThan(100_000);
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

test('every day has exactly the events asked for, in a shape that is the same each day, and each attack runs in eight hours', () => {
  for (const eventsPerDay of [2000, 10_007, 100_000]) {
    for (const start of [0, NOW, NOW + 12_345_000]) expect(eventsBetween(start, start + 24 * HOUR, eventsPerDay)).toBe(eventsPerDay);
  }
  const density = new DemoDensity(100_000);
  const day = Math.floor(NOW / 86_400_000) * 86_400;
  for (let second = day; second < day + 86_400; second += 7) expect(density.eventsAt(second)).toBe(density.eventsAt(second + 86_400));
  const seconds = Array.from({ length: 8 * 3600 }, (_, index) => NOW / 1000 + 12_345 + index);
  expect(new Set(seconds.map(attackAt))).toEqual(new Set([...DEMO_ATTACKS, null]));
});

test.each([0, 1, 250, 999])('no event of the past expires or is left out at %i ms past a second, while the clock goes on', async (ms) => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  let asked = 0;
  // Most of a second passes between the start and the first event.
  const now = () => NOW + ms + (asked++ === 0 ? 0 : 900);
  // Several a second, also in the first one.
  const feed = feedInto(store, now, { retentionMs: HOUR, eventsPerDay: 24 * 15_000 });
  await feed.filled;
  await feed.stop();
  const first = NOW - HOUR + (ms === 0 ? 1000 : 2000);
  const filled = eventsBetween(first, NOW, 24 * 15_000);
  // A second that the clock has reached meanwhile may have been live already.
  const { events } = await store.stats();
  expect([filled, filled + eventsBetween(NOW, NOW + 1000, 24 * 15_000)]).toContain(events);
  expect(await store.stats()).toMatchObject({ expiredEvents: 0, deadLetters: 0 });
});

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
  // The retention leaves no past to fill.
  const feed = feedInto(watched, () => now, { retentionMs: 1000, eventsPerDay: 86_400 * 1000 });
  await feed.filled;
  const before = memory.length;
  for (let second = 1; second <= 2; second++) {
    now = NOW + second * 1000;
    await expect.poll(() => store.sourceOffset(DEMO_TOPIC, 0)).toBe(BigInt(now / 1000));
  }
  await feed.stop();
  const live = memory.slice(before);
  expect(new Set(live).size).toBeLessThan(live.length);
});

test('live events that came to lie far behind the clock are stored in several batches', async () => {
  let now = NOW;
  const store = await storeIn(temporaryFolder(), { now: () => NOW + 24 * HOUR });
  const sizes: number[] = [];
  const watched = alteredStore(store, {
    append: (batch) => {
      sizes.push(batch.eventCount);
      return store.append(batch);
    },
  });
  const builder = new BatchBuilder({ now: () => NOW, retentionMs: RETENTION_MS });
  // It has been fed up to now.
  builder.moveTo(DEMO_TOPIC, 0, BigInt(NOW / 1000));
  await store.append(builder.take());
  const feed = feedInto(watched, () => now, { eventsPerDay: 24_000 });
  await feed.filled;
  now += 24 * HOUR;
  await expect.poll(async () => (await store.stats()).events).toBe(24_000);
  await feed.stop();
  expect(Math.max(...sizes)).toBeLessThan(6000);
});
