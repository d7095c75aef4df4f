import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { FeedZones } from '../../query/plan/feed-zones.ts';
import type { SearchPlan, ZoneSelection } from '../../query/plan/search-plan.ts';
import { eventsOf } from '../../sql/clickhouse/events.ts';
import { facetValuesStatement, totalsStatement } from '../../sql/clickhouse/explore-statements.ts';
import { type ArrivalRange, feedLinesStatement, firstSlotStatement, pageEndStatement } from '../../sql/clickhouse/feed-statements.ts';
import { groupKeysStatement } from '../../sql/clickhouse/group-statements.ts';
import { rowSliceStatement, rowsByKeyStatement } from '../../sql/clickhouse/row-statements.ts';
import { clickhouseDialect } from '../../sql/dialect.ts';
import { activeRulesStatement, activeZonesStatement, combinationsStatement } from '../../sql/explore-statements.ts';
import { slotCountStatement } from '../../sql/row-statements.ts';
import type { SqlStatement } from '../../sql/statement.ts';
import { Feed } from '../../store/clickhouse/feed/feed.ts';
import { ClickhousePositions } from '../../store/clickhouse/feed/positions.ts';
import { exploreEvents } from '../../store/clickhouse/search/explore.ts';
import { readAllEvents } from '../../store/clickhouse/search/export.ts';
import { activeRulesOf, activeZonesOf, searchEvents } from '../../store/clickhouse/search/search.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import { CLUSTER_SETTINGS, settingsOfZones } from '../../store/clickhouse/server/settings.ts';
import { PIECE_BYTES } from '../../store/event-store.ts';
import { GOLDEN_NOW } from '../golden/golden-case.ts';
import { batchOf, goldenLines } from '../golden/golden-events.ts';
import { clusterUrl } from './engine.ts';
import { EventTable } from './event-table.ts';

let table: EventTable;

beforeAll(async () => {
  table = await EventTable.open('a cluster');
  await table.insert(batchOf(goldenLines()));
});

afterAll(() => table.close());

const EVENTS = 'events';
const MOMENT = { beforeSeq: 1n << 62n, running: [{ fromSeq: 1n << 61n, writer: 7 }] };
const BY_COUNTRY = { kind: 'groups', by: ['country'], buckets: 0 } as const;

/** Zones of the first shard, and one of the second. */
const FIRST_SHARD = [7, 8, 11];
const SECOND_SHARD = 9;

function plan(zones: ZoneSelection): SearchPlan {
  const window = { fromMs: 0, toMs: GOLDEN_NOW + 1 };
  return { zones, window, where: { kind: 'everything' }, page: { index: 0, size: 3 }, output: { kind: 'rows' } };
}

const range = (zones: FeedZones): ArrivalRange => ({ zones, after: 0n, upTo: 1n << 61n });

const BLOCKED = { kind: 'equals', column: 'action', values: ['blocked'], folded: true } as const;

const FEED_STATEMENTS: Readonly<Record<string, (zones: FeedZones) => SqlStatement>> = {
  'first minute of the feed': (zones) => firstSlotStatement(EVENTS, range(zones)),
  'end of a page of the feed': (zones) => pageEndStatement(EVENTS, range(zones), 3),
  'lines of the feed': (zones) => feedLinesStatement(EVENTS, range(zones)),
  'end of a page of the feed for a condition': (zones) => pageEndStatement(EVENTS, { ...range(zones), where: BLOCKED }, 3),
  'lines of the feed for a condition': (zones) => feedLinesStatement(EVENTS, { ...range(zones), where: BLOCKED }),
};

