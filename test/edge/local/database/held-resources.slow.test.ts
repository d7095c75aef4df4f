import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenStreams } from '../../../../edge/local/database/open-streams.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { ownStreams } from './own-streams.ts';
import { codes, execute } from './pipeline-results.ts';

const MIB = 1024 * 1024;
const ENDLESS = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';

let app: DatabaseApp;

afterEach(() => app.stop());

const count = async (): Promise<string> =>
  (await app.run(app.read, 'SELECT count(*) FROM item')).body.results[0].response.result.rows[0][0].value;

describe('a transaction that is open for too long', () => {
  beforeEach(async () => {
    app = await startDatabaseApp({ transactionMs: 600, lockWaitMs: 300 });
    await app.run(app.full, 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
  });

  test.each(['full', 'read'] as const)('is rolled back though it is used all the time (%s), and its stream is told so', async (kind) => {
    const begun = kind === 'full' ? ['BEGIN', "INSERT INTO item (name) VALUES ('a')"] : ['BEGIN', 'SELECT * FROM item'];
    let answer = await app.pipeline(app[kind], { requests: begun.map((sql) => execute(sql)) });
    await eventually('it is ended', async () => {
      answer = await app.pipeline(app[kind], { baton: answer.body.baton, requests: [execute('SELECT * FROM item')] });
      return answer.status !== 200 || codes(answer.body.results).join() !== 'ok';
    });
    const told = answer.status === 200 ? answer.body.results[0].error : answer.body;
    expect(told).toMatchObject({ code: 'TRANSACTION_TIMEOUT', message: expect.stringContaining('600 ms') });
    expect(await count()).toBe('0');
  });

  test('is stopped in the middle of a statement', async () => {
    const { body } = await app.pipeline(app.full, { requests: ['BEGIN IMMEDIATE', ENDLESS, 'COMMIT'].map((sql) => execute(sql)) });
    expect(codes(body.results)).toEqual(['ok', 'TRANSACTION_TIMEOUT', 'STREAM_CLOSED']);
    expect(codes((await app.run(app.full, "INSERT INTO item (name) VALUES ('a')")).body.results)).toEqual(['ok', 'ok']);
  });

  test('is stopped in the middle of a batch that began it, and undone', async () => {
    const steps = ['BEGIN IMMEDIATE', "INSERT INTO item (name) VALUES ('a')", ENDLESS, 'COMMIT'].map((sql) => ({ stmt: { sql } }));
    const { body } = await app.pipeline(app.full, { requests: [{ type: 'batch', batch: { steps } }, execute('SELECT 1')] });
    expect(codes(body.results)).toEqual(['TRANSACTION_TIMEOUT', 'STREAM_CLOSED']);
    expect(body.results[0].error.message).toContain('600 ms');
    expect(await count()).toBe('0');
  });

  test.each([['COMMIT'], ['ROLLBACK']])('is none after %s', async (end) => {
    await app.stop();
    app = await startDatabaseApp({ transactionMs: 300, statementMs: 1_500 });
    const steps = ['BEGIN', end, ENDLESS].map((sql) => ({ stmt: { sql } }));
    const { body } = await app.pipeline(app.full, { requests: [{ type: 'batch', batch: { steps } }] });
    expect(codes(body.results)).toEqual(['SQLITE_INTERRUPT']);
  });

  test('fails in a real client with its code, and the client goes on', async () => {
    const client = app.client(app.full);
    const transaction = await client.transaction('write');
    await transaction.execute("INSERT INTO item (name) VALUES ('a')");
    await eventually('another may write', async () => {
      return codes((await app.run(app.full, "INSERT INTO item (name) VALUES ('b')")).body.results)[0] === 'ok';
    });
    await expect(transaction.commit()).rejects.toMatchObject({ code: 'TRANSACTION_TIMEOUT' });
    expect((await client.execute('SELECT name FROM item')).rows.map((row) => row[0])).toEqual(['b']);
  });

  test('is not one of several in a row that are short', async () => {
    await app.stop();
    app = await startDatabaseApp({ transactionMs: 2_000 });
    await app.run(app.full, 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
    const startedAt = performance.now();
    let answer = await app.pipeline(app.full, { requests: [] });
    const turn = ['BEGIN', "INSERT INTO item (name) VALUES ('a')", 'COMMIT'].map((sql) => execute(sql));
    let turns = 0;
    for (; performance.now() - startedAt < 2_500; turns += 1) {
      answer = await app.pipeline(app.full, { baton: answer.body.baton, requests: turn });
      expect(codes(answer.body.results)).toEqual(['ok', 'ok', 'ok']);
    }
    expect(await count()).toBe(String(turns));
  });
});

describe('a transaction that is ended between two requests of its pipeline', () => {
  test('takes its stream and its process with it, also when nothing comes after', async () => {
    app = await startDatabaseApp();
    const { streams, ask } = ownStreams(app, { transactionMs: 100, processes: 1 });
    const waits: OpenStreams = {
      ...streams,
      async run(stream, request, answerBytes) {
        const outcome = await streams.run(stream, request, answerBytes);
        await eventually('its transaction is ended', async () => stream.ended() !== null);
        return outcome;
      },
    };
    const ended = await ask(null, [execute('BEGIN')], waits);
    expect([ended.baton, codes(ended.results), streams.size()]).toEqual([null, ['ok'], 0]);
    expect(codes((await ask(null, [execute('SELECT 1')])).results)).toEqual(['ok']);
  });
});

describe('the write-ahead log', () => {
  const LOG_BYTES = 4 * MIB;
  const WRITE = execute('INSERT INTO item (name) VALUES (randomblob(500000))');

  beforeEach(async () => {
    app = await startDatabaseApp({ transactionMs: 60_000, lockWaitMs: 200, logBytes: LOG_BYTES });
    await app.run(app.full, 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
  });

  const logBytes = (): number => statSync(join(app.dataDir, 'database.sqlite-wal')).size;
  const write = async (): Promise<string | undefined> =>
    codes((await app.pipeline(app.full, { requests: [WRITE, { type: 'close' }] })).body.results)[0];

  test('that a reader holds is limited: a write is told it is full, the reader is ended, and the next write is done', async () => {
    const reader = await app.pipeline(app.read, { requests: ['BEGIN', 'SELECT count(*) FROM item'].map((sql) => execute(sql)) });
    let written = 0;
    let last = await write();
    for (; last === 'ok' && written < 30; last = await write()) written += 1;
    expect(last).toBe('SQLITE_FULL');
    expect(written).toBeLessThanOrEqual(9);
    expect(logBytes()).toBeLessThan(LOG_BYTES + MIB);
    expect(await write()).toBe('ok');
    expect(logBytes()).toBeLessThan(MIB);
    const told = await app.pipeline(app.read, { baton: reader.body.baton, requests: [execute('SELECT count(*) FROM item')] });
    expect([told.status, told.body.code]).toEqual([400, 'TRANSACTION_ENDED']);
    expect(await count()).toBe(String(written + 1));
  });

  test.each(['VACUUM', '/* all of */ vacuum', 'REINDEX'])('that a reader holds is limited for %s, too', async (sql) => {
    await app.run(app.full, 'CREATE INDEX item_name ON item (name)');
    expect([await write(), await write()]).toEqual(['ok', 'ok']);
    await app.pipeline(app.read, { requests: ['BEGIN', 'SELECT count(*) FROM item'].map((read) => execute(read)) });
    const told: (string | undefined)[] = [];
    while (told.length < 12 && told.at(-1) !== 'SQLITE_FULL') told.push(codes((await app.run(app.full, sql)).body.results)[0]);
    expect(told.at(-1)).toBe('SQLITE_FULL');
    expect(logBytes()).toBeLessThan(2 * LOG_BYTES);
    expect(codes((await app.run(app.full, sql)).body.results)[0]).toBe('ok');
  });

  test('of one transaction is limited, which can be committed', async () => {
    const requests = [execute('BEGIN'), ...Array.from({ length: 20 }, () => WRITE), execute('COMMIT'), { type: 'close' }];
    const told = codes((await app.pipeline(app.full, { requests })).body.results);
    expect(told.filter((code) => code === 'SQLITE_FULL').length).toBeGreaterThan(5);
    expect(told.slice(-2)).toEqual(['ok', 'ok']);
    expect(Number(await count())).toBe(told.filter((code) => code === 'ok').length - 3);
    expect(logBytes()).toBeLessThan(2 * LOG_BYTES);
    expect(await write()).toBe('ok');
  });

  test('does not end readers for a writer that only waits for another', async () => {
    const writer = await app.pipeline(app.full, { requests: [execute('BEGIN'), ...Array.from({ length: 12 }, () => WRITE)] });
    expect(await write()).toBe('SQLITE_BUSY');
    const done = await app.pipeline(app.full, { baton: writer.body.baton, requests: [execute('COMMIT'), { type: 'close' }] });
    expect(codes(done.body.results)).toEqual(['ok', 'ok']);
  });
});

describe('a statement that takes too much memory', () => {
  // A row of 400 values of 8 MB.
  const WIDE = `SELECT ${Array.from({ length: 400 }, () => 'randomblob(8000000)').join(', ')}`;

  beforeEach(async () => {
    app = await startDatabaseApp({ statementMs: 60_000, requestMs: 60_000, transactionMs: 60_000, memoryBytes: 256 * MIB });
    await app.run(app.full, 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
  });

  test('is stopped and told so, and other streams go on', async () => {
    const other = await app.pipeline(app.full, { requests: ['BEGIN', "INSERT INTO item (name) VALUES ('a')"].map((sql) => execute(sql)) });
    const { status, body } = await app.pipeline(app.read, { requests: [execute(WIDE), execute('SELECT 1')] });
    expect([status, codes(body.results)]).toEqual([200, ['SQLITE_NOMEM', 'STREAM_CLOSED']]);
    expect(body.results[0].error.message).toContain('256 MiB');
    const done = await app.pipeline(app.full, { baton: other.body.baton, requests: [execute('COMMIT')] });
    expect(codes(done.body.results)).toEqual(['ok']);
    expect(await count()).toBe('1');
  });

  test('does not come of values as large as are allowed, one after the other', async () => {
    const large = Buffer.alloc(6_000_000, 1).toString('base64');
    const insert = { type: 'execute', stmt: { sql: 'INSERT INTO item (name) VALUES (?)', args: [{ type: 'blob', base64: large }] } };
    for (let round = 0; round < 3; round += 1) {
      const { body } = await app.pipeline(app.full, { requests: [insert, execute('SELECT name FROM item LIMIT 1'), { type: 'close' }] });
      expect(codes(body.results)).toEqual(['ok', 'ok', 'ok']);
    }
  });
});

describe('a statement that keeps too much beside its rows', () => {
  /** Rows of 20,000 bytes, 2 GB in all. */
  const ROWS = 'WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000)';
  const STATEMENTS = [
    [
      'a materialized subquery',
      `${ROWS}, m AS MATERIALIZED (SELECT x, zeroblob(20000) AS r FROM c) SELECT count(*) FROM m a, m b WHERE a.x = -b.x`,
    ],
    ['a sorter', `${ROWS} SELECT count(*) FROM (SELECT 1 FROM c GROUP BY randomblob(20000))`],
    ['a set of distinct values', `${ROWS} SELECT count(DISTINCT randomblob(20000)) FROM c`],
    [
      'two of them',
      `${ROWS} SELECT count(DISTINCT randomblob(9000)), (SELECT count(*) FROM (SELECT 1 FROM c GROUP BY randomblob(20000))) FROM c`,
    ],
    ['a compound of selects', `${ROWS} SELECT count(*) FROM (SELECT randomblob(20000) FROM c UNION SELECT randomblob(20000) FROM c)`],
  ] as const;

  beforeEach(async () => {
    app = await startDatabaseApp({ statementMs: 60_000, requestMs: 60_000, transactionMs: 60_000, memoryBytes: 256 * MIB });
    await app.run(app.full, 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
  });

  test.each(STATEMENTS)('is stopped as %s, and told so; what it was within is undone', async (_what, sql) => {
    const reading = await app.pipeline(app.read, { requests: [execute(sql), execute('SELECT 1')] });
    expect([reading.status, codes(reading.body.results)]).toEqual([200, ['SQLITE_NOMEM', 'STREAM_CLOSED']]);
    expect(reading.body.results[0].error.message).toContain('memory than is allowed (256 MiB)');
    const writing = await app.pipeline(app.full, {
      requests: [execute('BEGIN'), execute("INSERT INTO item (name) VALUES ('a')"), execute(sql)],
    });
    expect(codes(writing.body.results)).toEqual(['ok', 'ok', 'SQLITE_NOMEM']);
    expect(await count()).toBe('0');
  });

  test('is not one whose rows fit into the memory', async () => {
    const sql = `${ROWS.replace('100000', '1500')} SELECT count(*) FROM (SELECT 1 FROM c GROUP BY randomblob(20000))`;
    expect(codes((await app.run(app.read, sql)).body.results)).toEqual(['ok', 'ok']);
  });
});
