import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';

const ENDLESS = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
const execute = (sql: string) => ({ type: 'execute', stmt: { sql } });

let app: DatabaseApp;

beforeEach(async () => {
  app = await startDatabaseApp({ statementMs: 600, requestMs: 1_500, lockWaitMs: 300, processes: 2, queueMs: 1_000, streams: 4 });
  await app.run(app.full, 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
});

afterEach(() => app.stop());

const count = async (): Promise<string> =>
  (await app.run(app.read, 'SELECT count(*) FROM item')).body.results[0].response.result.rows[0][0].value;

describe('a statement that never ends', () => {
  test('is stopped, its transaction is undone, and the rest of its pipeline is not run', async () => {
    const requests = ['BEGIN', 'INSERT INTO item (name) VALUES (1)', ENDLESS, 'COMMIT'].map(execute);
    const { status, body } = await app.pipeline(app.full, { requests });
    expect([status, body.baton]).toEqual([200, null]);
    expect(body.results.map(({ error }: { error?: { code: string } }) => error?.code ?? 'ok')).toEqual([
      'ok',
      'ok',
      'SQLITE_INTERRUPT',
      'STREAM_CLOSED',
    ]);
    expect(body.results[2].error.message).toContain('600 ms');
    expect(await count()).toBe('0');
  });

  describe('for a long time', () => {
    const isLocked = async (): Promise<boolean> => (await app.run(app.full, 'BEGIN IMMEDIATE')).body.results[0].type === 'error';

    let caller: AbortController;

    /** Has the lock when this resolves. */
    async function runEndless(): Promise<{ readonly answer: Promise<Response> }> {
      const answer = fetch(`${app.url}/v2/pipeline`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${app.full}` },
        body: JSON.stringify({ requests: [execute('BEGIN IMMEDIATE'), execute(ENDLESS)] }),
        signal: caller.signal,
      });
      await eventually('it runs', isLocked);
      return { answer };
    }

    beforeEach(async () => {
      caller = new AbortController();
      await app.stop();
      app = await startDatabaseApp({ statementMs: 600_000, requestMs: 600_000, lockWaitMs: 100 });
      await app.run(app.full, 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
    });

    // Whatever became of the test: the program does not end before the statement does.
    afterEach(() => caller.abort());

    test('stalls nobody else meanwhile', async () => {
      const { answer } = await runEndless();
      for (let reader = 0; reader < 5; reader += 1) expect(await count()).toBe('0');
      expect(await isLocked()).toBe(true);
      caller.abort();
      await expect(answer).rejects.toThrow();
    });

    test('is stopped as soon as its caller has gone', async () => {
      const { answer } = await runEndless();
      caller.abort();
      await expect(answer).rejects.toThrow();
      await eventually('its lock is free', async () => !(await isLocked()));
    });
  });

  test('leaves processes for others when it is stopped', async () => {
    for (let round = 0; round < 3; round += 1) await Promise.all([app.run(app.read, ENDLESS), app.run(app.full, ENDLESS)]);
    expect((await app.run(app.full, 'SELECT 1')).body.results[0].type).toBe('ok');
  });
});

describe('statements that each end', () => {
  const SLOW = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000) SELECT count(*) FROM n';

  test('may take longer in all than one may', async () => {
    // No more than 1,500 ms in all, of which none is 600 ms by itself.
    const script = `${SLOW};`.repeat(4_000);
    const { body } = await app.pipeline(app.full, { requests: [{ type: 'sequence', sql: script }] });
    expect(body.results[0].error).toMatchObject({ code: 'SQLITE_INTERRUPT', message: expect.stringContaining('1500 ms') });
  });
});

describe('too much at once', () => {
  test.each([
    ['transactions', 'BEGIN'],
    ['temporary tables', 'CREATE TEMP TABLE mine (a)'],
    ['settings', 'PRAGMA foreign_keys = OFF'],
  ])('streams with %s, beyond the processes: 503 after a while, and a process as soon as one is done', async (_what, sql) => {
    const begin = () => app.pipeline(app.full, { requests: [execute(sql), execute('SELECT * FROM item')] });
    const [first, second] = await Promise.all([begin(), begin()]);
    const refused = await app.run(app.full, 'SELECT 1');
    expect([refused.status, refused.body]).toEqual([
      503,
      { error: refused.body.message, code: 'TOO_MANY_STREAMS', message: expect.stringContaining('2 database processes') },
    ]);
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    const waiting = app.run(app.full, 'SELECT 1');
    await app.pipeline(app.full, { baton: first.body.baton, requests: [{ type: 'close' }] });
    expect((await waiting).status).toBe(200);
    expect(second.status).toBe(200);
  });

  test('streams without a transaction share the processes', async () => {
    const streams = [];
    for (let index = 0; index < 4; index += 1) streams.push((await app.pipeline(app.full, { requests: [execute('SELECT 1')] })).body.baton);
    expect(streams).toEqual(Array.from({ length: 4 }, () => expect.any(String)));
    for (const baton of streams) {
      const { body } = await app.pipeline(app.full, { baton, requests: [execute('SELECT 2'), { type: 'close' }] });
      expect(body.results.map(({ type }: { type: string }) => type)).toEqual(['ok', 'ok']);
    }
  });

  test('streams beyond the limit: 503', async () => {
    for (let index = 0; index < 4; index += 1) expect((await app.pipeline(app.full, { requests: [] })).status).toBe(200);
    const refused = await app.pipeline(app.full, { requests: [] });
    expect(refused.body).toMatchObject({ code: 'TOO_MANY_STREAMS', message: expect.stringContaining('4 streams') });
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  });

  test('two writers: the second is told that the database is locked', async () => {
    const { baton } = (await app.pipeline(app.full, { requests: [execute('BEGIN IMMEDIATE')] })).body;
    expect((await app.run(app.full, "INSERT INTO item (name) VALUES ('a')")).body.results[0].error.code).toBe('SQLITE_BUSY');
    await app.pipeline(app.full, { baton, requests: [{ type: 'close' }] });
    expect((await app.run(app.full, "INSERT INTO item (name) VALUES ('a')")).body.results[0].type).toBe('ok');
  });
});
