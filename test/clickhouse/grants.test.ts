import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../query/durations.ts';
import { foldTextFunction } from '../../sql/fold-text.ts';
import { openClickhouseStore } from '../../store/clickhouse/open-store.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import { eventually } from '../fixtures/eventually.ts';
import { RETENTION_MS } from '../fixtures/temporary-store.ts';
import { runHere } from '../src/cli/command-run.ts';
import { type Answer, ask, eventLine, ingest, lastHour, search } from '../src/running-app.ts';
import { makeEarlier } from './earlier-letters.ts';
import { ownServer } from './engine.ts';
import { type ProgramOn, programOn } from './faults/program-on.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/clickhouse.md'), 'utf8');

/** The privileges of the two blocks of `Setting it up`: those that every program needs, and those that make the tables. */
const [PROGRAM = [], TABLES = []] = [...DOCUMENT.matchAll(/```sql\n([^`]*)```/g)].map(([, block = '']) => privilegesIn(block));

interface Privilege {
  readonly name: string;
  /** What it is on. */
  readonly on: string;
}

/** `GRANT A, B ON x, C ON y TO user;` as one row for each privilege. */
function privilegesIn(block: string): readonly Privilege[] {
  return [...block.matchAll(/^GRANT (?<grants>.*) TO shieldlog;$/gm)].flatMap(({ groups }) =>
    [...(groups?.['grants'] ?? '').matchAll(/(?<names>[A-Z][A-Z, ]*?) ON (?<on>[\w.*]+)/g)].flatMap(({ groups: one }) =>
      (one?.['names'] ?? '').split(', ').map((name) => ({ name, on: one?.['on'] ?? '' })),
    ),
  );
}

/** A user of users.xml with these privileges, in a database of its own. */
function userWith(name: string, privileges: readonly Privilege[]): string {
  const queries = privileges.map(
    ({ name: privilege, on }) => `<query>GRANT ${privilege} ON ${on.replace(/^shieldlog\./, `${name}.`)}</query>`,
  );
  return `<${name}><password></password><profile>default</profile><quota>default</quota><grants>${queries.join('')}</grants></${name}>`;
}

/** What a server's own config.xml switches on, and the right to make tables of an engine. */
const ACCESS = `<access_control_improvements>
  <on_cluster_queries_require_cluster_grant>true</on_cluster_queries_require_cluster_grant>
  <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
  <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
  <table_engines_require_grant>true</table_engines_require_grant>
