import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../query/durations.ts';
import { migrateSchema } from '../../store/clickhouse/schema.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import { StoreSettings } from '../../store/clickhouse/store-settings.ts';
import { silentLogger } from '../../store/event-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { killAll, runCli } from '../src/cli/cli-process.ts';
import { lastHour, search } from '../src/running-app.ts';
import { event, NOW } from '../store/embedded/stored-events.ts';
import { breakableServer, clickhouseUrl, testDatabase } from './engine.ts';
import { programOn, readiness } from './faults/program-on.ts';
import { PLACES, sharedStore } from './shared-store.ts';

afterEach(killAll);

const OWN = { RETENTION_HOURS: '72', DEAD_LETTER_DAYS: '7', DEAD_LETTER_MAX_MB: '1024', CLICKHOUSE_USER: 'default' };

const ADVICE = "all of its programs have the same, which 'shieldlog clickhouse settings' shows and changes";

const SETTINGS = 'SELECT name, value FROM store_settings FINAL ORDER BY name';

describe.each(PLACES)('of the programs of a store on %s', (place) => {
  test('the first one writes its settings, and one with others does not start', async () => {
    const shared = await sharedStore(undefined, place);
    await shared.open({ deadLetterRetentionMs: 3 * DAY_MS, deadLetterQuotaBytes: 5 * 1024 ** 2 });
    expect(await shared.rows(SETTINGS)).toEqual([
      ['CLICKHOUSE_USER', 'default'],
      ['DEAD_LETTER_DAYS', '3'],
      ['DEAD_LETTER_MAX_MB', '5'],
      ['RETENTION_HOURS', '72'],
    ]);
    const { database } = shared.address;
    await expect(shared.open({ deadLetterRetentionMs: 4 * DAY_MS, deadLetterQuotaBytes: 5 * 1024 ** 2 })).rejects.toThrow(
      `the store in CLICKHOUSE_DATABASE=${database} has DEAD_LETTER_DAYS=3, and this program DEAD_LETTER_DAYS=4: ${ADVICE}`,
    );
    await shared.open({ deadLetterRetentionMs: 3 * DAY_MS, deadLetterQuotaBytes: 5 * 1024 ** 2 });
  });

  test('that start at once with other settings one is the first, and the others are refused', async () => {
    const shared = await sharedStore(undefined, place);
    const hours = Array.from({ length: 6 }, (_, index) => index + 1);
    const opened = await Promise.allSettled(hours.map((hour) => shared.open({ retentionMs: hour * HOUR_MS })));
    const first = opened.findIndex(({ status }) => status === 'fulfilled') + 1;
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await shared.rows(SETTINGS)).at(-1)).toEqual(['RETENTION_HOURS', String(first)]);
  });
});

test('a program whose first settings come in behind those of another one is refused', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const fault = await server.break({ kind: 'hold', at: 'before', matching: 'INSERT INTO store_settings' });
  const late = shared.open({ retentionMs: HOUR_MS });
  late.catch(() => {});
  await server.held(fault);
  await shared.open({ retentionMs: 2 * HOUR_MS }, clickhouseUrl());
  await server.mend(fault);
  await expect(late).rejects.toThrow('has RETENTION_HOURS=2, and this program RETENTION_HOURS=1');
});

test.each(Object.keys(OWN) as (keyof typeof OWN)[])('%s is compared', async (name) => {
  const { address } = await sharedStore();
  await migrateSchema(address);
  const client = new ClickhouseClient(address);
  onTestFinished(() => client.close());
  const { database } = address;
  const settingsWith = (own: typeof OWN) => new StoreSettings({ client, database, cluster: null, own, logger: silentLogger });
  await settingsWith(OWN).claim();
  await settingsWith(OWN).claim();
  await expect(settingsWith({ ...OWN, [name]: '9' }).claim()).rejects.toThrow(
    `the store in CLICKHOUSE_DATABASE=${database} has ${name}=${OWN[name]}, and this program ${name}=9: ${ADVICE}`,
  );
});

test('a program whose settings are changed under it drops nothing and says so, until they are its own again', async () => {
  const shared = await sharedStore();
  const store = await shared.open();
  const old = ['a', 'b', 'c'].map((logId) => event(logId, NOW - 5 * DAY_MS));
  await store.append(canonicalBatch([...old, event('new', NOW)]));
  await shared.run("INSERT INTO store_settings SELECT 'RETENTION_HOURS', '1000', max(changedAt) + 1 FROM store_settings");
  await store.dropExpiredNow();
  expect((await store.stats()).events).toBe(4);
  const told = `nothing is dropped: the store in CLICKHOUSE_DATABASE=${shared.address.database} has RETENTION_HOURS=1000, and this program`;
  expect(store.notes()).toContain(`${told} RETENTION_HOURS=72: ${ADVICE}`);
  await expect.poll(() => store.reasonsNotReady()).toEqual([]);
  await shared.run("INSERT INTO store_settings SELECT 'RETENTION_HOURS', '72', max(changedAt) + 1 FROM store_settings");
  await store.dropExpiredNow();
  expect(store.notes().join()).not.toContain('nothing is dropped');
  expect((await store.stats()).events).toBe(1);
});

test('a program that was started before its server answers 503, and says why, as long as it has other settings', async () => {
  const server = await breakableServer();
  const { name: database } = await testDatabase();
  await (await programOn([clickhouseUrl()], { database, env: { RETENTION_HOURS: '24' } })).stop();
  await server.goAway();
  const program = await programOn([server.url], { database });
  await server.comeBack();
  const line = `the store in CLICKHOUSE_DATABASE=${database} has RETENTION_HOURS=24, and this program RETENTION_HOURS=72: ${ADVICE}`;
  await expect.poll(() => readiness(program)).toEqual({ status: 503, reasons: [`store: ${line}`] });
  expect((await search(program, lastHour())).status).toBe(503);
});

test('serve with other settings than those of the store ends with status 2', async () => {
  const { name: database } = await testDatabase();
  const env = { STORE: 'clickhouse', CLICKHOUSE_URL: clickhouseUrl(), CLICKHOUSE_DATABASE: database };
  await (await programOn([clickhouseUrl()], { database })).stop();
  const { status, stderr } = await runCli(['serve', '--port', '0', '--data-dir', temporaryFolder(), '--dead-letter-max-mb', '7'], env);
  expect([status, stderr.trimEnd().split('\n').at(-1)]).toEqual([
    2,
    `shieldlog: the store in CLICKHOUSE_DATABASE=${database} has DEAD_LETTER_MAX_MB=1024, and this program DEAD_LETTER_MAX_MB=7: ${ADVICE}`,
  ]);
});
