import { expect, test } from 'vitest';
import { SCHEMA_VERSION } from '../../store/clickhouse/schema.ts';
import { runHere } from '../src/cli/command-run.ts';
import { breakableServer, clickhouseUrl, testDatabase } from './engine.ts';

async function environment() {
  const { name } = await testDatabase();
  return { STORE: 'clickhouse', CLICKHOUSE_URL: clickhouseUrl(), CLICKHOUSE_DATABASE: name };
}

test('migrate makes the tables, and says so the second time', async () => {
  const env = await environment();
  expect(await runHere(['migrate'], env)).toEqual({
    status: 0,
    stdout: '',
    stderr: `the tables went from version 0 to ${SCHEMA_VERSION}\n`,
  });
  expect(await runHere(['migrate'], env)).toEqual({
    status: 0,
    stdout: '',
    stderr: `nothing to do: the tables have version ${SCHEMA_VERSION}\n`,
  });
});

test('migrate --dry-run prints statements that can be run', async () => {
  const env = await environment();
  const { status, stdout, stderr } = await runHere(['migrate', '--dry-run'], env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: `the tables would go from version 0 to ${SCHEMA_VERSION}\n` });
  expect(stdout).toMatch(new RegExp(`^CREATE [^]*;\\nINSERT INTO schema_versions SELECT ${SCHEMA_VERSION}, [^\\n]*;\\n$`));
  expect((await runHere(['migrate'], env)).stderr).toBe(`the tables went from version 0 to ${SCHEMA_VERSION}\n`);
});

test('migrate of an embedded store has nothing to do', async () => {
  expect(await runHere(['migrate'], {})).toMatchObject({
    status: 1,
    stderr: 'shieldlog: there is nothing to migrate: STORE is embedded, whose folder is migrated when it is opened\n',
  });
});

test('migrate fails in one line where the server is away, and where it refuses the password', async () => {
  const server = await breakableServer('someone', 'right');
  const env = { ...(await environment()), CLICKHOUSE_URL: server.url, CLICKHOUSE_USER: 'someone', CLICKHOUSE_PASSWORD: 'wrong' };
  const refused = await runHere(['migrate'], env);
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^shieldlog: ClickHouse refuses CLICKHOUSE_USER=someone with its password: [^\n]*\n$/);
  await server.goAway();
  const away = await runHere(['migrate'], env);
  expect(away.status).toBe(1);
  expect(away.stderr).toMatch(/^shieldlog: ClickHouse cannot be reached: http:\/\/127\.0\.0\.1:\d+: [^\n]*ECONNREFUSED[^\n]*\n$/);
});

test.each([
  { args: ['migrate', 'now'], says: "Unexpected argument 'now'; migrate takes only flags" },
  { args: ['migrate', '--dry'], says: "Unknown option '--dry'" },
])('$args is refused', async ({ args, says }) => {
  const { status, stderr } = await runHere(args);
  expect(status).toBe(2);
  expect(stderr).toContain(says);
});
