import { expect, test } from 'vitest';
import { runHere } from '../src/cli/command-run.ts';
import { clickhouseUrl, testDatabase } from './engine.ts';
import { programOn } from './faults/program-on.ts';

async function environment() {
  const { name } = await testDatabase();
  return { STORE: 'clickhouse', CLICKHOUSE_URL: clickhouseUrl(), CLICKHOUSE_DATABASE: name };
}

const FIRST = 'CLICKHOUSE_USER=default\nDEAD_LETTER_DAYS=7\nDEAD_LETTER_MAX_MB=1024\nRETENTION_HOURS=72\n';

test('the settings of a store are shown and changed, and its programs start with the new ones', async () => {
  const env = await environment();
  const { CLICKHOUSE_DATABASE: database } = env;
  await (await programOn([clickhouseUrl()], { database })).stop();
  expect(await runHere(['clickhouse', 'settings'], env)).toEqual({ status: 0, stdout: FIRST, stderr: '' });
  const changed = await runHere(['clickhouse', 'settings', 'RETENTION_HOURS=048'], env);
  expect(changed).toEqual({ status: 0, stdout: FIRST.replace('=72', '=48'), stderr: '' });
  await expect(programOn([clickhouseUrl()], { database })).rejects.toThrow('has RETENTION_HOURS=48, and this program RETENTION_HOURS=72: ');
  await programOn([clickhouseUrl()], { database, env: { RETENTION_HOURS: '48' } });
  expect((await runHere(['clickhouse', 'settings', 'CLICKHOUSE_USER=a=b'], env)).stdout).toContain('CLICKHOUSE_USER=a=b\n');
});

test('a store that no program has served has none, and none to change', async () => {
  const env = await environment();
  await runHere(['migrate'], env);
  const none = { status: 0, stdout: '', stderr: 'the first program that serves the store writes its settings; none has yet\n' };
  expect(await runHere(['clickhouse', 'settings'], env)).toEqual(none);
  const { status, stderr } = await runHere(['clickhouse', 'settings', 'RETENTION_HOURS=48'], env);
  const told = `no program has served the store in CLICKHOUSE_DATABASE=${env.CLICKHOUSE_DATABASE} yet`;
  expect({ status, stderr }).toEqual({ status: 1, stderr: `shieldlog: ${told}: the first one writes its own settings\n` });
});

test('a database without a store is named', async () => {
  const env = await environment();
  const { status, stderr } = await runHere(['clickhouse', 'settings'], env);
  expect(status).toBe(1);
  expect(stderr).toContain(`the tables in CLICKHOUSE_DATABASE=${env.CLICKHOUSE_DATABASE}, or their function, are not there: `);
});

const NEEDS = 'clickhouse takes settings, and after it at most one NAME=VALUE';
const NAMES = 'RETENTION_HOURS, DEAD_LETTER_DAYS, DEAD_LETTER_MAX_MB, CLICKHOUSE_USER';

test.each([
  { args: [], says: NEEDS },
  { args: ['setting'], says: `'setting' is not allowed; ${NEEDS}` },
  { args: ['settings', 'RETENTION_HOURS=1', 'DEAD_LETTER_DAYS=1'], says: `Unexpected argument 'DEAD_LETTER_DAYS=1'; ${NEEDS}` },
  { args: ['settings', 'PORT=80'], says: `'PORT' is no setting of a store; allowed: ${NAMES}` },
  {
    args: ['settings', 'retention_hour=5'],
    says: `'retention_hour' is no setting of a store; allowed: ${NAMES}; did you mean RETENTION_HOURS?`,
  },
  { args: ['settings', '=5'], says: `'' is no setting of a store; allowed: ${NAMES}` },
  { args: ['settings', 'RETENTION_HOURS'], says: 'RETENTION_HOURS has no value; allowed: RETENTION_HOURS=VALUE' },
  { args: ['settings', 'RETENTION_HOURS='], says: 'RETENTION_HOURS has no value; allowed: RETENTION_HOURS=VALUE' },
  { args: ['settings', 'RETENTION_HOURS=0'], says: 'RETENTION_HOURS="0" is not allowed; allowed: a whole number 1..8760' },
  { args: ['settings', 'DEAD_LETTER_DAYS=1.5'], says: 'DEAD_LETTER_DAYS="1.5" is not allowed; allowed: a whole number 1..365' },
  { args: ['settings', 'DEAD_LETTER_MAX_MB=-1'], says: 'DEAD_LETTER_MAX_MB="-1" is not allowed; allowed: a whole number 1..1048576' },
  { args: ['settings', 'CLICKHOUSE_USER= '], says: 'CLICKHOUSE_USER=" " is not allowed; allowed: a user of ClickHouse' },
  { args: ['settings', '--retention-hours', '5'], says: "Unknown option '--retention-hours'" },
])('clickhouse $args is refused', async ({ args, says }) => {
  const { status, stderr } = await runHere(['clickhouse', ...args], { STORE: 'clickhouse', CLICKHOUSE_URL: 'http://127.0.0.1:1' });
  expect([status, stderr]).toEqual([2, `shieldlog: ${says}\n`]);
});

test('an embedded store has no such settings', async () => {
  expect(await runHere(['clickhouse', 'settings'])).toMatchObject({
    status: 1,
    stderr: 'shieldlog: there are no settings of a store to look at: STORE is embedded, which has one program\n',
  });
});
