import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GROUP_DIMENSIONS } from '../../query/event-fields.ts';
import type { StoreTuning } from '../../store/embedded/store-options.ts';
import { KNOWN_IN_TIME } from '../fixtures/known-in-time.ts';
import { storeRuns, tuningsOf } from '../fixtures/test-store.ts';
import {
  exploreOracle,
  FOLDED_FIELDS,
  type OracleExploreResponse,
  type OracleFacet,
  rulesOracle,
  zonesOracle,
} from '../oracle/explore-oracle.ts';
import { foldCase } from '../oracle/fold-case.ts';
import type { OracleFilter } from '../oracle/match-event.ts';
import { type OracleEvent, oracleEvents } from '../oracle/raw-event.ts';
import { assertAsyncProperty, type DataSet, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import type { RunningApp } from '../src/running-app.ts';
import { ZONES } from './arbitrary-event.ts';
import { arbitraryExplore, withFewBuckets, type ZonesRequest } from './arbitrary-explore.ts';
import { arbitraryMatch, arbitraryRequest, type ZoneRequest } from './arbitrary-request.ts';
import { expectLaws } from './explore-laws.ts';
import { explore, rulesWithEvents, searchZone, zonesWithEvents } from './explore-reader.ts';
import { ExploredProgram, eventsOfZones, FEW_VALUES, inEachState, LONG_VALUES, MANY_VALUES } from './explored-program.ts';
import { NOW_MS } from './filled-store.ts';

const CHANGING = 'explore, while events are stored';
const DATA_SETS = propertyRuns(1);
const EVENTS = 320;
/** In each state of the data, and with each of the limits. */
const REQUESTS = storeRuns(4);
/** In each state of the data, with few values. */
const LAWS = 3;
const UNKNOWN_ZONE = 99;
const MOST_VALUES = 100;

const FEW: Limits = { limits: 'few values', options: FEW_VALUES };

/** Those of the program, which so few events do not meet, and smaller ones. */
const LIMITS: readonly Limits[] = tuningsOf([
  { limits: 'usual limits', options: {} },
  FEW,
  { limits: 'long values', options: LONG_VALUES },
]);

/** How many values of a field the program knows. */
interface Limits {
  readonly limits: string;
  readonly options: StoreTuning;
}

const zones: fc.Arbitrary<ZonesRequest['zones']> = fc.oneof(
  fc.constant([ZONES[0] ?? 1]),
  fc.constant('all' as const),
  fc.array(fc.constantFrom(...ZONES, UNKNOWN_ZONE), { minLength: 1, maxLength: 5 }),
);

function expectedAnswer(events: readonly OracleEvent[], request: ZonesRequest): OracleExploreResponse {
  return JSON.parse(JSON.stringify(exploreOracle(events, request.body, request.zones)));
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** About all events, and the facets of fields with many values with and without a selection. */
function ofAllEvents(events: readonly OracleEvent[]): fc.Arbitrary<ZonesRequest> {
  const all = { from: NOW_MS - 72 * HOUR_MS, to: NOW_MS + MINUTE_MS, query: null, filters: null, exclude: null };
  return arbitraryExplore(events, NOW_MS, fc.constant('all'), MANY_VALUES)
    .filter(({ body: { facets } }) => (facets ?? []).length > 0)
    .map((request) => ({ ...request, body: withFewBuckets({ ...request.body, ...all }) }));
}

const anyRequest = (events: readonly OracleEvent[]) => fc.oneof(arbitraryExplore(events, NOW_MS, zones), ofAllEvents(events));

/** A question, and whether it is asked twice: the second time the caches may know it. */
const questions = (events: readonly OracleEvent[]) => fc.record({ request: anyRequest(events), again: fc.boolean() });

type Question = ReturnType<typeof questions> extends fc.Arbitrary<infer T> ? T : never;

async function checkQuestion({ app }: ExploredProgram, events: readonly OracleEvent[], { request, again }: Question): Promise<void> {
  const expected = expectedAnswer(events, request);
  for (let time = 0; time < (again ? 2 : 1); time += 1) {
    const answer = await explore(app, request.zones, request.body);
    expect(answer).toEqual(expected);
    expectLaws(answer, request.body);
  }
}

/** A question, a clause that divides its result, and a search of one zone, in the same window. */
const divisions = (events: readonly OracleEvent[]) =>
  fc.record({
    request: arbitraryExplore(events, NOW_MS, zones),
    clause: arbitraryMatch(events)
      .filter(({ exclude }) => (exclude ?? []).length > 0)
      .map(({ exclude }) => exclude?.[0] as OracleFilter),
    search: arbitraryRequest(events, NOW_MS),
  });

type Division = ReturnType<typeof divisions> extends fc.Arbitrary<infer T> ? T : never;

async function checkDivision(
  { app }: ExploredProgram,
  events: readonly OracleEvent[],
  { request, clause, search }: Division,
): Promise<void> {
  await expectParts(app, request, clause);
  await expectSamePage(app, search);
  await expectSameZones(app, events, request);
  await expectSameRules(app, events, request);
}

const FACETS = GROUP_DIMENSIONS.map((field) => ({ field, limit: MOST_VALUES }));

/** What a clause finds, what it excludes and what it selects: the first two are all there is, and the last is the first. */
async function expectParts(app: RunningApp, { zones: of, body }: ZonesRequest, clause: OracleFilter): Promise<void> {
  const { from, to, query = null, filters, exclude } = body;
  const ask = async (more: object) =>
    explore(app, of, {
      from,
      to,
      query,
      pageSize: 0,
      histogram: { buckets: 60 },
      facets: FACETS,
      ...{ filters: filters ?? null, exclude: exclude ?? null, ...more },
    });
  const [whole, found, left] = await Promise.all([
    ask({ selection: { filters: [clause] } }),
    ask({ filters: [...(filters ?? []), clause] }),
    ask({ exclude: [...(exclude ?? []), clause] }),
  ]);
  expect(found.total + left.total).toBe(whole.total);
  expect(found.total).toBe(whole.selectedTotal);
  expect(countsOf(found).map((count, bucket) => count + (countsOf(left)[bucket] ?? 0))).toEqual(countsOf(whole));
  for (const [index, facet] of (whole.facets ?? []).entries()) {
    if (facet.distinct > MOST_VALUES) continue;
    const [inFound, inLeft] = [countsByValue(found.facets?.[index]), countsByValue(left.facets?.[index])];
    for (const { value, count, selected } of facet.values) {
      const name = nameIn(facet)(value);
      expect([value, (inFound.get(name) ?? 0) + (inLeft.get(name) ?? 0)]).toEqual([value, count]);
      expect([value, inFound.get(name) ?? 0]).toEqual([value, selected]);
    }
  }
}

function countsOf({ histogram }: OracleExploreResponse): readonly number[] {
  return histogram?.series[0]?.counts ?? [];
}

function countsByValue(facet: OracleFacet | undefined): ReadonlyMap<string, number> {
  return new Map(facet?.values.map(({ value, count }) => [nameIn(facet)(value), count]));
}

/** What a value is known by in each part of a result, which may have other spellings of it. */
function nameIn({ field }: OracleFacet): (value: string) => string {
  return FOLDED_FIELDS.includes(field) ? foldCase : (value) => value;
}

/** A page of one zone is that of operation 1. */
async function expectSamePage(app: RunningApp, { zoneId, body }: ZoneRequest): Promise<void> {
  // Here the size 0 means something else.
  const asked = { ...body, pageSize: body.pageSize === 0 ? 1 : (body.pageSize ?? null) };
  const [searched, { histogram, facets, selectedTotal, combinations, rows, ...rest }] = await Promise.all([
    searchZone(app, zoneId, asked),
    explore(app, [zoneId], asked),
  ]);
  expect([histogram, facets, selectedTotal, combinations]).toEqual([null, null, null, null]);
  const bare = rows?.map(({ shieldZoneId, ...row }) => ({ ...row, ...(shieldZoneId === zoneId ? {} : { shieldZoneId }) })) ?? null;
  expect({ ...rest, rows: bare }).toEqual(searched);
}

/** The zones with events are those of a facet, and what the oracle says. */
async function expectSameZones(app: RunningApp, events: readonly OracleEvent[], { body: { from, to } }: ZonesRequest): Promise<void> {
  const answer = await zonesWithEvents(app, { from, to });
  expect(answer).toEqual(zonesOracle(events, { from, to }, 'all'));
  const { facets } = await explore(app, 'all', { from, to, pageSize: 0, facets: [{ field: 'shieldZoneId', limit: MOST_VALUES }] });
  expect(new Map(answer.zones.map(({ shieldZoneId, count }) => [String(shieldZoneId), count]))).toEqual(countsByValue(facets?.[0]));
}

/** The rules with events are those of a facet, and what the oracle says. */
async function expectSameRules(app: RunningApp, events: readonly OracleEvent[], request: ZonesRequest): Promise<void> {
  const { from, to } = request.body;
  const answer = await rulesWithEvents(app, request.zones, { from, to });
  expect(answer).toEqual(rulesOracle(events, { from, to }, request.zones));
  const { facets } = await explore(app, request.zones, { from, to, pageSize: 0, facets: [{ field: 'ruleId', limit: MOST_VALUES }] });
  const values = facets?.[0]?.values.filter(({ value }) => value !== '') ?? [];
  expect(answer.rules.slice(0, values.length).map(({ ruleId, count }) => [ruleId, count])).toEqual(
    values.map(({ value, count }) => [value, count]),
  );
}

interface Property<Draw> {
  readonly name: string;
  readonly runs: number;
  readonly draws: (events: readonly OracleEvent[]) => fc.Arbitrary<Draw>;
  readonly check: (program: ExploredProgram, events: readonly OracleEvent[], draw: Draw) => Promise<void>;
}

const QUESTIONS: Property<Question> = { name: 'explore', runs: REQUESTS, draws: questions, check: checkQuestion };
const DIVISIONS: Property<Division> = { name: 'explore, laws', runs: LAWS, draws: divisions, check: checkDivision };

/** A kept case is tried in each state, and with each of the limits. */
async function checkInEachState<Draw>({ runs: numRuns, draws, check }: Property<Draw>, options: StoreTuning, data: DataSet): Promise<void> {
  await inEachState(eventsOfZones(data.seed, EVENTS), options, async (program) => {
    const events = program.eventsAfter();
    const property = fc.asyncProperty(draws(events), (draw) => check(program, events, draw));
    await assertAsyncProperty(property, { data, numRuns });
  });
}

describe.each(LIMITS)('any question of the explorer, in each state of the data, with $limits', ({ options }) => {
  test.each(dataSets(QUESTIONS.name, DATA_SETS))('is answered as the oracle answers it, over the events of seed $seed', async (data) => {
    await checkInEachState(QUESTIONS, options, data);
  });
});

test.each(dataSets(DIVISIONS.name, DATA_SETS))(
  'in each state of the data parts add up, pages are those of searches and zones those of facets, over the events of seed $seed',
  async (data) => {
    await checkInEachState(DIVISIONS, FEW.options, data);
  },
);

/** Some batches change more values of a field than are known of it, some more than are brought up to date, and some few. */
const BATCHES = [24, 240, 1, 12, 138, 35];
const CHANGING_EVENTS = 400;
/** Of each kind, for each of two readers. */
const POLLS = 2;

/** A question that is asked again and again, with a window that moves. */
interface Poll extends ZonesRequest {
  /** By so much from one batch to the next. */
  readonly stepMs: number;
}

/** Those about all events have one window, which moves over some of them, so that what one has counted serves the others. */
function polls(events: readonly OracleEvent[]): fc.Arbitrary<Poll[]> {
  const window = { from: NOW_MS - 4_300 * MINUTE_MS - 25 * SECOND_MS, to: NOW_MS };
  const ofAll = ofAllEvents(events).map(({ zones: of, body }) => ({
    zones: of,
    body: withFewBuckets({ ...body, ...window }),
    stepMs: 10 * SECOND_MS,
  }));
  const stepMs = fc.constantFrom(0, 1, MINUTE_MS, 10 * MINUTE_MS);
  const ofAny = fc.tuple(arbitraryExplore(events, NOW_MS, zones), stepMs).map(([request, step]) => ({ ...request, stepMs: step }));
  const some = { minLength: POLLS, maxLength: POLLS };
  return fc.tuple(fc.array(ofAll, some), fc.array(ofAny, some)).map((kinds) => kinds.flat());
}

/** The question after so many batches. */
function askedAfter(batches: number, { zones: of, body, stepMs }: Poll): ZonesRequest {
  const ms = Math.min(batches * stepMs, NOW_MS + MINUTE_MS - body.to);
  return { zones: of, body: { ...body, from: body.from + ms, to: body.to + ms } };
}

describe.each(LIMITS)('while events are stored, flushed and merged, with $limits', ({ options }) => {
  test.each(dataSets(CHANGING, DATA_SETS))('all of an answer is of one moment, over the events of seed $seed', async (data) => {
    const raw = eventsOfZones(data.seed, CHANGING_EVENTS);
    const readers = fc.array(polls(oracleEvents(raw)), { minLength: 2, maxLength: 2 });
    const property = fc.asyncProperty(readers, async (asked) => {
      await ExploredProgram.with(raw, options, async (program) => {
        for (let batch = 0; program.areLeft; batch += 1) {
          await Promise.all([store(program, batch), ...asked.map((each) => askEach(program, each, batch))]);
        }
        await askEach(program, asked.flat(), BATCHES.length);
      });
    });
    await assertAsyncProperty(property, { data, numRuns: 1, ...KNOWN_IN_TIME });
  });
});

async function store(program: ExploredProgram, batch: number): Promise<void> {
  await program.append(BATCHES[batch % BATCHES.length] as number);
  if (batch % 2 === 0) await program.app.store.settle('flush');
  if (batch % 3 === 2) await program.app.store.settle('merge');
}

async function askEach(program: ExploredProgram, asked: readonly Poll[], batch: number): Promise<void> {
  for (const poll of asked) {
    await expectMoment(program, askedAfter(batch, poll));
  }
}

/** The answer has all batches that were stored before the question, and the one that came meanwhile whole or not at all. */
async function expectMoment(program: ExploredProgram, request: ZonesRequest): Promise<void> {
  const { least } = program.stored;
  const answer = await explore(program.app, request.zones, request.body);
  const { most } = program.stored;
  expectLaws(answer, request.body);
  const moments = [...new Set([least, most])].map((count) => expectedAnswer(program.eventsAfter(count), request));
  expect(moments, JSON.stringify(request)).toContainEqual(answer);
}