/** Every kind of statement about events of some zones. */
const STATEMENTS: Readonly<Record<string, (zones: ZoneSelection) => SqlStatement>> = {
  rows: (zones) => rowSliceStatement(plan(zones), eventsOf(EVENTS), plan(zones).window, { limit: 3 }, PIECE_BYTES),
  'rows of a moment': (zones) => {
    return rowSliceStatement(plan(zones), eventsOf(EVENTS, MOMENT), plan(zones).window, { limit: 3, skip: 1 }, PIECE_BYTES);
  },
  totals: (zones) => totalsStatement(plan(zones), null, { buckets: 3, by: null }, eventsOf(EVENTS, MOMENT)),
  groups: (zones) => groupKeysStatement({ ...plan(zones), output: BY_COUNTRY }, BY_COUNTRY, eventsOf(EVENTS, MOMENT)),
  facets: (zones) => {
    const first = { fields: ['country', 'ip'], max: 3 } as const;
    const wanted = { fields: first.fields, selection: null, byCount: first, byDifference: first, totals: { total: 9, selected: 0 } };
    return facetValuesStatement(plan(zones), wanted, eventsOf(EVENTS, MOMENT), true);
  },
  slots: (zones) =>
    slotCountStatement(plan(zones), eventsOf(EVENTS, MOMENT), { window: plan(zones).window, slotMs: 1e9 }, clickhouseDialect),
  zones: (zones) => activeZonesStatement(plan(zones), eventsOf(EVENTS), clickhouseDialect),
  rules: (zones) => activeRulesStatement(plan(zones), 3, eventsOf(EVENTS), clickhouseDialect),
  combinations: (zones) => {
    const conditions = [{ kind: 'equals', column: 'country', values: ['DE'], folded: true }, { kind: 'everything' }] as const;
    const selection = { window: plan(zones).window, where: { kind: 'everything' } } as const;
    return combinationsStatement(plan(zones), conditions, selection, eventsOf(EVENTS, MOMENT), clickhouseDialect);
  },
  ...FEED_STATEMENTS,
};

async function explain({ text, params }: SqlStatement, zones: FeedZones): Promise<readonly string[]> {
  const statement = { text: `EXPLAIN distributed = 1 ${text.replace(' FORMAT TSVRaw', '')}`, params };
  const { rows } = await table.reader.read(statement, { settings: settingsOfZones(EVENTS, zones) });
  return rows.map(([line]) => String(line));
}

const READING = /ReadFrom(MergeTree|PreparedSource)/;

/** How many shards a statement reads from, given that each reads the same. */
async function shardsOf<Zones extends FeedZones>(make: (zones: Zones | 'all') => SqlStatement, zones: Zones): Promise<number> {
  const [some, all] = await Promise.all([explain(make(zones), zones), explain(make('all'), 'all')]);
  const reads = (lines: readonly string[]) => lines.filter((line) => READING.test(line)).length;
  return reads(some) / (reads(all) / 2);
}

const upTo = (count: number) => Array.from({ length: count }, (_, zone) => zone);

describe.each(Object.entries(STATEMENTS))('a statement of %s', (_, make) => {
  test.each([
    ['one zone', [7], 1],
    ['zones of one shard', FIRST_SHARD, 1],
    ['zones of both', [7, SECOND_SHARD], 2],
    ['more zones than ClickHouse looks at by itself', upTo(1_500), 2],
    ['zones that stand in its text', upTo(20_000), 2],
  ])('about %s asks their shards alone', async (_kind, zones, shards) => {
    expect(await shardsOf(make, zones)).toBe(shards);
  });
});

test.each(Object.entries(FEED_STATEMENTS))('a statement of %s about a part of the zones asks all shards', async (_, make) => {
  expect(await shardsOf(make, { modulo: 2, remainder: 1 })).toBe(2);
});

test('a shard works its own part out: it sends groups, values of fields and the first rows, and no more', async () => {
  const before = async (name: string) => {
    const lines = await explain((STATEMENTS[name] as (zones: ZoneSelection) => SqlStatement)('all'), 'all');
    const ofShard = lines.findIndex((line) => line.includes('BlocksMarshalling'));
    return lines.slice(ofShard + 1).map((line) => line.replace(/^[\s│├└─]*/, ''));
  };
  for (const name of ['totals', 'groups', 'facets', 'slots', 'zones', 'rules', 'combinations']) {
    expect([name, (await before(name))[0]]).toEqual([name, expect.stringMatching(/^Aggregating/)]);
  }
  for (const name of ['rows', 'end of a page of the feed']) {
    const steps = (await before(name)).filter((line) => !/^(Expression|JoinLazyColumns)/.test(line));
    expect([name, steps[0]]).toEqual([name, expect.stringMatching(/^Limit\b/)]);
  }
});

