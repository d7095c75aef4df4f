import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exploreOracle, zonesOracle } from '../oracle/explore-oracle.ts';
import { matches, matchingEvents, searchOracle } from '../oracle/search-oracle.ts';
import { killAll } from '../src/cli/cli-process.ts';
import type { ZonesRequest } from './arbitrary-explore.ts';
import type { ZoneRequest } from './arbitrary-request.ts';
import { DAY_ZONES } from './day-of-events.ts';
import { beginExport, exportedEvents, readFeedPages, readTail, runConsumer } from './event-readers.ts';
import { expectEvents } from './expect-events.ts';
import { explore, searchZone, zonesWithEvents } from './explore-reader.ts';
import { keepFailingSeed, readFailingSeeds } from './failing-seeds.ts';
import {
  type ExportDraw,
  exploreDraws,
  exportDraws,
  type FeedDraw,
  feedDraw,
  feedDraws,
  searchDraws,
  type TailDraw,
  tailDraws,
} from './reader-draws.ts';
import { type EventSpread, STORE_STATES, StoreStates } from './store-states.ts';
import { type TravellingReader, travellingReaders } from './travelling-readers.ts';

/** With `STORE_STATES=large` there are more events, and more ways to spread them. */
const IS_LARGE = process.env['STORE_STATES'] === 'large';

/** Shrinking ends by then, and the failure is reported. */
const LIMIT_MS = (IS_LARGE ? 3 : 1) * 540_000;

const DAY_EVENTS = IS_LARGE ? 40_000 : 25_000;

const DAY: EventSpread = {
  name: `${DAY_EVENTS} events of a day in one flush`,
  zones: DAY_ZONES,
  hours: 24,
  events: DAY_EVENTS,
  later: 1_500,
};
const SPREADS: readonly EventSpread[] = [
  DAY,
  { name: 'a thousand events of three days in one flush', zones: DAY_ZONES, hours: 71, events: 1_000, later: 250 },
  ...(IS_LARGE
    ? [
        // Beyond 100,000 events the store flushes by itself.
        { ...DAY, name: '95,000 events of a day in one flush', events: 95_000, later: 20_000 },
        // Zones with so many events, and hours, have segments of another layout.
        {
          ...DAY,
          name: '60,000 events of four zones in two hours',
          zones: DAY_ZONES.slice(0, 4),
          hours: 2,
          events: 60_000,
          later: 5_000,
          mayHaveNothingToMerge: true,
        },
      ]
    : []),
];

const READERS = ['feed', 'tail', 'consumer', 'export', 'search', 'explore'] as const;

/** No reader of small pages reads more of them. */
const PAGES = 15;
const SMALL_PAGE_EVENTS = 1_000;

const pathOf = (zones: FeedDraw['zones']) => String(zones);

/** Where a draw begins, so that it is through after some pages. */
function startOf({ behind, limit }: Pick<FeedDraw, 'behind' | 'limit'>, last: number): number {
  return Math.max(Math.floor(behind * last), last - limit * PAGES);
}

async function checkFeed({ app, accepted }: StoreStates, { zones, format, limit, behind }: FeedDraw): Promise<void> {
  const after = Math.floor(behind * accepted.last);
  const cursor = after === 0 ? null : app.cursorBehind(after);
  const pages = limit < SMALL_PAGE_EVENTS ? PAGES : Number.POSITIVE_INFINITY;
  expectEvents(await readFeedPages(app, { zones: pathOf(zones), format, limit, cursor, pages }), accepted.inFeed(zones, after));
}

async function checkTail({ app, accepted }: StoreStates, { zones, behind, search }: TailDraw): Promise<void> {
  const after = Math.floor(behind * accepted.last);
  const expected = accepted.inFeed(zones, after).filter(({ event }) => matches(event, search));
  expectEvents(await readTail(app, { zones: pathOf(zones), cursor: app.cursorBehind(after), search }), expected);
}

let consumers = 0;

async function checkConsumer({ app, accepted, folder }: StoreStates, { zones, format, limit, behind }: FeedDraw): Promise<void> {
  consumers += 1;
  const after = startOf({ behind, limit }, accepted.last);
  const state = { folder: join(folder, 'consumers'), name: `fresh-${consumers}` };
  const read = await runConsumer(app, { ...state, zones: pathOf(zones), format, limit, cursor: app.cursorBehind(after) });
  expectEvents(read, accepted.inFeed(zones, after));
}

async function checkExport({ app, accepted }: StoreStates, { zones, body, type }: ExportDraw): Promise<void> {
  const path = pathOf(zones);
  const events = await exportedEvents(await beginExport(app, path, body, type), path, type);
  const expected = matchingEvents(accepted.of(zones), body, zones);
  expectEvents(
    { events, isWhole: true },
    expected.map((event) => ({ sequence: 0, event })),
  );
}

async function checkSearch({ app, accepted }: StoreStates, { zoneId, body }: ZoneRequest): Promise<void> {
  const expected: unknown = JSON.parse(JSON.stringify(searchOracle(accepted.of([zoneId]), body, zoneId)));
  expect(await searchZone(app, zoneId, body)).toEqual(expected);
}

