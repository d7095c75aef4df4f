import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';

let app: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp();
  await app.client(app.full).executeMultiple(`
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE log (line TEXT);
    CREATE VIEW named AS SELECT name FROM item;
    CREATE TRIGGER through INSTEAD OF INSERT ON named BEGIN INSERT INTO item (name) VALUES (new.name); END;
    CREATE VIRTUAL TABLE words USING fts5(word);
    INSERT INTO words VALUES ('hello');
    INSERT INTO item (name) VALUES ('one')`);
});

afterAll(() => app.stop());

/** Every file of DATA_DIR with what is in it; SQLite's shared memory holds only locks. */
function files(): Readonly<Record<string, string>> {
  const names = readdirSync(app.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => !name.endsWith('-shm'));
  return Object.fromEntries(
    names.sort().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(app.dataDir, name)))
        .digest('hex'),
    ]),
  );
}

const outside = (name: string): string => join(app.dataDir, '..', `${name}-${process.pid}.sqlite`);

const WRITES: readonly string[] = [
  "INSERT INTO item (name) VALUES ('x')",
  "WITH more (name) AS (SELECT 'x') INSERT INTO item (name) SELECT name FROM more",
  "INSERT INTO item (name) VALUES ('x') RETURNING id",
  "/* SELECT */ -- SELECT\n INSERT INTO item (name) VALUES ('x')",
  "INSERT INTO named VALUES ('x')",
  "INSERT INTO words (words) VALUES ('optimize')",
  "REPLACE INTO item VALUES (1, 'x')",
  "UPDATE item SET name = 'x'",
  'DELETE FROM item',
  'CREATE TABLE other (a)',
  'CREATE TABLE other AS SELECT 1',
  'CREATE TEMP TABLE other (a)',
  'CREATE TEMP VIEW other AS SELECT 1',
  'CREATE TRIGGER other AFTER INSERT ON item BEGIN SELECT 1; END',
  'CREATE TEMP TRIGGER other AFTER INSERT ON item BEGIN SELECT 1; END',
  'CREATE INDEX other ON item (name)',
  'CREATE VIRTUAL TABLE other USING fts5(a)',
  'ALTER TABLE item ADD COLUMN other',
  'DROP TABLE item',
  'DROP VIEW named',
  'ANALYZE',
  'REINDEX',
  'PRAGMA user_version = 7',
  'PRAGMA main.application_id(7)',
  'PRAGMA journal_mode = DELETE',
  'PRAGMA writable_schema = 1',
  'PRAGMA query_only = 0',
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'PRAGMA optimize',
  'PRAGMA incremental_vacuum',
  "PRAGMA temp_store_directory = '/tmp'",
  'EXPLAIN DELETE FROM item',
  "SELECT load_extension('/tmp/x')",
  'DETACH main',
];

describe('a Read Only token', () => {
  test.each([
    'SELECT * FROM item',
    'WITH a AS (SELECT 1) SELECT * FROM a, item',
    "SELECT * FROM words WHERE words MATCH 'hello'",
    'PRAGMA table_info(item)',
    'PRAGMA user_version',
    'PRAGMA foreign_key_check',
    'PRAGMA read_uncommitted',
    'PRAGMA database_list',
    "SELECT name FROM pragma_table_info('item')",
    'EXPLAIN QUERY PLAN SELECT * FROM item',
    'VALUES (1), (2)',
    'BEGIN',
    'BEGIN IMMEDIATE',
    'SAVEPOINT a',
    'SELECT * FROM item ORDER BY random()',
  ])('may run %s', async (sql) => {
    const { status, body } = await app.run(app.read, sql);
    expect([status, body.results[0].type]).toEqual([200, 'ok']);
  });

  test.each(WRITES)('is refused as a whole, and writes nothing: %s', async (sql) => {
    const before = files();
    for (const requests of [
      [
        { type: 'execute', stmt: { sql: 'SELECT 1' } },
        { type: 'execute', stmt: { sql } },
      ],
      [
        { type: 'execute', stmt: { sql: 'BEGIN IMMEDIATE' } },
        { type: 'execute', stmt: { sql } },
        { type: 'execute', stmt: { sql: 'COMMIT' } },
      ],
      [{ type: 'execute', stmt: { sql: `SELECT 1; ${sql}` } }],
      [{ type: 'sequence', sql: `SELECT 1;; ${sql}; SELECT 2` }],
      [{ type: 'batch', batch: { steps: [{ stmt: { sql: 'SELECT 1' } }, { stmt: { sql }, condition: { type: 'ok', step: 0 } }] } }],
      [
        { type: 'store_sql', sql_id: 1, sql },
        { type: 'execute', stmt: { sql_id: 1 } },
      ],
    ]) {
      const { status, body, contentType } = await app.pipeline(app.read, { requests });
      expect([status, contentType, body]).toEqual([
        403,
        'application/json',
        { error: body.message, message: expect.stringContaining('Read Only'), code: expect.stringMatching(/^SQLITE_(READONLY|AUTH)$/) },
      ]);
    }
    expect(files()).toEqual(before);
  });

  test.each([
    ['VACUUM', 403],
    // The engine refuses this to everybody, before it asks what the token may do.
    ["UPDATE sqlite_master SET sql = 'x'", 200],
  ])('writes nothing with %s', async (sql, expected) => {
    const before = files();
    const { status, body } = await app.run(app.read, sql);
    expect([status, body.results?.[0].type]).toEqual([expected, expected === 200 ? 'error' : undefined]);
    expect(files()).toEqual(before);
  });

  test('may have a write described, which does not run it', async () => {
    const { body } = await app.pipeline(app.read, { requests: [{ type: 'describe', sql: 'DELETE FROM item' }] });
    expect(body.results[0].response.result).toMatchObject({ is_readonly: false });
    expect((await app.run(app.read, 'SELECT count(*) FROM item')).body.results[0].response.result.rows[0][0].value).toBe('1');
  });

  test('leaves a write that the condition of its step skips alone', async () => {
    const steps = [{ stmt: { sql: 'SELECT 1' } }, { stmt: { sql: 'DELETE FROM item' }, condition: { type: 'error', step: 0 } }];
    const { status, body } = await app.pipeline(app.read, { requests: [{ type: 'batch', batch: { steps } }] });
    expect([status, body.results[0].response.result.step_results[1]]).toEqual([200, null]);
  });
});