</access_control_improvements>`;

const ADMIN = '<default><password></password><profile>default</profile><quota>default</quota></default>';

/** A server with these users, each of whom has an empty database of the same name. */
async function serverWith(users: readonly (readonly [name: string, privileges: readonly Privilege[]])[]) {
  const elements = users.map(([name, privileges]) => userWith(name, privileges));
  const server = await ownServer({
    users: `<profiles><default/></profiles><quotas><default/></quotas><users>${ADMIN}${elements.join('')}</users>`,
    config: ACCESS,
  });
  const admin = new ClickhouseClient({ urls: [server.url], user: 'default', password: '', database: 'default' });
  for (const [name] of users) await admin.run({ text: `CREATE DATABASE ${name}`, params: [] });
  return { url: server.url, run: (text: string) => admin.run({ text, params: [] }) };
}

const post = (body: string) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body });

/** On a busy machine it may tell for a while that ClickHouse has not answered in time. */
async function askReady(program: ProgramOn): Promise<Answer> {
  let answer = await ask(program, '/readyz');
  await eventually('ClickHouse has answered in time', async () => {
    if (!answer.text.includes('ClickHouse does not answer')) return true;
    answer = await ask(program, '/readyz');
    return false;
  });
  return answer;
}

/**
 * Runs every command that asks ClickHouse, and every route of the program, as a user of a database. Rejects where one is refused. With an
 * owner of the tables, these are those of an earlier version at first.
 */
async function doEverything(url: string, user: string, database = user, asOwner?: (statement: string) => Promise<void>): Promise<void> {
  const env = { STORE: 'clickhouse', CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: database, CLICKHOUSE_USER: user };
  const command = async (...args: string[]): Promise<void> => {
    const { status, stderr } = await runHere(args, env);
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  };
  await command('migrate', '--dry-run');
  await command('migrate');
  if (asOwner !== undefined) {
    await makeEarlier((statement) => asOwner(statement.replace(/(INTO|TABLE) (\w+)/, `$1 ${database}.$2`)), 1, 1);
    await command('migrate');
  }
  const program = await programOn([url], { database, env });
  const routes: readonly (readonly [name: string, ask: () => Promise<Answer>])[] = [
    ['readyz', () => askReady(program)],
    ['upload', () => ingest(program, eventLine({ logId: 'a' }))],
    ['upload of what becomes a dead letter', () => ingest(program, 'no event\n')],
    ['metrics', () => ask(program, '/metrics')],
    ['search', () => search(program, lastHour())],
    ['explore', () => ask(program, '/shield/event-logs/all/explore', post(lastHour()))],
    ['zones', () => ask(program, `/shield/event-logs/zones?from=${Date.now() - 3_600_000}&to=${Date.now()}`)],
    ['rules', () => ask(program, `/shield/event-logs/all/rules?from=${Date.now() - 3_600_000}&to=${Date.now()}`)],
    ['export', () => ask(program, '/shield/event-logs/all/export', post(lastHour()))],
    ['feed', () => ask(program, '/shield/event-logs/all/feed?limit=10')],
    ['check', () => ask(program, '/check')],
    ['dead letters', () => ask(program, '/ingest/dead-letters')],
    ['replay', () => ask(program, '/ingest/dead-letters/replay', post('{}'))],
    ['discard', () => ask(program, '/ingest/dead-letters/discard', post('{"all":true}'))],
  ];
  for (const [name, route] of routes) {
    const { status, text } = await route();
    const refusal = program.log.find(({ level, err }) => level > 30 && err !== undefined);
    if (status >= 400 || refusal !== undefined) throw new Error(`${name}: ${status} ${text} ${JSON.stringify(refusal?.['err'])}`);
  }
  await program.stop();
  await command('clickhouse', 'settings');
  await command('clickhouse', 'settings', 'RETENTION_HOURS=72');
  const address = { urls: [url], user, password: '', database };
  const later = () => Date.now() + 20 * DAY_MS;
  const store = await openClickhouseStore({ address, retentionMs: RETENTION_MS, now: later }, { sweepEveryMs: DAY_MS });
  await store.dropExpiredNow();
  expect((await store.stats()).events).toBe(0);
  await store.close();
  const client = new ClickhouseClient(address);
  await client.run({ text: "KILL QUERY WHERE query_id = 'none' SYNC", params: [] });
  await client.close();
}

test('the document grants what makes tables apart from the rest', () => {
  expect(PROGRAM.map(({ name, on }) => `${name} ON ${on}`)).toContain('SELECT ON shieldlog.*');
  expect(TABLES.map(({ name, on }) => `${name} ON ${on}`)).toContain('CREATE FUNCTION ON *.*');
});

describe('the grants of the document', () => {
  test('are enough for everything', async () => {
    const { url, run } = await serverWith([['shieldlog', [...PROGRAM, ...TABLES]]]);
    await doEverything(url, 'shieldlog', 'shieldlog', run);
  });

  test('but for those that make tables are enough where somebody else has made them', async () => {
    const { url } = await serverWith([['shieldlog', PROGRAM]]);
    const env = { STORE: 'clickhouse', CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'shieldlog' };
    expect(await runHere(['migrate'], env)).toMatchObject({ status: 0 });
    await doEverything(url, 'shieldlog');
  });

  test('are all needed', async () => {
    const all = [...PROGRAM, ...TABLES];
    const users = all.map((left, index) => [`without_${index}`, all.filter((one) => one !== left)] as const);
    const { url, run } = await serverWith(users);
    const needless: Privilege[] = [];
    for (const [index, left] of all.entries()) {
      await run(`DROP FUNCTION IF EXISTS ${foldTextFunction().name}`);
      const refusal = await doEverything(url, `without_${index}`, `without_${index}`, run).then(
        () => undefined,
        (error: Error) => error,
      );
      if (refusal === undefined) needless.push(left);
      else expect([left, refusal.message]).toEqual([left, expect.stringContaining('Not enough privileges')]);
    }
    expect(needless).toEqual([]);
  });
});

test('a right that is missing is told with the user and the database of the settings', async () => {
  const { url } = await serverWith([['nobody', []]]);
  const env = { STORE: 'clickhouse', CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'events_2', CLICKHOUSE_USER: 'nobody' };
  const { status, stderr } = await runHere(['migrate'], env);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^shieldlog: ClickHouse refuses CLICKHOUSE_USER=nobody a right that it needs in CLICKHOUSE_DATABASE=events_2: /);
});
