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

  test.each(['TABLE', 'TEMP TABLE'])('of the bytes in a %s: the database is full for that, and for reading it is not', async (kind) => {
    const answers = await results([
      execute(`CREATE ${kind} large (a)`),
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