describe('neither kind of token', () => {
  test.each([
    ['ATTACH a file', (path: string) => `ATTACH '${path}' AS other`],
    ['ATTACH a file that an expression names', (path: string) => `ATTACH '${path}' || '' AS other`],
    ['ATTACH a nameless file', () => "ATTACH '' AS other"],
    ['ATTACH memory', () => "ATTACH ':memory:' AS other"],
    ['VACUUM INTO a file', (path: string) => `VACUUM INTO '${path}'`],
    ['VACUUM INTO a file that an expression names', (path: string) => `VACUUM main INTO '${path}' || ''`],
    ['load an extension', (path: string) => `SELECT load_extension('${path}')`],
    ['make the schema writable', () => 'PRAGMA writable_schema = 1'],
    ['change the journal', () => 'PRAGMA journal_mode = OFF'],
    ['switch syncing off', () => 'PRAGMA synchronous = OFF'],
    ['lock everybody out', () => 'PRAGMA locking_mode = EXCLUSIVE'],
    ['choose where temporary files go', () => "PRAGMA temp_store_directory = '/tmp'"],
    ['map memory', () => 'PRAGMA mmap_size = 1000000000'],
    ['read what others have not committed', () => 'PRAGMA read_uncommitted = 1'],
    ['use a pragma that nobody knows', () => 'PRAGMA no_such_thing = 1'],
    ['use a virtual table of an unknown module', () => 'CREATE VIRTUAL TABLE other USING dbstat'],
  ])('may %s', async (_what, sqlFor) => {
    const path = outside('attacked');
    const full = await app.run(app.full, sqlFor(path));
    expect(full.body.results[0]).toMatchObject({ type: 'error', error: { code: 'SQLITE_AUTH' } });
    expect((await app.run(app.read, sqlFor(path))).status).toBe(403);
    expect(existsSync(path)).toBe(false);
  });

  const MAIN = [['0', 'main', '']];

  test.each([
    ['PRAGMA database_list', MAIN],
    ['PRAGMA Main.Database_List', MAIN],
    ['SELECT file FROM pragma_database_list', null],
    ["SELECT hex(file) FROM pragma_database_list('')", null],
    ['EXPLAIN PRAGMA database_list', expect.anything()],
  ])('is told where the files are: %s', async (sql, rows) => {
    const { body } = await app.pipeline(app.full, {
      requests: [
        { type: 'execute', stmt: { sql } },
        { type: 'describe', sql },
      ],
    });
    const [{ type, response }] = body.results;
    expect(type).toBe(rows === null ? 'error' : 'ok');
    if (rows !== null)
      expect(response.result.rows.map((row: readonly { value: unknown }[]) => row.map(({ value }) => value))).toEqual(rows);
    for (const hidden of [app.dataDir, Buffer.from(app.dataDir).toString('hex').toUpperCase()]) {
      expect(JSON.stringify(body)).not.toContain(hidden);
    }
  });
});

test('Full Access may VACUUM', async () => {
  expect((await app.run(app.full, 'VACUUM')).body.results[0].type).toBe('ok');
});
