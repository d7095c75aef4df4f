import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { exploreEvents } from '../../store/clickhouse/search/explore.ts';
import { activeRulesOf, activeZonesOf, searchEvents } from '../../store/clickhouse/search/search.ts';
import { explored, rowsOf } from '../fixtures/answered-rows.ts';
import { expectAnswer, planOf } from '../golden/golden-answer.ts';
import { GOLDEN_NOW, goldenThemes } from '../golden/golden-case.ts';
import { batchOf, GOLDEN_RETENTION_MS, goldenLines } from '../golden/golden-events.ts';
import { EventTable } from './event-table.ts';
import type { Place } from './shared-store.ts';

let server: EventTable;
let cluster: EventTable;

/** Both have each event twice, the later copy with another content. */
beforeAll(async () => {
  [server, cluster] = await Promise.all([filled('one server'), filled('a cluster')]);
});

afterAll(() => Promise.all([server.close(), cluster.close()]));

async function filled(place: Place): Promise<EventTable> {
  const table = await EventTable.open(place);
  const lines = goldenLines();
  await table.insert(batchOf(lines.filter((_, index) => index % 2 === 0)));
  await table.insert(batchOf(lines.filter((_, index) => index % 2 === 1)));
  await table.copyAll();
  return table;
}

/** The answer of a search, as it can be compared. */
async function answerOf(plan: SearchPlan, { source }: EventTable): Promise<unknown> {
  const answer = await searchEvents(plan, source, undefined);
  return answer.kind === 'groups' ? answer : { total: answer.total, rows: await rowsOf(answer) };
}

test('the events are on two shards', async () => {
  const { rows } = await cluster.reader.read({ text: 'SELECT _shard_num, count() FROM events GROUP BY 1 ORDER BY 1', params: [] });
  expect(rows.map(([shard]) => Number(shard))).toEqual([1, 2]);
});

describe('a question of the explorer', () => {
  const search: SearchPlan = {
    zones: 'all',
    window: { fromMs: GOLDEN_NOW - GOLDEN_RETENTION_MS, toMs: GOLDEN_NOW + 1 },
    where: { kind: 'everything' },
    page: { index: 1, size: 3 },
    output: { kind: 'rows' },
  };
  const half = { fromMs: search.window.fromMs, toMs: GOLDEN_NOW - GOLDEN_RETENTION_MS / 2 };
  const wider = { fromMs: search.window.fromMs - 1_000, toMs: search.window.toMs + GOLDEN_RETENTION_MS };
  const german = { kind: 'equals', column: 'country', values: ['DE'], folded: false } as const;

  test.each<[string, Omit<ExplorePlan, 'search'>]>([
    ['a histogram of one series', { histogram: { buckets: 7, by: null }, facets: [], selection: null }],
    ['a histogram of more than the window', { histogram: { buckets: 2, by: 'action', window: wider }, facets: [], selection: null }],
    ['series of a field', { histogram: { buckets: 5, by: 'country' }, facets: [], selection: null }],
    [
      'values by count and by difference',
      {
        histogram: { buckets: 3, by: 'action' },
        facets: [
          { field: 'country', limit: 3, order: 'count' },
          { field: 'ip', limit: 2, order: 'difference' },
          { field: 'shieldZoneId', limit: 9, order: 'count' },
        ],
        selection: { window: half, where: german },
        combinations: [german, { kind: 'wildcard', column: 'ip', parts: ['1', ''] }],
      },
    ],
  ])('%s is answered on a cluster as on one server', async (_, question) => {
    const answers = [server, cluster].map(async ({ source }) => explored(await exploreEvents({ search, ...question }, source, undefined)));
    const [ofServer, ofCluster] = await Promise.all(answers);
    expect(ofCluster).toEqual(ofServer);
    expect(ofCluster?.page.total).toBeGreaterThan(3);
  });

  test('the zones that have events are the same', async () => {
    const zones = await activeZonesOf(search.window, 'all', server.source, undefined);
    expect(zones.length).toBeGreaterThan(1);
    expect(await activeZonesOf(search.window, 'all', cluster.source, undefined)).toEqual(zones);
    const named = zones.slice(0, 2).map(({ zoneId }) => zoneId);
    expect(await activeZonesOf(search.window, named, cluster.source, undefined)).toEqual(zones.slice(0, 2));
  });
});

test('the rules that have events are the same', async () => {
  const window = { fromMs: GOLDEN_NOW - GOLDEN_RETENTION_MS, toMs: GOLDEN_NOW + 1 };
  const rules = await activeRulesOf(window, 'all', server.source, undefined);
  expect(rules.length).toBeGreaterThan(1);
  expect(await activeRulesOf(window, 'all', cluster.source, undefined)).toEqual(rules);
});

const themes = goldenThemes().map(({ theme, cases }) =>
  cases.filter(({ errors }) => errors === undefined).map((golden) => [`${theme}: ${golden.name}`, golden] as const),
);

/** Rows and groups of each theme: a zone is asked of the shard that has it, whatever the conditions are. */
const ofOneZone = themes.flatMap((cases) =>
  [cases.find(([, { rows }]) => rows !== undefined), cases.find(([, { groups }]) => groups !== undefined)].filter(
    (one) => one !== undefined,
  ),
);

it.each(ofOneZone)('%s is answered of its zone', async (_, golden) => {
  await expectAnswer(await searchEvents(planOf(golden), cluster.source, undefined), golden);
});

describe.each(themes.flat())('%s', (_, golden) => {
  it('answers on a cluster as it does on one server', async () => {
    const ofAll = { ...planOf(golden), zones: 'all' } as const;
    expect(await answerOf(ofAll, cluster)).toEqual(await answerOf(ofAll, server));
  });
});
