import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PIPELINE, PIPELINE_INPUT } from '../../../edge/schemas/pipeline.ts';
import { eventually } from '../../src/eventually.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';

const ajv = new Ajv2020({ strict: false });
const isAnswer = ajv.compile(PIPELINE);
const isRequest = ajv.compile(PIPELINE_INPUT);

let app: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp({
    idleMs: 500,
    rows: 100,
    answerBytes: 20_000,
    bodyBytes: 200_000,
    sqlBytes: 50_000,
    valueBytes: 60_000,
    requests: 20,
    storedSqls: 3,
  });
  await app.client(app.full).executeMultiple('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)');
});

afterAll(() => app.stop());

const execute = (sql: string, stmt: object = {}) => ({ type: 'execute', stmt: { sql, ...stmt } });

/** The results of a pipeline that is answered; request and answer are held to the operation's schemas. */
async function results(requests: readonly unknown[], token = app.full) {
  const request = { requests: [...requests, { type: 'close' }] };
  const { status, body } = await app.pipeline(token, request);
  expect([status, isRequest(request), isAnswer(body), isAnswer.errors]).toEqual([200, true, true, null]);
  return body.results.slice(0, -1);
}

const numbers = (count: number): string =>
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${count}) SELECT i FROM n`;

describe('a pipeline', () => {
  test('goes on after a request that failed, and answers each in its place', async () => {
    const answers = await results([execute('SELECT 1'), execute('nonsense'), execute('SELECT 2')]);
    expect(answers.map(({ type }: { type: string }) => type)).toEqual(['ok', 'error', 'ok']);
  });

  test('answers every field of a result', async () => {
    const [inserted, , selected] = await results([
      execute("INSERT INTO item VALUES (9007199254740993, 'a') RETURNING id, name"),
      execute("UPDATE item SET name = 'b'"),
      execute('SELECT id, name FROM item'),
    ]);
    expect(inserted.response).toEqual({
      type: 'execute',
      result: {
        cols: [
          { name: 'id', decltype: 'INTEGER' },
          { name: 'name', decltype: 'TEXT' },
        ],
        rows: [
          [
            { type: 'integer', value: '9007199254740993' },
            { type: 'text', value: 'a' },
          ],
        ],
        affected_row_count: 1,
        last_insert_rowid: '9007199254740993',
        rows_read: 1,
        rows_written: 1,
        query_duration_ms: expect.any(Number),
      },
    });
    expect(selected.response.result).toMatchObject({ affected_row_count: 0, last_insert_rowid: null, rows_written: 0 });
    await results([execute('DELETE FROM item')]);
  });

  test.each([
    ['AAEC', [0, 1, 2]],
    ['AAE', [0, 1]],
    ['AAE=', [0, 1]],
    ['AA==', [0]],
    ['', []],
  ])('takes the base64 %j, padded or not', async (base64, bytes) => {
    const [{ response }] = await results([execute('SELECT ?', { args: [{ type: 'blob', base64 }] })]);
    expect([...Buffer.from(response.result.rows[0][0].base64, 'base64')]).toEqual(bytes);
  });

  test.each([
    ['a request that is no object', 7, 'requests[0] is 7'],
    ['a request of an unknown type', { type: 'fetch' }, 'requests[0].type is "fetch"'],
    ['a request without its statement', { type: 'execute' }, 'requests[0].stmt is nothing'],
    ['a statement without SQL', { type: 'execute', stmt: {} }, 'requests[0].stmt.sql is nothing'],
    ['both SQL and its number', { type: 'describe', sql: 'SELECT 1', sql_id: 1 }, 'either sql or sql_id'],
    ['an integer that is a number', execute('SELECT ?', { args: [{ type: 'integer', value: 1 }] }), 'requests[0].stmt.args[0].value is 1'],
    ['an integer of 65 bits', execute('SELECT ?', { args: [{ type: 'integer', value: '9223372036854775808' }] }), '"9223372036854775808"'],
    ['a float that is a string', execute('SELECT ?', { args: [{ type: 'float', value: '1' }] }), 'allowed: a number'],
    ['a blob that is not base64', execute('SELECT ?', { args: [{ type: 'blob', base64: 'a-b' }] }), 'allowed: base64'],
    [
      'a value of an unknown type',
      execute('SELECT :a', { named_args: [{ name: 'a', value: { type: 'date' } }] }),
      'named_args[0].value.type',
    ],
    [
      'a condition on a later step',
      { type: 'batch', batch: { steps: [{ stmt: { sql: 'SELECT 1' }, condition: { type: 'ok', step: 0 } }] } },
      'condition.step',
    ],
    ['a SQL text that was not stored', { type: 'sequence', sql_id: 5 }, 'requests[0].sql_id is 5'],
  ])('says what is wrong with %s, and goes on', async (_what, request, message) => {
    const answers = await results([request, execute('SELECT 1')].filter((one) => typeof one === 'object'));
    if (typeof request !== 'object') return;
    expect(answers[0].error.message).toContain(message);
    expect(answers[1].type).toBe('ok');
  });

  test.each([
    ['named ones by any prefix', 'SELECT :a, @b, $c', { named_args: ['a', '@b', '$c'] }, ['a', '@b', '$c']],
    ['named ones by position', 'SELECT :a, :b, :a', { args: ['x', 'y'] }, ['x', 'y', 'x']],
    ['numbered ones', 'SELECT ?2, ?1', { args: ['x', 'y'] }, ['y', 'x']],
    ['numbered ones by name', 'SELECT ?2, ?1', { named_args: ['?1', '2'] }, ['2', '?1']],
    ['mixed ones', 'SELECT ?, :a, ?, ?2', { args: ['x', 'y', 'z'] }, ['x', 'y', 'z', 'y']],
    [
      'none inside of strings, names and comments',
      `SELECT ':a', "name", [?], \`?\`, ? /* :b ? */ -- $c\n FROM (SELECT 1 AS name, 2 AS "?")`,
      { args: ['x'] },
      null,
    ],
  ])('binds %s', async (_what, sql, { args, named_args: named }: { args?: string[]; named_args?: string[] }, expected) => {
    const text = (value: string) => ({ type: 'text', value });
    const [answer] = await results([
      execute(sql, { args: args?.map(text) ?? [], named_args: named?.map((name) => ({ name, value: text(name) })) ?? [] }),
    ]);
    expect(answer.type, JSON.stringify(answer)).toBe('ok');
    const values = answer.response.result.rows[0].map(({ value }: { value: string }) => value);
    if (expected === null) expect(values.at(-1)).toBe('x');
    else expect(values).toEqual(expected);
  });

  test.each([
    ['too few', 'SELECT ?, ?', { args: [{ type: 'null' }] }, 'ARGS_INVALID'],
    ['too many', 'SELECT ?', { args: [{ type: 'null' }, { type: 'null' }] }, 'ARGS_INVALID'],
    ['an unknown name', 'SELECT :a', { named_args: [{ name: 'b', value: { type: 'null' } }] }, 'ARGS_INVALID'],
    ['a name left out', 'SELECT :a, :b', { named_args: [{ name: 'a', value: { type: 'null' } }] }, 'ARGS_INVALID'],
    [
      'both kinds',
      'SELECT ?, :a',
      { args: [{ type: 'null' }], named_args: [{ name: 'a', value: { type: 'null' } }] },
      'ARGS_BOTH_POSITIONAL_AND_NAMED',
    ],
    ['a NUL in the SQL', 'SELECT 1 \0; DELETE FROM item', {}, 'SQL_PARSE_ERROR'],
  ])('refuses %s', async (_what, sql, stmt, code) => {
    expect((await results([execute(sql, stmt)]))[0].error.code).toBe(code);
  });
});

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
    expect(answers.map((answer: { type: string; error?: { code: string } }) => answer.error?.code ?? answer.type)).toEqual([
      'ok',
      'ok',
      'ok',
      'SQL_STORE_TOO_MANY',
      'SQL_STORE_EXISTS',
      'ok',
      'ok',
      'ok',
      'SQL_NOT_FOUND',
    ]);
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

  test('keeps what lives as long as its connection from request to request', async () => {
    const { baton } = (await app.pipeline(app.full, { requests: [execute('CREATE TEMP TABLE mine (a)'), execute('BEGIN')] })).body;
    const { body } = await app.pipeline(app.full, {
      baton,
      requests: [execute('SELECT * FROM mine'), { type: 'close' }, execute('SELECT 1')],
    });
    expect(body.results.map((answer: { type: string; error?: { code: string } }) => answer.error?.code ?? answer.type)).toEqual([
      'ok',
      'ok',
      'STREAM_CLOSED',
    ]);
    expect(body.baton).toBe(null);
    expect((await results([execute('SELECT * FROM mine')]))[0].type).toBe('error');
  });

  test('takes each baton once, from its own token', async () => {
    const first = (await app.pipeline(app.full, { requests: [] })).body.baton;
    expect((await app.pipeline(app.read, { baton: first, requests: [] })).body.code).toBe('BATON_INVALID');
    const second = (await app.pipeline(app.full, { baton: first, requests: [] })).body.baton;
    const again = await app.pipeline(app.full, { baton: first, requests: [] });
    expect([again.status, again.body.code]).toEqual([400, 'BATON_REUSED']);
    expect((await app.pipeline(app.full, { baton: second, requests: [{ type: 'close' }] })).status).toBe(200);
    const made = await app.pipeline(app.full, { baton: `${second}x`, requests: [] });
    expect([made.status, made.body.code]).toEqual([400, 'BATON_INVALID']);
  });

  test('that nobody uses expires, and is undone', async () => {
    const { baton } = (
      await app.pipeline(app.full, { requests: [execute('BEGIN IMMEDIATE'), execute("INSERT INTO item (name) VALUES ('x')")] })
    ).body;
    await eventually('the lock is free', async () => (await app.run(app.full, 'BEGIN IMMEDIATE')).body.results[0].type === 'ok');
    const { status, body } = await app.pipeline(app.full, { baton, requests: [execute('COMMIT')] });
    expect([status, body.error, body.code]).toEqual([400, 'Bad Request', 'STREAM_EXPIRED']);
    expect((await results([execute('SELECT * FROM item')]))[0].response.result.rows).toEqual([]);
  });
});

