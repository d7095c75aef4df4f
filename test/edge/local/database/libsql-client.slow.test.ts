import { createClient } from '@libsql/client';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';

const CREATE_ITEM = 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB)';

let app: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp({}, { isProxied: true });
});

afterAll(() => app.stop());

beforeEach(async () => {
  await app.client(app.full).executeMultiple(`DROP TABLE IF EXISTS item; ${CREATE_ITEM}`);
});

const count = async (): Promise<unknown> => (await app.client(app.read).execute('SELECT count(*) FROM item')).rows[0]?.[0];

describe('a real client, through the proxy,', () => {
  test('may have its token in the URL', async () => {
    const client = createClient({ url: `${app.url}?authToken=${app.read}` });
    expect((await client.execute('SELECT 1')).rows[0]?.[0]).toBe(1);
    client.close();
  });

  test('inserts with positional arguments, and is told the rowid and how many', async () => {
    const result = await app.client(app.full).execute('INSERT INTO item (id, name) VALUES (?, ?), (?, ?)', [7, 'a', 8, 'b']);
    expect([result.rowsAffected, result.lastInsertRowid]).toEqual([2, 8n]);
  });

  test.each([
    [':name and $price', 'SELECT :name AS name, $price AS price'],
    ['@name and :price', 'SELECT @name AS name, :price AS price'],
  ])('binds named arguments to %s', async (_what, sql) => {
    const { rows } = await app.client(app.full).execute({ sql, args: { name: 'bolt', price: 2.5 } });
    expect(rows).toMatchObject([{ name: 'bolt', price: 2.5 }]);
  });

  test.each([
    ['the largest integer', 9223372036854775807n, 9223372036854775807n],
    ['the smallest integer', -9223372036854775808n, -9223372036854775808n],
    ['an integer past 2^53', 9007199254740993n, 9007199254740993n],
    ['a float', 0.1, 0.1],
    ['a whole float', 3, 3],
    ['the smallest float', 5e-324, 5e-324],
    ['text', 'héé ✓ 😀 " \\ \n', 'héé ✓ 😀 " \\ \n'],
    ['text that is empty', '', ''],
    ['text with a NUL inside', 'a\0b', 'a\0b'],
    ['null', null, null],
    ['true', true, 1n],
  ])('reads %s as it was written', async (_what, written, read) => {
    const client = app.client(app.full, { intMode: 'bigint' });
    const { rows } = await client.execute({ sql: 'SELECT ?', args: [written] });
    expect(rows[0]?.[0]).toBe(read);
    await client.execute('CREATE TABLE IF NOT EXISTS kept (value)');
    await client.execute({ sql: 'INSERT INTO kept VALUES (?)', args: [written] });
    const kept = await client.execute('SELECT value FROM kept');
    expect(kept.rows[0]?.[0]).toBe(read);
    await client.execute('DROP TABLE kept');
  });

  test.each([[[]], [[0]], [[0, 255]], [[1, 2, 3]]])('reads the blob %j as it was written', async (bytes) => {
    const { rows } = await app.client(app.full).execute({ sql: 'SELECT ?', args: [new Uint8Array(bytes)] });
    expect([...new Uint8Array(rows[0]?.[0] as ArrayBuffer)]).toEqual(bytes);
  });

  test('reads infinities, which JSON has no word for, as texts', async () => {
    const { rows } = await app.client(app.full).execute('SELECT 9e999, -9e999, -0.0');
    expect([rows[0]?.[0], rows[0]?.[1], rows[0]?.[2]]).toEqual(['Inf', '-Inf', -0]);
  });

  test('is told the columns, repeated names and declared types', async () => {
    const { columns, columnTypes } = await app.client(app.full).execute('SELECT id, price AS id, 1 FROM item');
    expect([columns, columnTypes]).toEqual([
      ['id', 'id', '1'],
      ['INTEGER', 'REAL', ''],
    ]);
  });

  test.each(['write', 'deferred'] as const)('writes a batch in mode %s whole or not at all', async (mode) => {
    const client = app.client(app.full);
    const results = await client.batch(
      ["INSERT INTO item (name) VALUES ('a')", { sql: 'INSERT INTO item (name) VALUES (?) RETURNING name', args: ['b'] }],
      mode,
    );
    expect([results[0]?.rowsAffected, results[1]?.rows[0]?.['name']]).toEqual([1, 'b']);
    const failing = client.batch(["INSERT INTO item (name) VALUES ('c')", "INSERT INTO item (name) VALUES ('a')"], mode);
    await expect(failing).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT' });
    expect(await count()).toBe(2);
  });

  test('reads in a batch in mode read, and writes nothing in one', async () => {
    const client = app.client(app.full);
    expect((await client.batch(['SELECT 1', 'SELECT 2'], 'read')).map(({ rows }) => rows[0]?.[0])).toEqual([1, 2]);
    await expect(client.batch(["INSERT INTO item (name) VALUES ('a')"], 'read')).rejects.toMatchObject({ code: 'SQLITE_READONLY' });
    expect(await count()).toBe(0);
  });

  test('migrates with foreign keys off', async () => {
    await app
      .client(app.full)
      .migrate(['CREATE TABLE IF NOT EXISTS child (item INTEGER REFERENCES item (id))', 'INSERT INTO child VALUES (99)']);
    await expect(app.client(app.full).execute('INSERT INTO child VALUES (98)')).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT' });
    await app.client(app.full).execute('DROP TABLE child');
  });

  test('commits an interactive transaction that read what it wrote', async () => {
    const transaction = await app.client(app.full).transaction('write');
    await transaction.execute("INSERT INTO item (name) VALUES ('a')");
    expect((await transaction.execute('SELECT name FROM item')).rows[0]?.['name']).toBe('a');
    expect(await count()).toBe(0);
    await transaction.commit();
    expect(await count()).toBe(1);
  });

  test('rolls an interactive transaction back', async () => {
    const transaction = await app.client(app.full).transaction('deferred');
    await transaction.batch(["INSERT INTO item (name) VALUES ('a')", "INSERT INTO item (name) VALUES ('b')"]);
    await transaction.rollback();
    expect(await count()).toBe(0);
  });

  test('runs a script inside a transaction, and closing it undoes the script', async () => {
    const transaction = await app.client(app.full).transaction('write');
    await transaction.executeMultiple("INSERT INTO item (name) VALUES ('a'); INSERT INTO item (name) VALUES ('b;c')");
    expect((await transaction.execute('SELECT count(*) FROM item')).rows[0]?.[0]).toBe(2);
    transaction.close();
    await eventually('the lock is free', async () => (await app.run(app.full, 'BEGIN IMMEDIATE')).body.results[0].type === 'ok');
    expect(await count()).toBe(0);
  });

  test('has a reading transaction that sees one state of the data and writes nothing', async () => {
    const transaction = await app.client(app.full).transaction('read');
    expect((await transaction.execute('SELECT count(*) FROM item')).rows[0]?.[0]).toBe(0);
    await app.client(app.full).execute("INSERT INTO item (name) VALUES ('a')");
    expect((await transaction.execute('SELECT count(*) FROM item')).rows[0]?.[0]).toBe(0);
    await expect(transaction.execute("INSERT INTO item (name) VALUES ('b')")).rejects.toMatchObject({ code: 'SQLITE_READONLY' });
    transaction.close();
    expect(await count()).toBe(1);
  });

  test('finds a transaction that it left alone expired and undone', async () => {
    const impatient = await startDatabaseApp({ idleMs: 100 }, { isProxied: true });
    onTestFinished(() => impatient.stop());
    const client = impatient.client(impatient.full);
    await client.executeMultiple(CREATE_ITEM);
    const transaction = await client.transaction('write');
    await transaction.execute("INSERT INTO item (name) VALUES ('a')");
    await eventually(
      'the lock is free',
      async () => (await impatient.run(impatient.full, 'BEGIN IMMEDIATE')).body.results[0].type === 'ok',
    );
    await expect(transaction.commit()).rejects.toMatchObject({ code: 'STREAM_EXPIRED' });
    expect((await client.execute('SELECT count(*) FROM item')).rows[0]?.[0]).toBe(0);
  });

  test('runs a script with triggers, comments and semicolons in strings', async () => {
    await app.client(app.full).executeMultiple(`
      -- a comment; with a semicolon
      CREATE TRIGGER twice AFTER INSERT ON item WHEN new.name NOT LIKE '%!' BEGIN
        INSERT INTO item (name) VALUES (new.name || ';!');
        SELECT 1;
      END;
      /* INSERT INTO item (name) VALUES ('no'); */
      INSERT INTO item (name) VALUES ('a;b');;
      INSERT INTO item (name) VALUES ('c') -- no semicolon at the end`);
    const { rows } = await app.client(app.read).execute('SELECT name FROM item ORDER BY name');
    expect(rows.map((row) => row['name'])).toEqual(['a;b', 'a;b;!', 'c', 'c;!']);
  });

  test('runs a script of thousands of statements, and stops at the first that fails', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `INSERT INTO item (name) VALUES ('${'x'.repeat(index % 90)};${index}');`);
    await app.client(app.full).executeMultiple(`BEGIN;${lines.join('\n')}COMMIT;`);
    expect(await count()).toBe(5_000);
    const failing = app
      .client(app.full)
      .executeMultiple("INSERT INTO item (name) VALUES ('one'); nonsense; INSERT INTO item (name) VALUES ('two')");
    await expect(failing).rejects.toMatchObject({ code: 'SQL_PARSE_ERROR' });
    expect(await count()).toBe(5_001);
  });

  test.each([
    ['SELEC 1', 'SQL_PARSE_ERROR'],
    ['SELECT', 'SQL_PARSE_ERROR'],
    ['', 'SQL_NO_STATEMENT'],
    ['-- nothing', 'SQL_NO_STATEMENT'],
    ['SELECT 1; SELECT 2', 'SQL_MANY_STATEMENTS'],
    ['SELECT ?', 'ARGS_INVALID'],
    ['SELECT * FROM nowhere', 'SQLITE_ERROR'],
    ["INSERT INTO item (id, name) VALUES (1, 'a'), (1, 'b')", 'SQLITE_CONSTRAINT'],
    ["SELECT json('{')", 'SQLITE_ERROR'],
    ["ATTACH '/tmp/other' AS other", 'SQLITE_AUTH'],
  ])('is told what is wrong with %j: %s', async (sql, code) => {
    await expect(app.client(app.full).execute(sql)).rejects.toMatchObject({ code });
  });

  test('runs twenty statements at once on fewer processes', async () => {
    const client = app.client(app.full);
    await Promise.all(Array.from({ length: 20 }, (_, index) => client.execute('INSERT INTO item (name) VALUES (?)', [`n${index}`])));
    expect(await count()).toBe(20);
  });

  test('with an invalid token is told so', async () => {
    await expect(app.client('wrong').execute('SELECT 1')).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });
});
