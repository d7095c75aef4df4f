import { expect, onTestFinished, test } from 'vitest';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import { CLUSTER_SETTINGS } from '../../store/clickhouse/server/settings.ts';
import { ask, eventLine, ingest, lastHour } from '../src/running-app.ts';
import { ownServer } from './engine.ts';
import { eventsOf, programOn, readiness } from './faults/program-on.ts';

type Profile = Readonly<Record<string, string | number>>;

/** The URL of a server of its own, whose user `odd` has these settings by its profile. */
async function serverOf(profile: Profile): Promise<string> {
  const settings = Object.entries(profile).map(([name, value]) => `<${name}>${value}</${name}>`);
  const user = (name: string) => `<${name}><password></password><profile>${name}</profile><quota>default</quota></${name}>`;
  const profiles = `<profiles><default/><odd>${settings.join('')}</odd></profiles>`;
  const users = `<users>${user('default')}${user('odd')}</users>`;
  const { url } = await ownServer({ users: `${profiles}<quotas><default/></quotas>${users}` });
  return url;
}

async function programOf(profile: Profile) {
  return await programOn([await serverOf(profile)], { database: 'shieldlog', env: { CLICKHOUSE_USER: 'odd' } });
}

const IDS = Array.from({ length: 20 }, (_, nth) => `e${nth}`);
const EVENTS = IDS.map((logId) => eventLine({ logId, country: 'DE' })).join('');

test('what a profile says of answers changes none', async () => {
  const program = await programOf({
    aggregate_functions_null_for_empty: 1,
    allow_experimental_analyzer: 0,
    any_join_distinct_right_table_keys: 1,
    count_distinct_implementation: 'uniq',
    data_type_default_nullable: 1,
    date_time_output_format: 'iso',
    do_not_merge_across_partitions_select_final: 1,
    empty_result_for_aggregation_by_empty_set: 1,
    enable_positional_arguments: 0,
    extremes: 1,
    join_default_strictness: 'ANY',
    limit: 3,
    offset: 5,
    session_timezone: 'Asia/Kathmandu',
    union_default_mode: 'DISTINCT',
    use_query_cache: 1,
    query_cache_nondeterministic_function_handling: 'save',
    query_cache_system_table_handling: 'save',
  });
  await expect.poll(() => readiness(program)).toEqual({ status: 200, reasons: [] });
  expect(await eventsOf(program)).toEqual({ total: 0, feed: [] });
  expect((await ingest(program, EVENTS)).body).toMatchObject({ accepted: IDS.length });
  expect((await ingest(program, `${EVENTS}{"bad":1}\n`)).body).toMatchObject({ accepted: IDS.length, rejectedCount: 1 });
  const { total, feed } = await eventsOf(program);
  expect([total, feed.toSorted()]).toEqual([IDS.length, IDS.toSorted()]);
  const init = (more: object) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...JSON.parse(lastHour()), ...more }),
  });
  expect((await ask(program, '/shield/event-logs/7/search', init({ pageSize: 50 }))).body.rows).toHaveLength(IDS.length);
  const { groups } = (await ask(program, '/shield/event-logs/7/search', init({ groupBy: ['country'] }))).body;
  expect(groups).toMatchObject([{ key: { country: 'DE' }, count: IDS.length }]);
  expect((await ask(program, '/ingest/dead-letters')).body.deadLetters).toHaveLength(1);
});

test.each<Profile>([
  { max_rows_in_set: 1, set_overflow_mode: 'break' },
  { max_rows_to_sort: 2, sort_overflow_mode: 'break' },
  { max_result_rows: 2, result_overflow_mode: 'break', max_block_size: 2 },
  { max_rows_to_read: 2, read_overflow_mode: 'break', max_block_size: 2 },
])('a limit of a profile that leaves out the rest leaves out nothing: %j', async (profile) => {
  const program = await programOf(profile);
  await ingest(program, EVENTS);
  const { status, text } = await ask(program, '/shield/event-logs/7/feed?limit=1000');
  const events = text.trimEnd().split('\n').length - 1;
  expect([
    [200, IDS.length],
    [503, 0],
  ]).toContainEqual([status, events]);
});

test('on a cluster, no profile leaves shards out, or has each of them answer for itself', async () => {
  const url = await serverOf({ skip_unavailable_shards: 1, distributed_group_by_no_merge: 1 });
  const client = new ClickhouseClient({ urls: [url], user: 'odd', password: '', database: 'default' }, { settings: CLUSTER_SETTINGS });
  onTestFinished(() => client.close());
  const names = "('distributed_group_by_no_merge', 'skip_unavailable_shards')";
  const { rows } = await client.read({ text: `SELECT value FROM system.settings WHERE name IN ${names}`, params: [] });
  expect(rows).toEqual([['0'], ['0']]);
});
