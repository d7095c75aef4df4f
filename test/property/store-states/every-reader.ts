import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exploreOracle, zonesOracle } from '../../oracle/explore-oracle.ts';
import { matches, matchingEvents, searchOracle } from '../../oracle/search-oracle.ts';
import { assertAsyncProperty, type DataSet, dataSets } from '../../random/assert-property.ts';
import { killAll } from '../../src/cli/cli-process.ts';
import type { ZonesRequest } from '../arbitrary-explore.ts';
import type { ZoneRequest } from '../arbitrary-request.ts';
import { explore, searchZone, zonesWithEvents } from '../explore-reader.ts';
import { beginExport, exportedEvents, readFeedPages, readTail, runConsumer } from './event-readers.ts';
import { expectEvents } from './expect-events.ts';
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

/** Every reader, by name: what it asks at random once in each state, and how an answer is held against the list of accepted events. */
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
    { name: 'feed', property: fc.asyncProperty(feedDraws, each(checkFeed)) },
    { name: 'tail', property: fc.asyncProperty(tailDraws(sample), each(checkTail)) },
    { name: 'consumer', property: fc.asyncProperty(feedDraw, (draw) => checkConsumer(states, draw)) },
    { name: 'explore', property: fc.asyncProperty(exploreDraws(sample), (draw) => checkExplore(states, draw)) },
    { name: 'export', property: fc.asyncProperty(exportDraws(sample), each(checkExport)) },
    { name: 'search', property: fc.asyncProperty(searchDraws(sample), each(checkSearch)) },
  ] as const;
}

type Reader = ReturnType<typeof readersOf>[number];

/** Shrinking ends by then, and the failure is reported. */
const SHRUNK_IN_MS = 540_000;

function checkReader({ name, property }: Reader, state: string, data: DataSet): Promise<void> {
  const part = `${state}, ${name}`;
  const inTime = { interruptAfterTimeLimit: SHRUNK_IN_MS, markInterruptAsFailure: true };
  return assertAsyncProperty(property as fc.IAsyncProperty<[unknown]>, { data, part, numRuns: 1, ...inTime });
}

/** All at once, and all to their end: the state after this one is not entered before. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  const failures = (await Promise.allSettled(work)).flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  if (failures.length > 0) {
    throw new AggregateError(failures, failures.map(({ message }) => message).join('\n'));
  }
}

/** Tests that every reader has each event once and in order, in each state of a store with these events. */
export function testEachState(spread: EventSpread): void {
  // Each state is the one before it and one step more.
  const inOrder = { shuffle: false };
  for (const data of dataSets(`store states, ${spread.name}`, 1)) {
    describe(`of ${spread.name} (seed ${data.seed}) every reader has each event once and in order`, inOrder, () =>
      testStates(spread, data),
    );
  }
}

function testStates(spread: EventSpread, data: DataSet): void {
  let states: StoreStates;
  let travellers: readonly TravellingReader[];

  beforeAll(async () => {
    states = await StoreStates.begin(spread, data.seed);
    travellers = data.isKept ? [] : travellingReaders(data.seed);
  });

  afterAll(async () => {
    await killAll();
    await states.end();
  });

  test.each(STORE_STATES.map(({ name }, index) => ({ name, index })))(
    '$name',
    { timeout: SHRUNK_IN_MS + 60_000 },
    async ({ name, index }) => {
      await states.enter(index);
      await allOf([
        ...readersOf(states).map((reader) => checkReader(reader, name, data)),
        ...travellers.map((traveller) => traveller.advance(states, STORE_STATES.length - index)),
      ]);
    },
  );
}
