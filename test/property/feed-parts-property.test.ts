import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FeedZones, type ZonePart, zonePartIn, zonesOfPart } from '../../query/plan/feed-zones.ts';
import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import { LARGEST_ZONE_ID, SMALLEST_ZONE_ID } from '../../query/zone-id.ts';
import type { FeedPosition } from '../../store/event-store.ts';
import { storeRuns, type TestStore } from '../fixtures/test-store.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { type FedEvent, fedEvent } from '../store/embedded/feed/whole-feed.ts';
import { appendEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';

const anyZone = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constantFrom(SMALLEST_ZONE_ID, LARGEST_ZONE_ID, 1_000, -1_001));

/** Batches of events of random zones, and what becomes of them before the next one comes. */
const anyLife = fc.array(
  fc.record({
    zones: fc.array(anyZone, { minLength: 1, maxLength: 6 }),
    step: fc.constantFrom('none', 'flush', 'merge'),
    /** How many pages each part reads then. */
    pages: fc.nat(2),
  }),
  { minLength: 1, maxLength: 3 },
);

const anyParts = fc.oneof({ arbitrary: fc.integer({ min: 1, max: 4 }), weight: 4 }, fc.constant(1_000));
const anySelection: fc.Arbitrary<ZoneSelection> = fc.oneof(
  { arbitrary: fc.constant('all' as const), weight: 3 },
  fc.uniqueArray(anyZone, { minLength: 1, maxLength: 6 }),
);

/** Reads the feed of some zones, and holds each page to what it says of itself. */
class PartReader {
  readonly read: FedEvent[] = [];
  position: FeedPosition;
  readonly #store: TestStore;
  readonly #zones: FeedZones;
  readonly #limit: number;

  constructor(store: TestStore, zones: FeedZones, limit: number, from: FeedPosition) {
    this.#store = store;
    this.#zones = zones;
    this.#limit = limit;
    this.position = from;
  }

  /** Resolves with whether there is more. */
  async readPage(): Promise<boolean> {
    const { positions } = this.#store;
    const page = await this.#store.readFeed({ zones: this.#zones, after: this.position, limit: this.#limit });
    const events = page.lines.map(fedEvent);
    expect(events.length).toBeLessThanOrEqual(this.#limit);
    expect(positions.compare(page.end, events.at(-1) ?? this.position)).toBeGreaterThanOrEqual(0);
    if (events.length === 0) expect(page.more).toBe(false);
    this.read.push(...events);
    // As clients do, who have no more than the cursor.
    this.position = (await positions.decode(positions.encode(page.end))) as FeedPosition;
    return page.more;
  }

  async readToEnd(): Promise<readonly FedEvent[]> {
    while (await this.readPage());
    return this.read;
  }
}

const idsOf = (events: readonly FedEvent[]): readonly string[] => events.map(({ logId }) => logId);

type Batch = typeof anyLife extends fc.Arbitrary<(infer One)[]> ? One : never;

/** Stores the batches of a life while the readers read; resolves with the ids of the events. */
async function live(
  life: readonly Batch[],
  store: TestStore,
  readers: readonly PartReader[],
): Promise<readonly (readonly [string, number])[]> {
  const sent: [string, number][] = [];
  for (const [round, { zones, step, pages }] of life.entries()) {
    const events = zones.map((shieldZoneId, index) => ({ logId: `e${round}-${index}`, shieldZoneId, timestamp: NOW_MS - index, log: {} }));
    await appendEvents(store, events);
    sent.push(...events.map(({ logId, shieldZoneId }) => [logId, shieldZoneId] as [string, number]));
    if (step !== 'none') await store.settle(step);
    for (const reader of readers) {
      for (let page = 0; page < pages; page += 1) await reader.readPage();
    }
  }
  return sent;
}

/** The number of a zone's part, from 0, in integers that have no end. */
const partOfZone = (zone: number, parts: number): number => Number(((BigInt(zone) % BigInt(parts)) + BigInt(parts)) % BigInt(parts));

interface Drawn {
  readonly life: readonly Batch[];
  readonly parts: number;
  readonly selection: ZoneSelection;
  readonly limit: number;
}

async function checkParts(store: TestStore, { life, parts, selection, limit }: Drawn): Promise<void> {
  const { positions } = store;
  const ofPart = (index: number) => zonesOfPart(selection, zonePartIn(`${index + 1}/${parts}`) as ZonePart);
  // Of a thousand parts those are read that have the zones of the draws, and one that has none.
  const known = life.flatMap(({ zones }) => zones).map((zone) => partOfZone(zone, parts));
  const tried = parts < 1_000 ? Array.from({ length: parts }, (_, index) => index) : [...new Set([...known, 500])];
  const oldest = await positions.oldest();
  const readers = tried.map((index) => new PartReader(store, ofPart(index), limit, oldest));
  const sent = await live(life, store, readers);
  const underWay = readers.map(({ position }) => position);
  const whole = await new PartReader(store, selection, limit, oldest).readToEnd();
  const wanted = sent.filter(([, zone]) => selection === 'all' || selection.includes(zone));
  expect(idsOf(whole).toSorted()).toEqual(wanted.map(([id]) => id).toSorted());
  for (const [nth, reader] of readers.entries()) {
    const expected = whole.filter(({ zoneId }) => partOfZone(zoneId, parts) === tried[nth]);
    expect(idsOf(await reader.readToEnd()), `part ${Number(tried[nth]) + 1}/${parts}`).toEqual(idsOf(expected));
    // A part without events moves its cursor, too.
    for (const last of whole.slice(-1)) expect(positions.compare(reader.position, last)).toBeGreaterThanOrEqual(0);
    const cursorOfAnother = underWay[(nth + 1) % underWay.length] as FeedPosition;
    const rest = expected.filter((event) => positions.compare(cursorOfAnother, event) < 0);
    expect(idsOf(await new PartReader(store, ofPart(tried[nth] as number), limit, cursorOfAnother).readToEnd())).toEqual(idsOf(rest));
  }
}

test('the parts of the zones are the feed together, each in its order, and a cursor of one is one of the others', async () => {
  const drawn = fc.record({ life: anyLife, parts: anyParts, selection: anySelection, limit: fc.integer({ min: 1, max: 5 }) });
  const property = fc.asyncProperty(drawn, async (values) => {
    await withFolder(async (folder) => {
      const store = await openStoreIn(folder);
      try {
        await checkParts(store, values);
      } finally {
        await store.close();
      }
    });
  });
  await assertAsyncProperty(property, { numRuns: propertyRuns(storeRuns(8)) });
});
