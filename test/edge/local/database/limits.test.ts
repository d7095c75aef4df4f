import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { execute, pipelineResults } from './pipeline-results.ts';

let app: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp({
    rows: 100,
    answerBytes: 20_000,
    bodyBytes: 200_000,
    sqlBytes: 50_000,
    valueBytes: 60_000,
    fileBytes: 2_000_000,
    requests: 22,
    storedBytes: 30_000,
  });
  await app.client(app.full).executeMultiple('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)');
});

afterAll(() => app.stop());

const results = (requests: readonly unknown[]) => pipelineResults(app, requests);

const numbers = (count: number): string =>
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${count}) SELECT i FROM n`;

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

  test('of the bytes in a table: the database is full for that, and for reading it is not', async () => {
    const answers = await results([
      execute('CREATE TABLE large (a)'),
      ...Array.from({ length: 18 }, () => execute(`INSERT INTO large SELECT zeroblob(50000) FROM (${numbers(5)})`)),
      execute('SELECT count(*) > 5 FROM large'),
      execute('DROP TABLE large'),
    ]);
    expect(answers.slice(0, -2).map(({ error }: { error?: { code: string } }) => error?.code)).toContain('SQLITE_FULL');
    expect(answers.at(-2).response.result.rows[0][0].value).toBe('1');
    expect(answers.at(-1).type).toBe('ok');
  });

  test('undoes a statement whose own rows are too many, inside of a transaction too', async () => {
    const insert = execute(`INSERT INTO item (id) ${numbers(101)} RETURNING id`);
    const count = execute('SELECT count(*) FROM item');
    const answers = await results([
      insert,
      count,
      execute('BEGIN'),
      execute("INSERT INTO item VALUES (1000, 'kept')"),
      insert,
      count,
      execute('ROLLBACK'),
    ]);
    expect([answers[0].error.code, answers[4].error.code]).toEqual(['RESPONSE_TOO_LARGE', 'RESPONSE_TOO_LARGE']);
    expect([answers[1], answers[5]].map(({ response }) => response.result.rows[0][0].value)).toEqual(['0', '1']);
  });

  test('of bytes counts the names of columns: the steps of a batch that would go past it are not run, and say so', async () => {
    const sql = `SELECT 1 AS "${'n'.repeat(5_600)}"`;
    const [, { response }, { error }] = await results([
      { type: 'store_sql', sql_id: 1, sql },
      { type: 'batch', batch: { steps: Array.from({ length: 10 }, () => ({ stmt: { sql_id: 1 } })) } },
      execute(`INSERT INTO item (id) VALUES (77) RETURNING id AS "${'n'.repeat(6_000)}"`),
      execute('SELECT count(*) FROM item WHERE id = 77'),
    ]);
    const { step_results: answers, step_errors: errors } = response.result;
    expect(answers.map((answer: unknown) => answer !== null)).toEqual([true, true, true, ...Array.from({ length: 7 }, () => false)]);
    expect(errors.slice(3)).toEqual(
      Array.from({ length: 7 }, () => ({ code: 'RESPONSE_TOO_LARGE', message: expect.stringContaining('the statement was not run') })),
    );
    expect(error).toEqual({ code: 'RESPONSE_TOO_LARGE', message: expect.stringContaining('the statement was not run') });
  });

  test('of bytes counts descriptions, and no error of the engine repeats a name of thousands of characters', async () => {
    const sql = `SELECT 1 AS "${'n'.repeat(6_000)}"`;
    const answers = await results([
      ...Array.from({ length: 4 }, () => ({ type: 'describe', sql })),
      execute(`SELECT * FROM ${'t'.repeat(6_000)}`),
      execute(`SELECT * FROM ${'t'.repeat(6_000)} WHERE WHERE`),
    ]);
    expect(answers.slice(0, 4).map(({ error }: { error?: { code: string } }) => error?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      'RESPONSE_TOO_LARGE',
    ]);
    expect(answers.slice(4).map(({ error }: { error: { code: string } }) => error.code)).toEqual(['SQLITE_ERROR', 'SQL_PARSE_ERROR']);
    for (const { error } of answers.slice(4)) expect(error.message.length).toBeLessThan(600);
  });

  test('of characters of a message of an error holds for what repeats names or counts parameters', async () => {
    const name = 'n'.repeat(6_000);
    const named = { named_args: [{ name: 'other', value: { type: 'null' } }] };
    const answers = await results([
      execute('SELECT ?32766 AS a', { args: [{ type: 'null' }] }),
      execute(`SELECT :${name} AS a`, named),
      execute(`SELECT :other AS a, :${name} AS b`, named),
      { type: name },
    ]);
    for (const { error } of answers) {
      expect(error.message.length).toBeLessThanOrEqual(1_025);
      expect(error.code).toMatch(/^ARGS_INVALID$|^REQUEST_INVALID$/u);
    }
    expect(answers[0].error.message).toMatch(/^1 arguments are given; the statement has \?, .*…$/u);
  });

  test.each(['/v2/pipeline', '/v3/cursor'])('of bytes counts the errors of steps, of %s, and those beyond it say so', async (path) => {
    const failing = { stmt: { sql: 'SELECT ?3000', args: [{ type: 'null' }] } };
    const batch = { steps: [{ stmt: { sql: 'SELECT 1' } }, ...Array.from({ length: 100 }, () => failing)] };
    const body = path === '/v3/cursor' ? { batch } : { requests: [{ type: 'batch', batch }, { type: 'close' }] };
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${app.full}` };
    const answer = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    const codes = [...text.matchAll(/"code":"([A-Z_]+)"/gu)].map(([, code]) => code);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
    expect([codes[0], codes.at(-1)]).toEqual(['ARGS_INVALID', 'RESPONSE_TOO_LARGE']);
    expect(codes).toHaveLength(100);
  });

  test('of bytes counts the errors of requests', async () => {
    const wrong = Array.from({ length: 21 }, () => ({ type: 'é'.repeat(200) }));
    const sql = `SELECT 1 AS "${'n'.repeat(19_000)}"`;
    const [, ...answers] = await results([execute(sql), ...wrong.slice(1)]);
    const codes = answers.map(({ error }: { error: { code: string } }) => error.code);
    expect([codes[0], codes.at(-1)]).toEqual(['REQUEST_INVALID', 'RESPONSE_TOO_LARGE']);
  });

  test('of bytes refuses a batch whose steps would go past it untold', async () => {
    const steps = Array.from({ length: 2_001 }, () => ({ stmt: { sql: 'INSERT INTO item DEFAULT VALUES' } }));
    const [{ error }, count] = await results([{ type: 'batch', batch: { steps } }, execute('SELECT count(*) FROM item')]);
    expect(error).toEqual({ code: 'RESPONSE_TOO_LARGE', message: expect.stringContaining('the batch was not run') });
    expect(count.response.result.rows[0][0].value).toBe('0');
  });

  test('of the bytes that are stored as SQL holds for all streams of a token together, and ends with them', async () => {
    const sql = `SELECT '${'é'.repeat(4_993)}'`;
    const store = (id: number) => ({ type: 'store_sql', sql_id: id, sql });
    const first = await app.pipeline(app.full, { requests: [store(1), store(2)] });
    const second = await app.pipeline(app.full, { requests: [store(1), store(2), { type: 'close_sql', sql_id: 1 }, store(2)] });
    expect(second.body.results.map(({ type }: { type: string }) => type)).toEqual(['ok', 'error', 'ok', 'ok']);
    expect(second.body.results[1].error).toEqual({
      code: 'SQL_STORE_TOO_LARGE',
      message: 'requests[1].sql has 9995 bytes, and the streams of this token store 29985 already; allowed: up to 30000 together',
    });
    const other = await app.pipeline(app.read, { requests: [store(1), store(2), store(3), { type: 'close' }] });
    expect(other.body.results.map(({ type }: { type: string }) => type)).toEqual(['ok', 'ok', 'ok', 'ok']);
    for (const { body } of [first, second]) await app.pipeline(app.full, { baton: body.baton, requests: [{ type: 'close' }] });
    const again = await app.pipeline(app.full, { requests: [store(1), store(2), store(3), { type: 'close' }] });
    expect(again.body.results.map(({ type }: { type: string }) => type)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  test('of the items of a list names the path, how many there are and what is allowed', async () => {
    const [steps, args] = await results([
      { type: 'batch', batch: { steps: Array.from({ length: 10_001 }, () => ({})) } },
      { type: 'execute', stmt: { sql: 'SELECT 1', args: Array.from({ length: 32_767 }, () => 0) } },
    ]);
    expect([steps.error, args.error]).toEqual([
      { code: 'REQUEST_INVALID', message: 'requests[0].batch.steps has 10001 items; allowed: up to 10000' },
      { code: 'REQUEST_INVALID', message: 'requests[1].stmt.args has 32767 items; allowed: up to 32766' },
    ]);
  });

  test('does not count rows that nobody wants', async () => {
    expect((await results([execute(numbers(5_000), { want_rows: false })]))[0].response.result.rows).toEqual([]);
  });

  test.each([
    ['a body that is not JSON', 'nonsense', 400],
    ['a body that is a list', [], 400],
    ['a body without requests', {}, 400],
    ['a baton that is a number', { baton: 1, requests: [] }, 400],
    ['too many requests', { requests: Array.from({ length: 23 }, () => ({ type: 'close' })) }, 400],
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
