import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { ownStreams } from './own-streams.ts';
import { codes, execute, pipelineResults } from './pipeline-results.ts';

const CREATE_ITEM = 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)';

let app: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp({ storedSqls: 3 });
  await app.client(app.full).executeMultiple(CREATE_ITEM);
});

afterAll(() => app.stop());

const results = (requests: readonly unknown[]) => pipelineResults(app, requests);

describe('a batch', () => {
  const step = (sql: string, condition?: unknown) => ({ stmt: { sql }, ...(condition === undefined ? {} : { condition }) });
  const [ok, error] = [
    { type: 'ok', step: 0 },
    { type: 'error', step: 0 },
  ];

  test.each([
    ['ok', ok, true],
    ['error', error, false],
    ['ok of a failed step', { type: 'ok', step: 1 }, false],
    ['error of a failed step', { type: 'error', step: 1 }, true],
    ['ok of a skipped step', { type: 'ok', step: 2 }, false],
    ['error of a skipped step', { type: 'error', step: 2 }, false],
    ['not', { type: 'not', cond: error }, true],
    ['and', { type: 'and', conds: [ok, error] }, false],
    ['and of none', { type: 'and', conds: [] }, true],
    ['or', { type: 'or', conds: [error, ok] }, true],
    ['or of none', { type: 'or', conds: [] }, false],
    ['is_autocommit', { type: 'is_autocommit' }, true],
  ])('runs a step on the condition %s, or not', async (_what, condition, runs) => {
    const steps = [step('SELECT 1'), step('nonsense'), step('SELECT 3', error), step('SELECT 4', condition)];
    const [{ response }] = await results([{ type: 'batch', batch: { steps } }]);
    const { step_results: done, step_errors: failed } = response.result;
    expect([done[2], failed[0], failed[1].code, failed[2], failed[3]]).toEqual([null, null, 'SQL_PARSE_ERROR', null, null]);
    expect(done[3] !== null).toBe(runs);
  });

  test('takes conditions inside one another to a limit', async () => {
    const deep = (depth: number): unknown => (depth === 0 ? ok : { type: 'not', cond: deep(depth - 1) });
    for (const [depth, type] of [
      [60, 'ok'],
      [1_000, 'error'],
    ] as const) {
      expect((await results([{ type: 'batch', batch: { steps: [step('SELECT 1'), step('SELECT 2', deep(depth))] } }]))[0].type).toBe(type);
    }
  });
});

