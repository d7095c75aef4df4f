import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { execute, pipelineResults } from './pipeline-results.ts';

let app: DatabaseApp;

const SCHEMA = `
  CREATE TABLE other (id INTEGER PRIMARY KEY);
  CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INTEGER DEFAULT 0);
  CREATE TABLE bare (name TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
  CREATE TABLE plain (name TEXT UNIQUE);
  CREATE TABLE hidden (rowid TEXT UNIQUE, _rowid_, oid);
  CREATE TABLE giving (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, key TEXT UNIQUE);
  CREATE TABLE "quoted ""table" (name TEXT UNIQUE, n);
  CREATE VIEW shown AS SELECT name FROM item;
  CREATE TRIGGER into_shown INSTEAD OF INSERT ON shown BEGIN INSERT INTO item (name) VALUES (new.name); END;
  CREATE TABLE logged (name TEXT UNIQUE, n);
  CREATE TRIGGER after_logged AFTER INSERT ON logged BEGIN INSERT INTO plain VALUES (new.name || '!'); END;
  CREATE TABLE vetoed (name TEXT);
  CREATE TRIGGER no_vetoed BEFORE INSERT ON vetoed BEGIN INSERT INTO plain VALUES ('vetoed'); SELECT RAISE(IGNORE); END;
  CREATE VIRTUAL TABLE words USING fts5 (word);
  CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
  CREATE TABLE child (parent INTEGER REFERENCES parent (id) ON DELETE SET NULL);`;

beforeAll(async () => {
  app = await startDatabaseApp();
  await app.client(app.full).executeMultiple(SCHEMA);
});

afterAll(() => app.stop());

/** Statements before, the one that is asked about, and its answer. They run in one stream, after an insert with row id 7 elsewhere. */
type Case = readonly [what: string, before: readonly string[], sql: string, rowid: string | null];

const UPSERT = "INSERT INTO item (name) VALUES ('a') ON CONFLICT (name) DO UPDATE SET n = n + 1";

