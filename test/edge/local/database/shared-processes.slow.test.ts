import { afterEach, describe, expect, test } from 'vitest';
import type { DatabaseLimits } from '../../../../edge/local/database/database-limits.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { ownStreams } from './own-streams.ts';
import { codes, execute } from './pipeline-results.ts';

let app: DatabaseApp;

afterEach(() => app.stop());

async function start(limits: Partial<DatabaseLimits>): Promise<void> {
  // No stream ends by itself, and none is refused because the machine is slow.
  app = await startDatabaseApp({ idleMs: 300_000, transactionMs: 300_000, queueMs: 45_000, lockWaitMs: 45_000, ...limits });
  await app.client(app.full).executeMultiple('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE log (id INTEGER)');
}

interface Turn {
  readonly baton: string | null;
  readonly codes: readonly string[];
  /** The first value of each result. */
  readonly values: readonly unknown[];
}

/** One request on the stream of `baton`, or on a new one. */
async function turn(baton: string | null, ...statements: readonly string[]): Promise<Turn> {
  const { status, body } = await app.pipeline(app.full, { baton, requests: statements.map((sql) => execute(sql)) });
  if (status !== 200) return { baton: null, codes: [body.code], values: [] };
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's JSON.
  const values = body.results.map(({ response }: any) => response?.result.rows[0]?.[0].value);
  return { baton: body.baton, codes: codes(body.results), values };
}

describe('streams that stay open', () => {
  test.each([
    [9, 'SELECT count(*) FROM item', 'SELECT 2'],
    [100, 'SELECT count(*) FROM item', 'SELECT 2'],
    [100, "INSERT INTO item (name) VALUES ('a')", 'SELECT changes()'],
  ])('%i at once, more than there are processes, all go on: %s', async (amount, first, second) => {
    await start({});
    const begun = await Promise.all(Array.from({ length: amount }, () => turn(null, first)));
    expect(new Set(begun.flatMap((each) => each.codes))).toEqual(new Set(['ok']));
    const went = await Promise.all(begun.map(({ baton }) => turn(baton, second)));
    expect(new Set(went.flatMap((each) => each.codes))).toEqual(new Set(['ok']));
  });

  test('keep their processes while nobody waits', async () => {
    await start({});
    const { ask, released } = ownStreams(app, { processes: 1 });
    const first = await ask(null, [execute('SELECT 1')]);
    expect([codes((await ask(first.baton, [execute('SELECT 1')])).results), released()]).toEqual([['ok'], 0]);
    expect([codes((await ask(null, [execute('SELECT 1')])).results), released()]).toEqual([['ok'], 1]);
  });
});

const TEN = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10)';
const COUNTERS = "SELECT total_changes() || ' ' || changes() || ' ' || last_insert_rowid()";

