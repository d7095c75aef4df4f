// What applications do with the database by four clients of JavaScript: `node checks.mjs URL TOKEN` ends with status 1 where one of the
// checks fails. A check has a table of its own.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as hrana from '@libsql/hrana-client';
import { connect } from '@tursodatabase/serverless';
import knex from 'knex';
import { createClient } from 'libsql-stateless-easy';

const [url, token] = process.argv.slice(2);
const LARGE = 9223372036854775807n;
const BYTES = new Uint8Array([0, 1, 255]);
let failed = 0;

async function check(name, work) {
  try {
    await work();
    console.log(`passed: ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`failed: ${name}: ${error.stack}`);
  }
}

// hrana-client, which speaks version 3 in Protobuf alone, and else version 2
const client = hrana.openHttp(url, token);
const stream = client.openStream();
stream.intMode = 'bigint';
await stream.sequence('CREATE TABLE h (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB); CREATE TABLE hh (a);');

await check('hrana-client runs a statement with arguments', async () => {
  const result = await stream.run(['INSERT INTO h (name, price, picture) VALUES (?, ?, ?)', ['bolt', 2.5, BYTES.buffer]]);
  assert.deepEqual([result.affectedRowCount, result.lastInsertRowid], [1, 1n]);
});
await check('hrana-client reads integers of 64 bits, blobs, floats and null', async () => {
  const { row } = await stream.queryRow(['SELECT ?, picture, price, NULL FROM h', [LARGE]]);
  assert.deepEqual([row[0], new Uint8Array(row[1]), row[2], row[3]], [LARGE, BYTES, 2.5, null]);
});
await check('hrana-client commits a batch by conditions', async () => {
  const batch = stream.batch(false);
  const [begin, insert, commit] = [batch.step(), batch.step(), batch.step()];
  const results = [
    begin.run('BEGIN'),
    insert.condition(hrana.BatchCond.ok(begin)).run("INSERT INTO h (name) VALUES ('nut')"),
    commit.condition(hrana.BatchCond.ok(insert)).run('COMMIT'),
  ];
  await batch.execute();
  assert.deepEqual(
    (await Promise.all(results)).map((result) => result.affectedRowCount),
    [0, 1, 0],
  );
});
await check('hrana-client is told the error of a step', async () => {
  const batch = stream.batch(false);
  const failing = batch.step();
  const wrong = failing.run("INSERT INTO h (name) VALUES ('bolt')");
  const after = batch.step().condition(hrana.BatchCond.error(failing)).queryValue('SELECT count(*) FROM h');
  await Promise.all([batch.execute(), assert.rejects(wrong, { code: 'SQLITE_CONSTRAINT' })]);
  assert.equal((await after).value, 2n);
});
await check('hrana-client keeps SQL texts and describes them', async () => {
  const sql = stream.storeSql('SELECT :a AS b');
  const { paramNames, columns } = await stream.describe(sql);
  const { value } = await stream.queryValue([sql, { a: 'x' }]);
  assert.deepEqual([paramNames, columns[0].name, value], [[':a'], 'b', 'x']);
  sql.close();
});
await check('hrana-client rolls back when its stream is closed', async () => {
  const other = client.openStream();
  await other.run('BEGIN');
  await other.run('INSERT INTO hh VALUES (1)');
  other.closeGracefully();
  assert.equal((await stream.queryValue('SELECT count(*) FROM hh')).value, 0n);
});
client.close();

// libsql-stateless-easy
const easy = createClient({ url, authToken: token, intMode: 'bigint' });
await check('libsql-stateless-easy runs a script', () =>
  easy.executeMultiple('CREATE TABLE e (id INTEGER PRIMARY KEY, name TEXT UNIQUE, picture BLOB); CREATE INDEX e_name ON e (name);'),
);
await check('libsql-stateless-easy runs statements with positional and named arguments', async () => {
  await easy.execute({ sql: 'INSERT INTO e (id, name, picture) VALUES (?, ?, ?)', args: [LARGE, 'bolt', BYTES] });
  const { rows } = await easy.execute({
    sql: 'SELECT id, name, picture, NULL AS missing FROM e WHERE name = :name',
    args: { name: 'bolt' },
  });
  assert.deepEqual([rows[0].id, new Uint8Array(rows[0].picture), rows[0][3] ?? null], [LARGE, BYTES, null]);
});
await check('libsql-stateless-easy writes a batch whole or not at all', async () => {
  await easy.batch(["INSERT INTO e (id, name) VALUES (1, 'nut')", 'SELECT 1'], 'write');
  await assert.rejects(easy.batch(["INSERT INTO e (id, name) VALUES (2, 'a')", "INSERT INTO e (id, name) VALUES (3, 'nut')"], 'write'));
  assert.equal((await easy.execute('SELECT count(*) FROM e')).rows[0][0], 2n);
});
await check('libsql-stateless-easy is told what is wrong', () =>
  assert.rejects(easy.execute('SELECT missing FROM e'), /no such column: missing/),
);

// @tursodatabase/serverless
const connection = connect({ url, authToken: token });
await check('serverless runs a script', () => connection.exec('CREATE TABLE s (id INTEGER PRIMARY KEY, name TEXT UNIQUE, picture BLOB)'));
await check('serverless runs prepared statements with arguments', async () => {
  const insert = await connection.prepare('INSERT INTO s (name, picture) VALUES (?, ?)');
  assert.equal((await insert.run(['bolt', BYTES])).changes, 1);
  const select = await connection.prepare('SELECT name, picture, NULL AS none FROM s WHERE name = ?');
  const row = await select.get(['bolt']);
  assert.deepEqual([row.name, new Uint8Array(row.picture), row.none], ['bolt', BYTES, null]);
});
await check('serverless reads integers of 64 bits', async () => {
  const statement = await connection.prepare('SELECT 9223372036854775807 AS large');
  statement.safeIntegers(true);
  assert.equal((await statement.get()).large, LARGE);
});
await check('serverless streams rows', async () => {
  const found = [];
  for await (const { i } of connection.iterate(
    'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT i FROM n',
  ))
    found.push(i);
  assert.deepEqual([found.length, found.at(-1)], [500, 500]);
});
await check('serverless commits a transaction, and rolls one back that throws', async () => {
  await connection.transaction(async () => connection.exec("INSERT INTO s (name) VALUES ('nut')"))();
  const undone = connection.transaction(async () => {
    await connection.exec("INSERT INTO s (name) VALUES ('gone')");
    throw new Error('on purpose');
  });
  await assert.rejects(undone(), /on purpose/);
  assert.equal((await connection.get('SELECT count(*) AS found FROM s')).found, 2);
});
await check('serverless is told what is wrong, and goes on', async () => {
  await assert.rejects(connection.exec("INSERT INTO s (name) VALUES ('bolt')"), /UNIQUE constraint failed: s.name/);
  await assert.rejects(connection.get('SELECT missing FROM s'), /no such column: missing/);
  assert.equal((await connection.get('SELECT 1 AS one')).one, 1);
});
await connection.close();

// knex-libsql
const database = knex({
  client: createRequire(import.meta.url)('@libsql/knex-libsql'),
  connection: { filename: `${url.replace('http:', 'libsql:')}?tls=0&authToken=${token}` },
  useNullAsDefault: true,
});
await check('knex-libsql makes a table', () =>
  database.schema.createTable('k', (table) => {
    table.increments('id');
    table.string('name').unique();
    table.binary('picture');
  }),
);
await check('knex-libsql inserts and selects', async () => {
  assert.deepEqual(await database('k').insert({ name: 'bolt', picture: Buffer.from(BYTES) }), [1]);
  const [row] = await database('k').where({ name: 'bolt' });
  assert.deepEqual([row.id, row.name, new Uint8Array(row.picture)], [1, 'bolt', BYTES]);
});
await check('knex-libsql commits a transaction, and rolls one back that throws', async () => {
  await database.transaction((transaction) => transaction('k').insert({ name: 'nut' }));
  await assert.rejects(
    database.transaction(async (transaction) => {
      await transaction('k').insert({ name: 'gone' });
      throw new Error('on purpose');
    }),
    /on purpose/,
  );
  assert.deepEqual(await database('k').count('* as found'), [{ found: 2 }]);
});
await check('knex-libsql is told what is wrong', () => assert.rejects(database('k').insert({ name: 'bolt' }), /UNIQUE constraint failed/));
await database.destroy();

process.exitCode = failed === 0 ? 0 : 1;