const CASES: readonly Case[] = [
  ['an upsert that updates', ["INSERT INTO item VALUES (3, 'a', 0)", 'REPLACE INTO other VALUES (7)'], UPSERT, null],
  ['an upsert that updates the row inserted last', ["INSERT INTO item VALUES (3, 'a', 0)"], UPSERT, null],
  ['an upsert that updates the row of the last id', ["INSERT INTO item VALUES (7, 'a', 0)", 'REPLACE INTO other VALUES (7)'], UPSERT, null],
  [
    'an upsert that updates, with rows',
    ["INSERT INTO item VALUES (3, 'a', 0)", 'REPLACE INTO other VALUES (7)'],
    `${UPSERT} RETURNING id`,
    null,
  ],
  ['an upsert that inserts', ["INSERT INTO item VALUES (3, 'b', 0)"], UPSERT, '4'],
  ['an upsert that inserts the id of before', ["INSERT INTO item VALUES (6, 'b', 0)", 'REPLACE INTO other VALUES (7)'], UPSERT, '7'],
  ['an upsert of both kinds', ["INSERT INTO item VALUES (3, 'b', 0)"], UPSERT.replace("('a')", "('a'), ('b')"), '4'],
  ['an upsert that does nothing', ["INSERT INTO item VALUES (3, 'a', 0)"], UPSERT.replace(/DO UPDATE.*/, 'DO NOTHING'), null],
  ['an upsert whose condition fails', ["INSERT INTO item VALUES (3, 'a', 0)"], `${UPSERT} WHERE false`, null],
  ['an upsert of a table without ROWID', ["INSERT INTO bare VALUES ('a', 0)"], UPSERT.replace('item', 'bare'), null],
  [
    'an upsert of a table without a key',
    ["INSERT INTO plain VALUES ('a')", 'REPLACE INTO other VALUES (7)'],
    "INSERT INTO plain VALUES ('a') ON CONFLICT DO UPDATE SET name = 1",
    null,
  ],
  [
    'an upsert of a quoted name',
    [`INSERT INTO "quoted ""table" VALUES ('a', 0)`, 'REPLACE INTO other VALUES (7)'],
    UPSERT.replace('item', '"quoted ""table"'),
    null,
  ],
  [
    'an upsert of a temporary table',
    ['CREATE TEMP TABLE other (name TEXT UNIQUE, n)', "INSERT INTO other VALUES ('a', 1)", 'REPLACE INTO main.other VALUES (7)'],
    UPSERT.replace('item', 'other'),
    null,
  ],
  [
    'an upsert where row ids have no name',
    ["INSERT INTO hidden VALUES ('a', 1, 1)", 'REPLACE INTO other VALUES (7)'],
    "INSERT INTO hidden VALUES ('a', 2, 2) ON CONFLICT DO UPDATE SET oid = 3",
    '7',
  ],
  [
    'an upsert that may replace the row of before',
    ["INSERT INTO giving VALUES (7, 'k')"],
    "INSERT INTO giving VALUES (7, 'l') ON CONFLICT (key) DO UPDATE SET key = 'm'",
    '7',
  ],
  ['an insert', [], "INSERT INTO item (name) VALUES ('a')", '1'],
  ['an insert of the id of before', [], 'INSERT INTO item (id) VALUES (7)', '7'],
  ['the first rows of two tables', ['DELETE FROM other', 'INSERT INTO other DEFAULT VALUES'], "INSERT INTO item (name) VALUES ('a')", '1'],
  ['a replaced row of the id of before', ["INSERT INTO item VALUES (7, 'a', 0)"], "REPLACE INTO item VALUES (7, 'b', 0)", '7'],
  ['an insert into a table without ROWID', [], "INSERT INTO bare VALUES ('a', 1), ('b', 2)", null],
  ['an insert that is ignored', ["INSERT INTO item (name) VALUES ('a')"], "INSERT OR IGNORE INTO item (name) VALUES ('a')", null],
  ['an insert of no rows', [], 'INSERT INTO item (id) SELECT 1 WHERE false', null],
  ['an insert that a trigger vetoes and logs', [], "INSERT INTO vetoed VALUES ('a')", null],
  ['an insert into a view', [], "INSERT INTO shown VALUES ('a')", null],
  ['an insert with a trigger that inserts elsewhere', [], "INSERT INTO logged VALUES ('a', 1)", '1'],
  ['an insert into a full-text table', [], "INSERT INTO words VALUES ('a')", '1'],
  ['an insert into a full-text table, of the id of before', [], "INSERT INTO words (rowid, word) VALUES (7, 'a')", '7'],
  [
    'a replaced row that others refer to',
    ["INSERT INTO parent VALUES (7, 'a')", 'INSERT INTO child VALUES (7)', 'REPLACE INTO other VALUES (7)'],
    "REPLACE INTO parent VALUES (7, 'a')",
    '7',
  ],
  ['an update', ["INSERT INTO item (name) VALUES ('a')"], 'UPDATE item SET n = 1', null],
  ['a select', [], 'SELECT 1', null],
];

test.each(CASES)('%s: the last row id', async (_what, before, sql, rowid) => {
  const statements = ['BEGIN', 'REPLACE INTO other VALUES (7)', ...before, sql, 'SELECT last_insert_rowid()', 'ROLLBACK'];
  const results = await pipelineResults(
    app,
    statements.map((statement) => execute(statement)),
  );
  expect(results.filter(({ type }: { type: string }) => type !== 'ok')).toEqual([]);
  expect(results.at(-3).response.result.last_insert_rowid).toBe(rowid);
});

test('a first statement that inserts nothing with a row id answers none', async () => {
  await pipelineResults(app, [execute("INSERT INTO item VALUES (20, 'first', 0)")]);
  for (const sql of [UPSERT.replace("'a'", "'first'"), "INSERT INTO bare VALUES ('first', 1)"]) {
    expect((await pipelineResults(app, [execute(sql)]))[0].response.result).toMatchObject({
      affected_row_count: 1,
      last_insert_rowid: null,
    });
  }
  // The other tests begin with empty tables.
  await pipelineResults(app, [execute('DELETE FROM item'), execute('DELETE FROM bare')]);
});
