import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CURSOR_LINE } from '../../../../edge/operations/database.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { execute } from './pipeline-results.ts';

const isLine = new Ajv2020({ strict: false }).compile(CURSOR_LINE);

let app: DatabaseApp;
let tiny: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp();
  tiny = await startDatabaseApp({ answerBytes: 2_000, rows: 50, statementMs: 300 });
  await app.client(app.full).executeMultiple('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)');
});

beforeEach(() => app.client(app.full).executeMultiple('DELETE FROM item'));

afterAll(async () => {
  await app.stop();
  await tiny.stop();
});

interface CursorAnswer {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's JSON, looked into by each test.
  readonly lines: readonly any[];
}

async function cursor(body: unknown, of = app, token = of.full): Promise<CursorAnswer> {
  const answer = await fetch(`${of.url}/v3/cursor`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  if (answer.status === 200) for (const line of lines) expect([isLine(line), line]).toEqual([true, line]);
  return { status: answer.status, type: answer.headers.get('content-type'), text, lines };
}

const batch = (...steps: readonly object[]) => ({ batch: { steps } });
const step = (sql: string, condition?: object) => ({ stmt: { sql }, ...(condition === undefined ? {} : { condition }) });
const entry = ({ type, step: index }: { readonly type: string; readonly step?: number }) =>
  index === undefined ? type : `${type} ${index}`;

describe('a cursor', () => {
  test('answers the entries of its steps in order, and none of one that is skipped', async () => {
    const { status, type, lines, text } = await cursor(
      batch(
        step("INSERT INTO item VALUES (1, 'a'), (2, 'b')"),
        step('SELECT name FROM item'),
        step('SELECT 1', { type: 'error', step: 0 }),
        step('nonsense'),
        step('SELECT 2 AS two', { type: 'error', step: 3 }),
      ),
    );
    expect([status, type, text.endsWith('\n')]).toEqual([200, 'application/x-ndjson', true]);
    expect(lines[0]).toEqual({ baton: expect.any(String), base_url: null });
    expect(lines.slice(1)).toEqual([
      { type: 'step_begin', step: 0, cols: [] },
      { type: 'step_end', affected_row_count: 2, last_insert_rowid: '2' },
      { type: 'step_begin', step: 1, cols: [{ name: 'name', decltype: 'TEXT' }] },
      { type: 'row', row: [{ type: 'text', value: 'a' }] },
      { type: 'row', row: [{ type: 'text', value: 'b' }] },
      { type: 'step_end', affected_row_count: 0, last_insert_rowid: null },
      { type: 'step_error', step: 3, error: { code: 'SQL_PARSE_ERROR', message: expect.stringContaining('nonsense') } },
      { type: 'step_begin', step: 4, cols: [{ name: 'two', decltype: null }] },
      { type: 'row', row: [{ type: 'integer', value: '2' }] },
      { type: 'step_end', affected_row_count: 0, last_insert_rowid: null },
    ]);
  });

  test('shares its stream with pipelines of both versions', async () => {
    const [{ baton }] = (await cursor(batch(step('BEGIN'), step("INSERT INTO item VALUES (9, 'i')")))).lines;
    const between = await app.pipeline(app.full, {
      baton,
      requests: [{ type: 'get_autocommit' }, { type: 'store_sql', sql_id: 1, sql: 'ROLLBACK' }],
    });
    expect(between.body.results[0].response.is_autocommit).toBe(false);
    const ended = await cursor({
      baton: between.body.baton,
      batch: { steps: [{ stmt: { sql_id: 1 } }, step('SELECT 1 FROM item WHERE id = 9')] },
    });
    expect(ended.lines.slice(1).map(entry)).toEqual(['step_begin 0', 'step_end', 'step_begin 1', 'step_end']);
    const closed = await fetch(`${app.url}/v3/pipeline`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.full}` },
      body: JSON.stringify({ baton: ended.lines[0].baton, requests: [{ type: 'close' }] }),
    });
    expect([closed.status, await closed.json()]).toEqual([
      200,
      { baton: null, base_url: null, results: [{ type: 'ok', response: { type: 'close' } }] },
    ]);
  });

  test('of no steps is its first line', async () => {
    expect((await cursor(batch())).lines).toEqual([{ baton: expect.any(String), base_url: null }]);
  });

  test('answers no rows that are not wanted, and row texts with line ends in one line', async () => {
    const unwanted = await cursor(batch({ stmt: { sql: 'SELECT 1', want_rows: false } }, step("SELECT 'a' || char(10, 13, 8232) || 'b'")));
    expect(unwanted.lines.slice(1).map(entry)).toEqual(['step_begin 0', 'step_end', 'step_begin 1', 'row', 'step_end']);
    expect(unwanted.lines[4].row[0].value).toBe('a\n\r\u2028b');
  });

  test('that writes with a Read Only token is refused before its first line, and writes nothing', async () => {
    await cursor(batch(step("INSERT OR IGNORE INTO item (name) VALUES ('kept')")));
    const { status, lines } = await cursor(batch(step('SELECT 1'), step('DELETE FROM item')), app, app.read);
    expect([status, lines[0].code]).toEqual([403, 'SQLITE_READONLY']);
    expect((await cursor(batch(step('SELECT count(*) > 0 FROM item')), app, app.read)).lines[2].row[0].value).toBe('1');
  });

  test.each([
    ['rows', 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 51) SELECT i FROM n'],
    ['bytes of rows', "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 49) SELECT 'a' FROM n"],
    ['bytes of a row', "SELECT printf('%.*c', 2000, 'x')"],
  ])('with more %s than an answer may have fails in that step alone', async (_what, sql) => {
    const { status, lines, text } = await cursor(batch(step(sql), step('SELECT 1')), tiny);
    expect(status).toBe(200);
    expect(lines.slice(1).map(entry)).toEqual(['step_error 0', 'step_begin 1', 'row', 'step_end']);
    expect([lines[1].error.code, Buffer.byteLength(text) < 3_000]).toEqual(['RESPONSE_TOO_LARGE', true]);
  });

  test('that is stopped ends in an error, without a baton', async () => {
    const { lines } = await cursor(
      batch(step('WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n')),
      tiny,
    );
    expect(lines).toEqual([
      { baton: null, base_url: null },
      { type: 'error', error: { code: 'SQLITE_INTERRUPT', message: expect.stringContaining('300 ms') } },
    ]);
  });

  test.each([
    ['a text that is not stored', { sql_id: 5 }, 'SQL_NOT_FOUND', 'batch.steps[1].stmt.sql_id is 5'],
    ['a wrong number of arguments', { sql: 'SELECT ?' }, 'ARGS_INVALID', '0 arguments are given'],
    ['no statement', { sql: '-- nothing' }, 'SQL_NO_STATEMENT', 'no statement'],
    ['two statements', { sql: 'SELECT 1; SELECT 2' }, 'SQL_MANY_STATEMENTS', 'more than one'],
    ['what nobody may do', { sql: "ATTACH 'x' AS y" }, 'SQLITE_AUTH', 'outside of the database'],
    ['a broken constraint', { sql: 'INSERT INTO item (id) VALUES (1), (1)' }, 'SQLITE_CONSTRAINT', 'item.id'],
  ])('whose second step has %s has a step_error for it, and goes on', async (_what, stmt, code, message) => {
    const steps = [step('SELECT 1'), { stmt }, step('SELECT 3', { type: 'error', step: 1 })];
    const { lines } = await cursor(batch(...steps));
    const ofOne = (index: number) => [`step_begin ${index}`, 'row', 'step_end'];
    expect(lines.slice(1).map(entry)).toEqual([...ofOne(0), 'step_error 1', ...ofOne(2)]);
    expect(lines[4].error).toEqual({ code, message: expect.stringContaining(message) });
  });

  test('of which each step fails tells each error, at last that there is no room for it', async () => {
    const failing = Array.from({ length: 11 }, () => ({ stmt: { sql: `SELECT ${'n'.repeat(200)}` } }));
    const { lines, text } = await cursor(batch(...failing), tiny);
    expect(lines.slice(1).map(entry)).toEqual(failing.map((_failed, index) => `step_error ${index}`));
    expect([lines[1].error.code, lines.at(-1).error.code, Buffer.byteLength(text) < 2_200]).toEqual([
      'SQLITE_ERROR',
      'RESPONSE_TOO_LARGE',
      true,
    ]);
  });

  test('of more steps than the answer has room for is not run, and ends in an error', async () => {
    const { lines } = await cursor(batch(...Array.from({ length: 100 }, () => step('SELECT 1'))), tiny);
    expect(lines.slice(1)).toEqual([
      { type: 'error', error: { code: 'RESPONSE_TOO_LARGE', message: expect.stringContaining('the batch was not run') } },
    ]);
  });

  test.each([
    ['no object', [], 'the body is not an object'],
    ['no batch', {}, 'batch is nothing'],
    ['requests', { requests: [execute('SELECT 1')] }, 'batch is nothing'],
    ['steps that are no list', { batch: { steps: 7 } }, 'batch.steps is 7'],
    [
      'a wrong argument',
      batch({ stmt: { sql: 'SELECT ?', args: [{ type: 'integer', value: 1 }] } }),
      'batch.steps[0].stmt.args[0].value is 1',
    ],
    ['a condition on a later step', batch(step('SELECT 1', { type: 'ok', step: 0 })), 'batch.steps[0].condition.step'],
    ['a baton that is a number', { baton: 7, ...batch() }, 'baton is not a string'],
    ['a baton of nobody', { baton: 'x', ...batch() }, 'no stream of this token waits for this baton'],
  ])('with %s is refused, and says so', async (_what, body, message) => {
    const { status, lines } = await cursor(body);
    expect([status, lines[0].message]).toEqual([400, expect.stringContaining(message)]);
  });

  test('needs a token', async () => {
    expect((await cursor(batch(), app, 'wrong')).status).toBe(401);
  });
});
