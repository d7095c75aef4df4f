import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { compileExplore } from '../../query/request/compile-explore.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import { exploreJson } from '../../src/http/explore-json.ts';
import { exploreEvents } from '../../store/clickhouse/search/explore.ts';
import { readAllEvents } from '../../store/clickhouse/search/export.ts';
import { activeZonesOf, searchEvents } from '../../store/clickhouse/search/search.ts';
import { exportedRows, rowsOf } from '../fixtures/answered-rows.ts';
import { uncounted, wholeAnswer } from '../fixtures/whole-answer.ts';
import { exploreOracle, zonesOracle } from '../oracle/explore-oracle.ts';
import { type OracleEvent, oracleEvents } from '../oracle/raw-event.ts';
import { searchOracle } from '../oracle/search-oracle.ts';
import { ZONES } from '../property/arbitrary-event.ts';
import { arbitraryExplore, type ZonesRequest } from '../property/arbitrary-explore.ts';
import { arbitraryRequest } from '../property/arbitrary-request.ts';
import { eventsOfZones, MANY_VALUES } from '../property/explored-program.ts';
import { batchOfEvents, NOW_MS } from '../property/filled-store.ts';
import { answer } from '../property/search-answer.ts';
import { assertAsyncProperty, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { EventTable } from './event-table.ts';

const EVENTS = 500;
const UNKNOWN_ZONE = 99;
const HOUR_MS = 3_600_000;

/** Questions of each kind. */
const SEARCHES = 60;
const EXPLORES = 60;
const EXPORTS = 12;

const zones: fc.Arbitrary<ZonesRequest['zones']> = fc.oneof(
  fc.constant([ZONES[0] ?? 1]),
  fc.constant('all' as const),
  fc.array(fc.constantFrom(...ZONES, UNKNOWN_ZONE), { minLength: 1, maxLength: 5 }),
);

const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));

describe.each(dataSets('clickhouse', propertyRuns(1)))('over the events of seed $seed, with later copies of all', (data) => {
  let table: EventTable;
  let events: readonly OracleEvent[];

  beforeAll(async () => {
    const raw = eventsOfZones(data.seed, EVENTS);
    events = oracleEvents(raw);
    table = await EventTable.open();
    const third = Math.ceil(raw.length / 3);
    for (let from = 0; from < raw.length; from += third) {
      await table.insert(batchOfEvents(raw.slice(from, from + third)));
    }
    await table.copyAll();
  });

  afterAll(() => table.close());

  test('any search answers what the oracle answers', async () => {
    const store = { search: (plan: SearchPlan) => searchEvents(plan, table.source, undefined) };
    const property = fc.asyncProperty(arbitraryRequest(events, NOW_MS), async (request) => {
      expect(await answer(store, request, NOW_MS)).toEqual(JSON.parse(JSON.stringify(searchOracle(events, request.body, request.zoneId))));
    });
    await assertAsyncProperty(property, { data, numRuns: SEARCHES });
  });

  test('any question of the explorer is answered as the oracle answers it', async () => {
    const all = { from: NOW_MS - 72 * HOUR_MS, to: NOW_MS, query: null, filters: null, exclude: null };
    const ofAll = arbitraryExplore(events, NOW_MS, fc.constant('all'), MANY_VALUES).map(({ body }): ZonesRequest => {
      return { zones: 'all', body: { ...body, ...all } };
    });
    const property = fc.asyncProperty(fc.oneof(arbitraryExplore(events, NOW_MS, zones), ofAll), async ({ zones: of, body }) => {
      const plan = compileExplore(bytesOf(body), { zones: of, nowMs: NOW_MS });
      const answered = await wholeAnswer(exploreJson(await exploreEvents(plan, table.source, undefined), plan, uncounted));
      expect(JSON.parse(answered.toString())).toEqual(JSON.parse(JSON.stringify(exploreOracle(events, body, of))));
    });
    await assertAsyncProperty(property, { data, numRuns: EXPLORES });
  });

  test('an export has the rows of all pages in their order', async () => {
    const property = fc.asyncProperty(arbitraryRequest(events, NOW_MS), async ({ zoneId, body }) => {
      const rowsBody = { ...body, groupBy: null, page: 0, pageSize: 500 };
      const plan = compileSearch(bytesOf(rowsBody), { zoneId, nowMs: NOW_MS });
      const rows = await rowsOf(await searchEvents(plan, table.source, undefined));
      const store = { readAll: (of: SearchPlan) => readAllEvents(of, table.source, undefined) };
      expect((await exportedRows(store, plan)).slice(0, rows.length)).toEqual(rows);
    });
    await assertAsyncProperty(property, { data, numRuns: EXPORTS });
  });

  test('the zones with events are those of the oracle', async () => {
    const window = { fromMs: NOW_MS - 72 * HOUR_MS, toMs: NOW_MS };
    const found = await activeZonesOf(window, 'all', table.source, undefined);
    const expected = zonesOracle(events, { from: window.fromMs, to: window.toMs }, 'all').zones;
    expect(found.map(({ zoneId, events: count }) => [zoneId, count])).toEqual(expected.map((one) => [one.shieldZoneId, one.count]));
  });
});
