import { expect, onTestFinished, test } from 'vitest';
import { foldTextFunction } from '../../sql/fold-text.ts';
import { migrateSchema, SCHEMA_VERSION } from '../../store/clickhouse/schema.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import type { ClickhouseAddress } from '../../store/clickhouse/server/connection.ts';
import { answerOf, breakableServer, clickhouseUrl, testDatabase } from './engine.ts';

async function addressOf(url = clickhouseUrl()): Promise<ClickhouseAddress> {
  const { name } = await testDatabase(url);
  return { urls: [url], user: 'default', password: '', database: name };
}

function clientOf(address: ClickhouseAddress): ClickhouseClient {
  const client = new ClickhouseClient(address);
  onTestFinished(() => client.close());
  return client;
}

const plain = (text: string) => ({ text, params: [] });

async function tablesOf(address: ClickhouseAddress): Promise<readonly unknown[]> {
  const client = clientOf(address);
  const statement = plain(`SELECT name FROM system.tables WHERE database = '${address.database}' ORDER BY name`);
  return (await client.read(statement)).rows.map(([name]) => name);
}

const TABLES = [
  'events_local',
  'expired_watermarks',
  'letters',
  'removed_letters',
  'schema_versions',
  'source_offsets',
  'store_clock',
  'store_identity',
  'store_settings',
];

test('a migration makes the tables, and a second one has nothing to do', async () => {
  const address = await addressOf();
  expect(await migrateSchema(address)).toMatchObject({ from: 0, to: SCHEMA_VERSION });
  expect(await tablesOf(address)).toEqual(TABLES);
  expect(await migrateSchema(address)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION, statements: [] });
});

test('a dry run tells the statements that a migration runs, and changes nothing', async () => {
  const address = await addressOf();
  const told = await migrateSchema(address, { isDryRun: true });
  expect(await tablesOf(address)).toEqual([]);
  const done = await migrateSchema(address);
  const withoutNumber = ({ statements }: typeof done) => statements.map((one) => one.replace(/COMMENT '\d+'/, ''));
  expect(withoutNumber(told)).toEqual(withoutNumber(done));
  expect(await migrateSchema(address, { isDryRun: true })).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION, statements: [] });
});

test('whoever may not make databases and tables can use those that somebody else has made', async () => {
  const server = await breakableServer();
  const address = await addressOf(server.url);
  await migrateSchema(address);
  await server.break({ kind: 'refuse', code: 497, name: 'ACCESS_DENIED', message: 'Not enough privileges', matching: '^CREATE' });
  expect(await migrateSchema(address)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION, statements: [] });
});

test('a dry run of a database that is not there makes none', async () => {
  const { name, drop, url } = await testDatabase();
  await drop();
  const address = { urls: [url], user: 'default', password: '', database: name };
  expect((await migrateSchema(address, { isDryRun: true })).statements[0]).toBe(`CREATE DATABASE IF NOT EXISTS \`${name}\``);
  expect((await migrateSchema(address, { isDryRun: true })).from).toBe(0);
});

test('a store whose function was dropped says so, and the next program makes it again', async () => {
  // Functions belong to the whole server, so that only an answer may say that this one is gone.
  const server = await breakableServer();
  const address = await addressOf(server.url);
  await migrateSchema(address);
  const { name } = foldTextFunction();
  const unknown = { code: 46, name: 'UNKNOWN_FUNCTION', message: `Function with name ${name} does not exist` };
  const fault = await server.break({ kind: 'refuse', ...unknown, matching: `^SELECT ${name}` });
  expect(await migrateSchema(address)).toEqual({
    from: SCHEMA_VERSION,
    to: SCHEMA_VERSION,
    statements: [expect.stringMatching(`^CREATE FUNCTION IF NOT EXISTS ${name} AS `)],
  });
  await server.mend(fault);
  expect(await migrateSchema(address)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION, statements: [] });
  await expect(clientOf(address).read(plain("SELECT foldText_of_another('A')"))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`the tables in CLICKHOUSE_DATABASE=${address.database}, or their function, are not there: `),
  });
});

test('several migrations at once make one store', async () => {
  const address = await addressOf();
  await Promise.all(Array.from({ length: 5 }, () => migrateSchema(address)));
  const client = clientOf(address);
  const ids = await Promise.all(Array.from({ length: 5 }, () => client.storeId()));
  expect(new Set([...ids, await client.storeId()]).size).toBe(1);
  expect(await tablesOf(address)).toEqual(TABLES);
});

test('a schema of a later program is refused, and left as it is', async () => {
  const address = await addressOf();
  await migrateSchema(address);
  await clientOf(address).run(plain(`INSERT INTO schema_versions SELECT ${SCHEMA_VERSION + 1}, 0`));
  const what = `the schema in CLICKHOUSE_DATABASE has version ${SCHEMA_VERSION + 1}, and this program knows ${SCHEMA_VERSION} at most`;
  await expect(migrateSchema(address)).rejects.toThrow(`${what}: run the program that made it, or a later one`);
});

test.each(['26.6.9.1', '25.12.1.1'])('a server of version %s is refused', async (version) => {
  const server = await breakableServer();
  const address = await addressOf(server.url);
  await server.break({
    kind: 'answer',
    text: answerOf(['String', 'String', 'Array(String)'], [[version, '', []]]),
    matching: String.raw`version\(\)`,
  });
  await expect(migrateSchema(address)).rejects.toThrow(`ClickHouse at ${server.url} has version ${version}; allowed: 26.7 or later`);
  expect(await tablesOf({ ...address, urls: [clickhouseUrl()] })).toEqual([]);
});

test.each(['26.7.1.1', '26.10.0.0', '27.1.0.0'])('a server of version %s is taken', async (version) => {
  const server = await breakableServer();
  const address = await addressOf(server.url);
  await server.break({
    kind: 'answer',
    text: answerOf(['String', 'String', 'Array(String)'], [[version, '', []]]),
    matching: String.raw`version\(\)`,
  });
  expect(await migrateSchema(address)).toMatchObject({ to: SCHEMA_VERSION });
});

test('what is acknowledged is synced, in every table but that of the source offsets', async () => {
  const address = await addressOf();
  await migrateSchema(address);
  const synced = `engine_full LIKE '%fsync_after_insert = 1, fsync_part_directory = 1%'`;
  const statement = plain(`SELECT name FROM system.tables WHERE database = '${address.database}' AND ${synced} ORDER BY name`);
  const { rows } = await clientOf(address).read(statement);
  expect(rows.flat()).toEqual(['events_local', 'expired_watermarks', 'letters', 'removed_letters', 'store_clock', 'store_settings']);
});
