import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileMatcher, matchSubject } from '../../query/match/match-event.ts';
import { type FeedZones, zonesAmong } from '../../query/plan/feed-zones.ts';
import { wholeValues } from '../../query/plan/wanted-events.ts';
import { compileConditions } from '../../query/request/compile-search.ts';
import type { FeedPosition, FeedRequest } from '../../store/event-store.ts';
import { storeRuns, TEST_STORE, type TestStore } from '../fixtures/test-store.ts';
import { oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { matches } from '../oracle/search-oracle.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { type FedEvent, fedEvent, wholeFeed } from '../store/embedded/feed/whole-feed.ts';
import { arbitraryEvent, ZONES } from './arbitrary-event.ts';
import { arbitraryMatch } from './arbitrary-request.ts';
import { appendEvents, NOW_MS, openStoreIn, RETENTION_MS, withFolder } from './filled-store.ts';

const anyZones: fc.Arbitrary<FeedZones> = fc.oneof(
  { arbitrary: fc.constant('all' as const), weight: 3 },
  fc.uniqueArray(fc.constantFrom(...ZONES, 5), { minLength: 1, maxLength: 3 }),
  fc.constantFrom({ modulo: 2, remainder: 0 }, { modulo: 2, remainder: 1 }),
);

/** Events of any time, of which a batch may have others again, with other fields, and what becomes of them before the next batch comes. */
const anyLife = fc.array(
  fc.record({
    events: fc.array(arbitraryEvent(NOW_MS), { minLength: 1, maxLength: 25 }),
    again: fc.array(fc.nat(99), { maxLength: 5 }),
    step: fc.constantFrom('none', 'flush', 'merge'),
    /** How many pages each reader reads then. */
    pages: fc.nat(3),
  }),
  { minLength: 1, maxLength: 4 },
);

const drawn = anyLife.chain((life) => {
  const events = oracleEvents(life.flatMap((batch) => batch.events));
  return fc.record({
    life: fc.constant(life),
    wanted: fc.array(
      fc.record({ match: arbitraryMatch(events), zones: anyZones, limit: fc.integer({ min: 1, max: 9 }), logs: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    end: fc.constantFrom('none', 'expire', 'damage'),
  });
});

type Drawn = typeof drawn extends fc.Arbitrary<infer One> ? One : never;
type Wanted = Drawn['wanted'][number];

/** Reads the feed for a condition, and holds each page to what it says of itself. */
class ConditionReader {
  readonly wanted: Wanted;
  readonly read: FedEvent[] = [];
  /** The end of each page, and the time up to which it said to be complete. */
  readonly ends: { readonly end: FeedPosition; readonly completeToMs: number }[] = [];
  readonly #asked: Pick<FeedRequest, 'zones' | 'where' | 'logs'>;
  #position: FeedPosition;

  constructor(wanted: Wanted, from: FeedPosition) {
    const where = compileConditions(Buffer.from(JSON.stringify(wanted.match)));
    this.wanted = wanted;
    this.#asked = { zones: wanted.zones, where, logs: wanted.logs };
    this.#position = from;
  }

  /** Resolves with whether there is more. */
  async readPage(store: TestStore): Promise<boolean> {
    const { positions } = store;
    const { limit, logs } = this.wanted;
    const newest = await positions.newest();
    const page = await store.readFeed({ ...this.#asked, after: this.#position, limit });
    const events = page.lines.map((line) => (logs ? fedEvent(line) : eventWithoutLog(line)));
    expect(events.length).toBeLessThanOrEqual(limit);
    expect(page.lookedAt).toBeGreaterThanOrEqual(0);
    expect(positions.compare(page.end, events.at(-1) ?? this.#position)).toBeGreaterThanOrEqual(0);
    // Where there is nothing more, what is not wanted is behind the reader, too.
    if (!page.more) expect(positions.compare(page.end, newest)).toBeGreaterThanOrEqual(0);
    this.read.push(...events);
    this.ends.push(page);
    this.#position = (await positions.decode(positions.encode(page.end))) as FeedPosition;
    return page.more;
  }

  async readToEnd(store: TestStore): Promise<void> {
    while (await this.readPage(store));
  }

  /** The events that are wanted of a feed, by the slow implementation of conditions. */
  of(feed: readonly FedEvent[]): readonly FedEvent[] {
    const zones = new Set(zonesAmong(this.wanted.zones, ZONES));
    return feed.filter((event) => zones.has(event.zoneId) && matches({ ...event, log: {} }, this.wanted.match));
  }

  /** Every event of the feed that is wanted was read, once and in its order, and no page had said that it was complete when it was not. */
  expectAllOf(feed: readonly FedEvent[], { positions }: TestStore): void {
    const wanted = this.of(feed);
    expect(this.read.map(shown)).toEqual(wanted.map(shown));
    if (this.wanted.logs) expect(this.read).toEqual(wanted);
    for (const { end, completeToMs } of this.ends) {
      const late = wanted.filter((event) => positions.compare(end, event) < 0 && event.ingestedAtMs < completeToMs);
      expect(late.map(shown)).toEqual([]);
    }
  }
}

const shown = ({ sequence, zoneId, timestamp, logId, fields }: FedEvent) =>
  JSON.stringify([String(sequence), zoneId, timestamp, logId, fields]);

/** A line without its log, which is read as if it had an empty one. */
function eventWithoutLog({ bytes, start, end, ...line }: Parameters<typeof fedEvent>[0]): FedEvent {
  const json = bytes.toString('utf8', start, end);
  expect(Object.keys(JSON.parse(json))).not.toContain('log');
  const withLog = Buffer.from(`${json.slice(0, -1)},"log":{}}`);
  return fedEvent({ ...line, bytes: withLog, start: 0, end: withLog.length });
}

/** The conditions that a tail gives to the store leave out nothing that its matcher finds. */
function expectWholeValues(wanted: Wanted, feed: readonly FedEvent[]): void {
  const where = compileConditions(Buffer.from(JSON.stringify(wanted.match)));
  const [whole, part] = [compileMatcher(where), compileMatcher(wholeValues(where))];
  for (const { fields } of feed) {
    if (whole.matches(matchSubject(fields))) expect(part.matches(matchSubject(fields))).toBe(true);
  }
}

/** The position of a time is before all that came in then or later, and behind all that came in before. */
async function expectPositionsOfTimes(store: TestStore, feed: readonly FedEvent[]): Promise<void> {
  for (const { ingestedAtMs } of [...feed.slice(0, 3), ...feed.slice(-3)]) {
    for (const timeMs of [ingestedAtMs, ingestedAtMs + 1]) {
      const behind = await wholeFeed(store, { after: await store.positions.at(timeMs), limit: 100 });
      expect(behind.map(shown)).toEqual(feed.filter((event) => event.ingestedAtMs >= timeMs).map(shown));
    }
  }
}

/** Stores the batches of a life while the readers read. */
async function live(life: Drawn['life'], store: TestStore, readers: readonly ConditionReader[], tick: () => void): Promise<void> {
  const sent: RawEvent[] = [];
  for (const { events, again, step, pages } of life) {
    tick();
    const earlier = sent.length === 0 ? [] : again.map((nth) => sent[nth % sent.length] as RawEvent);
    await appendEvents(store, [...events, ...earlier.map((event) => ({ ...events[0], ...identityOf(event) }))]);
    sent.push(...events);
    if (step !== 'none') await store.settle(step);
    for (const reader of readers) {
      for (let page = 0; page < pages; page += 1) await reader.readPage(store);
    }
  }
}

async function checkConditions({ life, wanted, end }: Drawn, folder: string): Promise<void> {
  let clockMs = NOW_MS;
  const open = () => openStoreIn(folder, { now: () => clockMs });
  let store = await open();
  const readersFrom = (oldest: FeedPosition) => wanted.map((one) => new ConditionReader(one, oldest));
  const checkReaders = async (readers: readonly ConditionReader[]) => {
    const feed = await wholeFeed(store, { limit: 100 });
    for (const reader of readers) {
      expectWholeValues(reader.wanted, feed);
      await reader.readToEnd(store);
      reader.expectAllOf(feed, store);
    }
  };
  try {
    const readers = readersFrom(await store.positions.oldest());
    await live(life, store, readers, () => {
      clockMs += 1_000;
    });
    await expectPositionsOfTimes(store, await wholeFeed(store, { limit: 100 }));
    await checkReaders(readers);
    if (end === 'expire') {
      clockMs = NOW_MS + RETENTION_MS / 2;
      await store.settle();
      await store.expire();
    }
    if (end === 'damage' && TEST_STORE === 'embedded') {
      await store.settle('flush');
      await store.close();
      damageOne(join(folder, 'segments'), life.length);
      store = await open();
    }
    await checkReaders(readersFrom(await store.positions.oldest()));
  } finally {
    await store.close();
  }
}

/** Writes over the nth segment of a folder, whose events are then left out. */
function damageOne(folder: string, nth: number): void {
  const segments = readdirSync(folder).filter((name) => !name.includes('-log'));
  writeFileSync(join(folder, segments[nth % segments.length] as string), 'damaged');
}

/** What tells an event from others: one with the same is its copy, whatever else it has. */
function identityOf({ shieldZoneId, timestamp, logId }: RawEvent): Partial<RawEvent> {
  return { shieldZoneId, timestamp, logId };
}

test('the feed for a condition is what the condition finds of the feed, wherever its events are and whatever is left of them', async () => {
  const property = fc.asyncProperty(drawn, (life) => withFolder((folder) => checkConditions(life, folder)));
  await assertAsyncProperty(property, { numRuns: propertyRuns(storeRuns(24)) });
});
