import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { execute, pipelineResults } from './pipeline-results.ts';

let app: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp();
  await app.client(app.full).executeMultiple('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)');
});

afterAll(() => app.stop());

const results = (requests: readonly unknown[]) => pipelineResults(app, requests);

describe('a pipeline', () => {
  test('goes on after a request that failed, and answers in order', async () => {
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
    ['AAEC', 'AAEC', '000102'],
    ['AAE', 'AAE', '0001'],
    ['AAE=', 'AAE', '0001'],
    ['AA==', 'AA', '00'],
    ['', '', ''],
  ])('takes the base64 %j, padded or not, and answers %j', async (base64, answered, bytes) => {
    const [{ response }] = await results([execute('SELECT ?1, hex(?1)', { args: [{ type: 'blob', base64 }] })]);
    expect(response.result.rows[0]).toEqual([
      { type: 'blob', base64: answered },
      { type: 'text', value: bytes },
    ]);
  });

  test.each([
    ['9e999', { type: 'text', value: 'Inf' }],
    ['-9e999', { type: 'text', value: '-Inf' }],
    ['CAST(9e999 AS TEXT)', { type: 'text', value: 'Inf' }],
    ['CAST(-9e999 AS TEXT)', { type: 'text', value: '-Inf' }],
    ['9e999 - 9e999', { type: 'null' }],
    ['1.7976931348623157e308', { type: 'float', value: 1.7976931348623157e308 }],
    ['-0.0', { type: 'float', value: -0 }],
    ['5e-324', { type: 'float', value: 5e-324 }],
    ['CAST(9007199254740993 AS REAL)', { type: 'float', value: 9007199254740992 }],
  ])('answers %s as a value that every client can read', async (sql, value) => {
    expect((await results([execute(`SELECT ${sql}`)]))[0].response.result.rows).toEqual([[value]]);
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
    ['two of one name by position', 'SELECT :a, @a, $a', { args: ['x', 'y', 'z'] }, ['x', 'y', 'z']],
    ['two of one name by their own', 'SELECT :a, @a', { named_args: ['@a', ':a'] }, [':a', '@a']],
    ['two of one name by the bare one', 'SELECT :a, @a', { named_args: ['a'] }, ['a', 'a']],
    ['two of one name, where one has its own', 'SELECT :a, @a', { named_args: ['@a', 'a'] }, ['a', '@a']],
    ['names as long as SQLite reads them', 'SELECT :a(b), @a::b, $a::b(:c), #a, :::a', { args: [...'vwxyz'] }, [...'vwxyz']],
    ['a name beside a number', 'SELECT :1, ?1, ?, @1', { args: ['x', 'y', 'z'] }, ['x', 'x', 'y', 'z']],
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
    ['a text in double quotes', 'SELECT datetime("now")', {}, 'SQLITE_ERROR'],
    ['a NUL in the SQL', 'SELECT 1 \0; DELETE FROM item', {}, 'SQL_PARSE_ERROR'],
  ])('refuses %s', async (_what, sql, stmt, code) => {
    expect((await results([execute(sql, stmt)]))[0].error.code).toBe(code);
  });
});

test('GET /v2 says that the protocol is spoken', async () => {
  expect((await fetch(`${app.url}/v2`)).status).toBe(200);
});