async function checkExplore({ app, accepted }: StoreStates, { zones, body }: ZonesRequest): Promise<void> {
  const expected: unknown = JSON.parse(JSON.stringify(exploreOracle(accepted.of(zones), body, zones)));
  expect(await explore(app, zones, body)).toEqual(expected);
  expect(await zonesWithEvents(app, body)).toEqual(zonesOracle(accepted.of('all'), body, 'all'));
}

/** Every reader, by name: what it asks at random, how often, and how an answer is held against the list of accepted events. */
function readersOf(states: StoreStates) {
  const sample = states.accepted.sample(400);
  const each =
    <Draw>(check: (states: StoreStates, draw: Draw) => Promise<void>) =>
    async (draws: readonly Draw[]) => {
      for (const draw of draws) {
        await check(states, draw).catch((error: Error) => {
          throw new Error(`${JSON.stringify(draw)}: ${error.message}`, { cause: error });
        });
      }
    };
  return [
    // Each run of feed, tail, export and search has a request of every kind.
    { name: 'feed', runs: 1, property: fc.asyncProperty(feedDraws, each(checkFeed)) },
    { name: 'tail', runs: 1, property: fc.asyncProperty(tailDraws(sample), each(checkTail)) },
    { name: 'consumer', runs: 1, property: fc.asyncProperty(feedDraw, (draw) => checkConsumer(states, draw)) },
    { name: 'explore', runs: 2, property: fc.asyncProperty(exploreDraws(sample), (draw) => checkExplore(states, draw)) },
    { name: 'export', runs: 1, property: fc.asyncProperty(exportDraws(sample), each(checkExport)) },
    { name: 'search', runs: 3, property: fc.asyncProperty(searchDraws(sample), each(checkSearch)) },
  ] as const;
}

type Reader = ReturnType<typeof readersOf>[number];

const keyOf = (spread: EventSpread, state: string, reader: string) => `store states, ${spread.name}, ${state}, ${reader}`;

/** Asks at random, or where a walk that failed before is taken again only what failed then; a failure is kept for the next run. */
async function checkReader({ property, runs }: Reader, key: string, dataSeed: number, isKnown: boolean): Promise<void> {
  const known = readFailingSeeds(key).filter((failing) => failing.dataSeed === dataSeed);
  const all = isKnown
    ? known.map(({ seed, path }) => ({ seed, path, numRuns: 1, endOnFailure: true }))
    : [{ numRuns: runs, interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: true }];
  for (const parameters of all) {
    const details = await fc.check(property as fc.IAsyncProperty<unknown>, parameters);
    if (details.failed) {
      if (details.counterexamplePath !== null) {
        keepFailingSeed(key, { dataSeed, seed: details.seed, path: details.counterexamplePath });
      }
      throw new Error(`${key}: ${fc.defaultReportMessage(details)}`, { cause: details.errorInstance });
    }
  }
}

/** All at once, and all to their end: the state after this one is not entered before. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  const failures = (await Promise.allSettled(work)).flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  if (failures.length > 0) {
    throw new AggregateError(failures, failures.map(({ message }) => message).join('\n'));
  }
}

/** The requests to a store with one set of events, in all its states. */
interface Walk {
  readonly spread: EventSpread;
  readonly name: string;
  readonly dataSeed: number;
  /** Only what failed before is asked again. */
  readonly isKnown: boolean;
  /** The last state that is entered. */
  readonly until: number;
}

function knownWalks(spread: EventSpread): Walk[] {
  const known = STORE_STATES.flatMap(({ name }, until) =>
    READERS.flatMap((reader) => readFailingSeeds(keyOf(spread, name, reader)).map(({ dataSeed }) => ({ dataSeed, until }))),
  );
  return [...new Map(known.map(({ dataSeed, until }) => [dataSeed, until]))].map(([dataSeed, until]) => ({
    ...{ spread, dataSeed, until },
    name: `${spread.name}, which failed before`,
    isKnown: true,
  }));
}

function newWalk(spread: EventSpread): Walk {
  const dataSeed = Math.floor(Math.random() * 2 ** 31);
  return { spread, dataSeed, name: spread.name, isKnown: false, until: STORE_STATES.length - 1 };
}

const WALKS = SPREADS.flatMap((spread) => [...knownWalks(spread), newWalk(spread)]);

describe.each(WALKS)('of $name (seed $dataSeed) every reader has each event once and in order', ({ spread, dataSeed, isKnown, until }) => {
  let states: StoreStates;
  let travellers: readonly TravellingReader[];

  beforeAll(async () => {
    states = await StoreStates.begin(spread, dataSeed);
    travellers = isKnown ? [] : travellingReaders(dataSeed);
  });

  afterAll(async () => {
    await killAll();
    await states.end();
  });

  test.each(STORE_STATES.slice(0, until + 1).map(({ name }, index) => ({ name, index })))(
    '$name',
    { timeout: LIMIT_MS + 60_000 },
    async ({ name, index }) => {
      await states.enter(index);
      await allOf([
        ...readersOf(states).map((reader) => checkReader(reader, keyOf(spread, name, reader.name), dataSeed, isKnown)),
        ...travellers.map((traveller) => traveller.advance(states, until + 1 - index)),
      ]);
    },
  );
});
