import { expect, test } from 'vitest';
import { ask, eventLine, ingest, lastHour } from '../src/running-app.ts';
import { ownServer } from './engine.ts';
import { eventsOf, programOn, readiness } from './faults/program-on.ts';

type Profile = Readonly<Record<string, string | number>>;

/** A program whose user has these settings by its profile, on a server of its own. */
async function programOf(profile: Profile) {
  const settings = Object.entries(profile).map(([name, value]) => `<${name}>${value}</${name}>`);
  const user = (name: string) => `<${name}><password></password><profile>${name}</profile><quota>default</quota></${name}>`;
  const profiles = `<profiles><default/><odd>${settings.join('')}</odd></profiles>`;
  const users = `<users>${user('default')}${user('odd')}</users>`;
  const { url } = await ownServer({ users: `${profiles}<quotas><default/></quotas>${users}` });
  return await programOn([url], { database: 'shieldlog', env: { CLICKHOUSE_USER: 'odd' } });
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
    enable_positional_arguments: 0,
    extremes: 1,
    join_default_strictness: 'ANY',
    limit: 3,
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