describe('a stream', () => {
  test('of a caller that left while the body was checked runs nothing', async () => {
    const { ask } = ownStreams(app, {});
    const answer = await ask(null, [execute("INSERT INTO item (name) VALUES ('of nobody')")], undefined, AbortSignal.abort());
    expect([answer.baton, codes(answer.results)]).toEqual([null, ['STREAM_CLOSED']]);
    expect((await app.client(app.full).execute("SELECT * FROM item WHERE name = 'of nobody'")).rows).toEqual([]);
  });

  test('stores SQL texts by number, up to its limit', async () => {
    const store = (id: number, sql = `SELECT ${id}`) => ({ type: 'store_sql', sql_id: id, sql });
    const answers = await results([
      store(1),
      store(2),
      store(3),
      store(4),
      store(1),
      { type: 'close_sql', sql_id: 2 },
      store(5),
      { type: 'execute', stmt: { sql_id: 5 } },
      { type: 'describe', sql_id: 2 },
    ]);
    expect(codes(answers)).toEqual(['ok', 'ok', 'ok', 'SQL_STORE_TOO_MANY', 'SQL_STORE_EXISTS', 'ok', 'ok', 'ok', 'SQL_NOT_FOUND']);
  });

  test('has an error for each step of a batch whose text is not stored, and runs the others', async () => {
    const steps = [{ stmt: { sql_id: 7 } }, { stmt: { sql: 'SELECT 1' } }];
    const [{ response }] = await results([{ type: 'batch', batch: { steps } }]);
    expect(response.result.step_errors).toEqual([
      { code: 'SQL_NOT_FOUND', message: 'requests[0].batch.steps[0].stmt.sql_id is 7, and this stream has stored no such SQL text' },
      null,
    ]);
    expect(response.result.step_results[1].rows).toHaveLength(1);
  });

  test.each([
    'BEGIN READONLY',
    'begin readonly;',
    'BEGIN TRANSACTION READONLY',
    'BEGIN READONLY TRANSACTION',
    ' -- why\n BEGIN /* ; */ READONLY -- it reads',
  ])('only reads after %j, until it has ended', async (begin) => {
    const [insert, one] = [execute('UPDATE item SET id = id'), execute('SELECT 1')];
    const answers = await results([execute(begin), one, insert, execute('COMMIT'), execute('BEGIN'), insert, execute('ROLLBACK')]);
    expect(codes(answers)).toEqual(['ok', 'ok', 'SQLITE_READONLY', 'ok', 'ok', 'ok', 'ok']);
    const script = await results([{ type: 'sequence', sql: `SELECT 1; ${begin.replace(';', ' ')}\n; SELECT 2;` }, insert]);
    expect(codes(script)).toEqual(['ok', 'SQLITE_READONLY']);
    const [described] = await results([{ type: 'describe', sql: begin }]);
    expect(described.response.result).toMatchObject({ params: [], cols: [], is_readonly: true });
  });

  test.each([
    ['BEGIN; READONLY', 'SQL_MANY_STATEMENTS'],
    ['BEGIN READONLY x', 'SQL_PARSE_ERROR'],
    ['BEGIN READONLY_', 'SQL_PARSE_ERROR'],
    ['BEGIN IMMEDIATE READONLY', 'SQL_PARSE_ERROR'],
    ['SELECT READONLY', 'SQLITE_ERROR'],
  ])('begins no transaction with %j: %s', async (sql, code) => {
    expect(codes(await results([execute(sql), execute('UPDATE item SET id = id')]))).toEqual([code, 'ok']);
  });

  test('never runs a part of a long statement that would be one by itself', async () => {
    const [first, second] = ['DELETE FROM item WHERE id = 12', '34; SELECT 1'];
    for (let length = 4_090; length <= 4_100; length += 1) {
      const script = `/*${'x'.repeat(length - first.length - 4)}*/${first}${second}`;
      const requests = [
        execute('INSERT INTO item (id) VALUES (12), (1234)'),
        { type: 'sequence', sql: script },
        execute('DELETE FROM item RETURNING id'),
      ];
      const answers = await results(requests);
      expect(codes(answers)).toEqual(['ok', 'ok', 'ok']);
      expect(answers[2].response.result.rows).toEqual([[{ type: 'integer', value: '12' }]]);
    }
  });

  test('says whether a transaction is open', async () => {
    const answers = await results([{ type: 'get_autocommit' }, execute('BEGIN'), { type: 'get_autocommit' }]);
    expect([answers[0].response, answers[2].response]).toEqual([
      { type: 'get_autocommit', is_autocommit: true },
      { type: 'get_autocommit', is_autocommit: false },
    ]);
  });

  test.each([
    [
      'SELECT id, :a AS b FROM item WHERE name = ? OR id = ?7',
      {
        params: [{ name: ':a' }, { name: null }, { name: null }, { name: null }, { name: null }, { name: null }, { name: '?7' }],
        cols: [
          { name: 'id', decltype: 'INTEGER' },
          { name: 'b', decltype: null },
        ],
        is_explain: false,
        is_readonly: true,
      },
    ],
    ['INSERT INTO item VALUES (1, $x)', { params: [{ name: '$x' }], cols: [], is_explain: false, is_readonly: false }],
    ['DROP TABLE item', { params: [], cols: [], is_explain: false, is_readonly: false }],
    ['BEGIN', { params: [], cols: [], is_explain: false, is_readonly: true }],
    ['PRAGMA user_version = 3', { params: [], cols: [], is_explain: false, is_readonly: false }],
    ['VACUUM', { params: [], cols: [], is_explain: false, is_readonly: false }],
  ])('describes %s', async (sql, expected) => {
    const [{ response }, { response: version }] = await results([{ type: 'describe', sql }, execute('PRAGMA user_version')]);
    expect(response).toEqual({ type: 'describe', result: expected });
    expect(version.result.rows[0][0].value).toBe('0');
  });

  test('describes an explanation', async () => {
    const [{ response }] = await results([{ type: 'describe', sql: ' -- why\n EXPLAIN DELETE FROM item' }]);
    expect(response.result).toMatchObject({ is_explain: true, is_readonly: true });
  });

  test('describes a statement after many comments', async () => {
    const [{ response }] = await results([{ type: 'describe', sql: `${'/* why */ '.repeat(10_000)}SELECT 1` }]);
    expect(response.result).toMatchObject({ is_explain: false, is_readonly: true });
  });

  test('keeps what lives as long as its connection from request to request', async () => {
    const { baton } = (await app.pipeline(app.full, { requests: [execute('CREATE TEMP TABLE mine (a)'), execute('BEGIN')] })).body;
    const { body } = await app.pipeline(app.full, {
      baton,
      requests: [execute('SELECT * FROM mine'), { type: 'close' }, execute('SELECT 1')],
    });
    expect(codes(body.results)).toEqual(['ok', 'ok', 'STREAM_CLOSED']);
    expect(body.baton).toBe(null);
    expect((await results([execute('SELECT * FROM mine')]))[0].type).toBe('error');
  });

  test('takes each baton once, from its own token', async () => {
    const first = (await app.pipeline(app.full, { requests: [] })).body.baton;
    expect((await app.pipeline(app.read, { baton: first, requests: [] })).body.code).toBe('STREAM_EXPIRED');
    const second = (await app.pipeline(app.full, { baton: first, requests: [] })).body.baton;
    const again = await app.pipeline(app.full, { baton: first, requests: [] });
    expect([again.status, again.body.code]).toEqual([400, 'STREAM_EXPIRED']);
    expect((await app.pipeline(app.full, { baton: second, requests: [{ type: 'close' }] })).status).toBe(200);
    const made = await app.pipeline(app.full, { baton: `${second}x`, requests: [] });
    expect([made.status, made.body.code]).toEqual([400, 'STREAM_EXPIRED']);
  });

  test('that nobody uses expires, and is undone', async () => {
    const impatient = await startDatabaseApp({ idleMs: 100 });
    onTestFinished(() => impatient.stop());
    const { full, pipeline, run } = impatient;
    await run(full, CREATE_ITEM);
    const { baton } = (await pipeline(full, { requests: [execute('BEGIN IMMEDIATE'), execute("INSERT INTO item (name) VALUES ('x')")] }))
      .body;
    await eventually('the lock is free', async () => (await run(full, 'BEGIN IMMEDIATE')).body.results[0].type === 'ok');
    const { status, body } = await pipeline(full, { baton, requests: [execute('COMMIT')] });
    expect([status, body.error, body.code]).toEqual([400, body.message, 'STREAM_EXPIRED']);
    expect((await pipelineResults(impatient, [execute('SELECT * FROM item')]))[0].response.result.rows).toEqual([]);
  });
});