/** A client that writes down what its statements are sent with. */
class WatchedClient extends ClickhouseClient {
  readonly sent: unknown[] = [];

  override read: ClickhouseClient['read'] = (statement, options = {}) => {
    if (/"?events"? /.test(statement.text)) this.sent.push(options.settings?.['force_optimize_skip_unused_shards']);
    return super.read(statement, options);
  };

  override readBytes: ClickhouseClient['readBytes'] = (statement, options = {}) => {
    this.sent.push(options.settings?.['force_optimize_skip_unused_shards']);
    return super.readBytes(statement, options);
  };
}

/** Everything that reads events of some zones. */
const READERS: Readonly<Record<string, (zones: ZoneSelection, client: WatchedClient) => Promise<unknown>>> = {
  'a search': (zones, client) => searchEvents(plan(zones), { ...table.source, client }, undefined),
  'a search of groups': (zones, client) => searchEvents({ ...plan(zones), output: BY_COUNTRY }, { ...table.source, client }, undefined),
  'a question of the explorer': (zones, client) => {
    const facets = [{ field: 'country', limit: 3, order: 'count' }] as const;
    const question = { search: plan(zones), histogram: { buckets: 2, by: 'action' }, facets, selection: null } as const;
    return exploreEvents(question, { ...table.source, client }, undefined);
  },
  'an export': async (zones, client) => {
    const pieces = [];
    for await (const piece of readAllEvents(plan(zones), { ...table.source, client }, undefined)) pieces.push(piece);
    return pieces;
  },
  'a look at zones': (zones, client) => activeZonesOf(plan(zones).window, zones, { ...table.source, client }, undefined),
  'a look at rules': (zones, client) => activeRulesOf(plan(zones).window, zones, { ...table.source, client }, undefined),
  'the feed': async (zones, client) => {
    const visibility = { horizon: async () => 1n << 62n };
    const positions = new ClickhousePositions({ client, visibility, storeId: async () => 1 });
    const after = { sequence: 0n, afterSweep: 0 } as never;
    return await new Feed({ client, visibility, positions, table: EVENTS, excerptBytes: 1024 }).read(
      { zones, after, limit: 2 },
      new AbortController().signal,
    );
  },
};

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test.each<[string, ZoneSelection, unknown]>([
    ['of named zones fails rather than ask every shard', [7, SECOND_SHARD], 1],
    ['of all zones asks every shard', 'all', undefined],
  ])('%s', async (_kind, zones, forced) => {
    const address = { urls: [clusterUrl()], user: 'default', password: '', database: table.reader.name };
    const client = new WatchedClient(address, { settings: CLUSTER_SETTINGS });
    onTestFinished(() => client.close());
    await read(zones, client);
    expect(new Set(client.sent)).toEqual(new Set([forced]));
  });
});

test('rows that are read by their keys are asked of their shards', async () => {
  const { rows } = await table.reader.read({ text: 'SELECT timestamp, logId, shieldZoneId FROM events LIMIT 2', params: [] });
  const keys = rows.map(([timestamp, logId, zoneId]) => ({ timestamp: Number(timestamp), logId: String(logId), zoneId: Number(zoneId) }));
  const statement = rowsByKeyStatement(plan('all'), eventsOf(EVENTS), keys);
  const read = await table.reader.read(statement, {
    settings: settingsOfZones(
      EVENTS,
      keys.map(({ zoneId }) => zoneId),
    ),
  });
  expect(read.rows.map(([, logId]) => logId).sort()).toEqual(keys.map(({ logId }) => logId).sort());
});