describe('a limit', () => {
  test.each([
    ['rows', numbers(101), 'RESPONSE_TOO_LARGE', '100 rows'],
    ['bytes', `SELECT hex(zeroblob(6000)) FROM (${numbers(2)})`, 'RESPONSE_TOO_LARGE', 'LIMIT'],
    ['one value', 'SELECT length(zeroblob(60001))', 'SQLITE_TOOBIG', ''],
    ['the SQL text', `SELECT '${'x'.repeat(50_000)}'`, 'SQLITE_TOOBIG', '50000'],
  ])('of %s: a clear error', async (_what, sql, code, message) => {
    const [{ error }] = await results([execute(sql)]);
    expect(error).toEqual({ code, message: expect.stringContaining(message) });
  });

  test('undoes a statement whose own rows are too many, inside of a transaction too', async () => {
    const insert = execute(`INSERT INTO item (id) ${numbers(101)} RETURNING id`);
    const count = execute('SELECT count(*) FROM item');
    const answers = await results([
      insert,
      count,
      execute('BEGIN'),
      execute("INSERT INTO item (name) VALUES ('kept')"),
      insert,
      count,
      execute('ROLLBACK'),
    ]);
    expect([answers[0].error.code, answers[4].error.code]).toEqual(['RESPONSE_TOO_LARGE', 'RESPONSE_TOO_LARGE']);
    expect([answers[1], answers[5]].map(({ response }) => response.result.rows[0][0].value)).toEqual(['0', '1']);
  });

  test('does not count rows that nobody wants', async () => {
    expect((await results([execute(numbers(5_000), { want_rows: false })]))[0].response.result.rows).toEqual([]);
  });

  test.each([
    ['a body that is not JSON', 'nonsense', 400],
    ['a body that is a list', [], 400],
    ['a body without requests', {}, 400],
    ['a baton that is a number', { baton: 1, requests: [] }, 400],
    ['too many requests', { requests: Array.from({ length: 21 }, () => ({ type: 'close' })) }, 400],
    ['too many bytes', { requests: [execute('x'.repeat(200_000))] }, 413],
  ])('or rule broken by %s refuses all of it', async (_what, body, expected) => {
    const { status, body: answer, contentType } = await app.pipeline(app.full, body);
    expect([status, contentType, answer]).toEqual([
      expected,
      'application/json',
      { error: expect.any(String), message: expect.any(String), code: expect.stringMatching(/^[A-Z_]+$/) },
    ]);
  });
});

test('GET /v2 says that the protocol is spoken', async () => {
  expect((await fetch(`${app.url}/v2`)).status).toBe(200);
});