describe('what a stream has, with one process for all', () => {
  test.each([
    ['nothing', ['SELECT 1'], COUNTERS, '0 0 0'],
    ['an inserted row', ["INSERT INTO item VALUES (7, 'a')"], COUNTERS, '1 1 7'],
    ['the largest row id', ["INSERT INTO item VALUES (9223372036854775807, 'a')"], COUNTERS, '1 1 9223372036854775807'],
    ['a row id below zero', ["INSERT INTO item VALUES (-7, 'a')"], COUNTERS, '1 1 -7'],
    ['several rows', [`INSERT INTO item (name) ${TEN} SELECT 'a' FROM n`], COUNTERS, '10 10 10'],
    [
      'changes that are not of its last statement',
      [`INSERT INTO item (name) ${TEN} SELECT 'a' FROM n`, 'DELETE FROM item WHERE id < 4'],
      COUNTERS,
      '13 3 10',
    ],
    ['a last statement that changed none', ["INSERT INTO item VALUES (7, 'a')", 'DELETE FROM item WHERE id = 8'], COUNTERS, '1 0 7'],
    [
      'rows that a trigger changed',
      ['CREATE TRIGGER logs AFTER INSERT ON item BEGIN INSERT INTO log VALUES (1), (2); END', "INSERT INTO item VALUES (7, 'a')"],
      COUNTERS,
      '3 1 7',
    ],
    ['a row that was rolled back', ['BEGIN', "INSERT INTO item VALUES (7, 'a')", 'ROLLBACK'], COUNTERS, '1 1 7'],
    ['a transaction that was committed', ['BEGIN', "INSERT INTO item VALUES (7, 'a')", 'COMMIT'], COUNTERS, '1 1 7'],
    ['a failed statement', ["INSERT INTO item VALUES (7, 'a')", "INSERT INTO item VALUES (8, 'a'), (7, 'b')"], COUNTERS, '1 0 8'],
    ['foreign keys in force', ['SELECT 1'], 'PRAGMA foreign_keys', '1'],
  ])('goes along to its next connection: %s', async (_what, statements, ask, expected) => {
    await start({ processes: 1 });
    const own = await turn(null, ...statements, ask);
    expect(own.values.at(-1)).toBe(expected);
    // Twice, because the second time the counters are those that were set.
    let { baton } = own;
    for (let time = 0; time < 2; time += 1) {
      const other = await turn(null, COUNTERS);
      expect([other.codes, other.values]).toEqual([['ok'], ['0 0 0']]);
      const next = await turn(baton, ask);
      expect(next.values).toEqual([expected]);
      baton = next.baton;
    }
  });

  test('goes along to its next connection: its SQL texts', async () => {
    await start({ processes: 1 });
    const { body } = await app.pipeline(app.full, { requests: [{ type: 'store_sql', sql_id: 1, sql: 'SELECT 42' }, execute('SELECT 1')] });
    expect((await turn(null, 'SELECT 1')).codes).toEqual(['ok']);
    const next = await app.pipeline(app.full, { baton: body.baton, requests: [{ type: 'execute', stmt: { sql_id: 1 } }] });
    expect(next.body.results[0].response.result.rows[0][0].value).toBe('42');
  });

  test.each([
    ['a transaction', ['BEGIN']],
    ['a transaction that only reads', ['BEGIN TRANSACTION READONLY']],
    ['a savepoint', ['SAVEPOINT a']],
    ['a temporary table', ['CREATE TEMP TABLE mine (a)']],
    ['a temporary view', ['CREATE TEMP VIEW mine AS SELECT 1']],
    ['a temporary trigger', ['CREATE TEMP TRIGGER mine AFTER INSERT ON item BEGIN SELECT 1; END']],
    ['a setting', ['PRAGMA foreign_keys = OFF']],
    ['a setting without an answer', ['PRAGMA case_sensitive_like = 1']],
    ['a number that only its connection can compare', ['PRAGMA data_version']],
    ['that number from a table-valued function', ['SELECT * FROM pragma_Data_Version']],
    [
      'more changes than are counted anew',
      ['INSERT INTO log WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100001) SELECT i FROM n'],
    ],
  ])('stays with its process, for which others wait: %s', async (_what, statements) => {
    await start({ processes: 1, queueMs: 100 });
    const own = await turn(null, ...statements);
    expect(own.codes).toEqual(['ok']);
    expect((await turn(null, 'SELECT 1')).codes).toEqual(['TOO_MANY_STREAMS']);
    expect((await turn(own.baton, 'SELECT 1')).codes).toEqual(['ok']);
  });

  test('stays with its process until its transaction has ended', async () => {
    await start({ processes: 1 });
    const { baton } = await turn(null, 'BEGIN', "INSERT INTO item VALUES (7, 'a')");
    const waiting = turn(null, 'SELECT count(*) FROM item');
    expect((await turn(baton, 'COMMIT')).codes).toEqual(['ok']);
    expect((await waiting).values).toEqual(['1']);
  });
});
