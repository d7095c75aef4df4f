import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';
import { ownStreams } from './own-streams.ts';
import { codes, execute } from './pipeline-results.ts';

/** No stream ends by itself, and none is refused because the machine is slow. */
const PATIENT = {
  idleMs: 300_000,
  transactionMs: 300_000,
  queueMs: 300_000,
  lockWaitMs: 300_000,
  statementMs: 300_000,
  requestMs: 300_000,
};

let app: DatabaseApp;

beforeEach(async () => {
  app = await startDatabaseApp();
  await app.client(app.full).executeMultiple('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)');
});

afterEach(() => app.stop());

const names = async (): Promise<string> =>
  (await app.run(app.read, 'SELECT group_concat(name) FROM (SELECT name FROM item ORDER BY id)')).body.results[0].response.result.rows[0][0]
    .value;

const INSERT = execute("INSERT INTO item (name) VALUES ('b')");
const step = ({ stmt }: { readonly stmt: object }) => ({ stmt });
const batch = (...requests: readonly { readonly stmt: object }[]) => ({ type: 'batch', batch: { steps: requests.map(step) } });

describe('a writer that finds the database locked waits for', () => {
  test.each([
    ['a statement', [INSERT]],
    ['a statement that returns rows', [execute("INSERT INTO item (name) VALUES ('b') RETURNING id")]],
    ['a transaction that begins with the lock', [execute('BEGIN IMMEDIATE'), INSERT, execute('COMMIT')]],
    ['a transaction that gets the lock later', [execute('BEGIN'), INSERT, execute('COMMIT')]],
    ['a savepoint', [execute('SAVEPOINT a'), INSERT, execute('RELEASE a')]],
    ['a batch', [batch(execute('BEGIN IMMEDIATE'), INSERT, execute('COMMIT'))]],
    ['a step in the middle of a batch', [batch(execute('SELECT 1'), INSERT, execute('SELECT 2'))]],
    ['a script', [{ type: 'sequence', sql: "SELECT 1; INSERT INTO item (name) VALUES ('b'); SELECT 2" }]],
    ['a new table', [execute('CREATE TABLE other (a)'), INSERT]],
  ])('%s', async (_what, requests) => {
    const { ask, waited } = ownStreams(app, PATIENT);
    const holder = await ask(null, [execute('BEGIN IMMEDIATE'), execute("INSERT INTO item (name) VALUES ('a')")]);
    const waiting = ask(null, [...requests, { type: 'close' }]);
    await eventually('it waits', async () => waited() === 1);
    await ask(holder.baton, [execute('COMMIT')]);
    const { results } = await waiting;
    expect(new Set(codes(results))).toEqual(new Set(['ok']));
    // Not null: the steps of a batch have no errors, either.
    for (const { response } of results) for (const error of response.result?.step_errors ?? []) expect(error).toBe(null);
    expect(await names()).toBe('a,b');
  });
});

describe('writers that wait', () => {
  test.each([
    ['commits', [execute('COMMIT')], 'a,1,2,3,4,5'],
    ['rolls back', [execute('ROLLBACK')], '1,2,3,4,5'],
    ['is closed', [{ type: 'close' }], '1,2,3,4,5'],
  ])('get the lock in their order, when the writer before them %s', async (_what, end, expected) => {
    const { ask, waited } = ownStreams(app, PATIENT);
    const holder = await ask(null, [execute('BEGIN IMMEDIATE'), execute("INSERT INTO item (name) VALUES ('a')")]);
    const waiting: Promise<unknown>[] = [];
    for (let number = 1; number <= 5; number += 1) {
      const requests = ['BEGIN IMMEDIATE', `INSERT INTO item (name) VALUES ('${number}')`, 'COMMIT'].map((sql) => execute(sql));
      waiting.push(ask(null, [...requests, { type: 'close' }]));
      await eventually('it waits', async () => waited() === number);
    }
    await ask(holder.baton, end);
    await Promise.all(waiting);
    expect(await names()).toBe(expected);
  });

  test('get the lock when the process of the writer before them was killed', async () => {
    const { ask, waited } = ownStreams(app, { ...PATIENT, transactionMs: 4_000 });
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    const { baton } = await ask(null, [execute('BEGIN IMMEDIATE')]);
    const holder = ask(baton, [execute(endless)]);
    const waiting = ask(null, [INSERT]);
    await eventually('it waits', async () => waited() === 1);
    expect(codes((await holder).results)).toEqual(['TRANSACTION_TIMEOUT']);
    expect(codes((await waiting).results)).toEqual(['ok']);
  });

  test('are told so when they have waited for too long, and may try again', async () => {
    const { ask, waited } = ownStreams(app, { ...PATIENT, lockWaitMs: 500 });
    const holder = await ask(null, [execute('BEGIN IMMEDIATE')]);
    const impatient = await ask(null, [INSERT]);
    expect([codes(impatient.results), waited()]).toEqual([['SQLITE_BUSY'], 1]);
    await ask(holder.baton, [execute('COMMIT')]);
    expect(codes((await ask(impatient.baton, [INSERT])).results)).toEqual(['ok']);
  });

  test('are not made to wait for what no waiting changes: a transaction that reads what is out of date', async () => {
    const { ask, waited } = ownStreams(app, PATIENT);
    const old = await ask(null, [execute('BEGIN'), execute('SELECT count(*) FROM item')]);
    await ask(null, [INSERT]);
    expect([codes((await ask(old.baton, [INSERT])).results), waited()]).toEqual([['SQLITE_BUSY'], 0]);
  });

  test('leave the queue when their streams are ended', async () => {
    const holder = await app.pipeline(app.full, { requests: [execute('BEGIN IMMEDIATE')] });
    const { ask, streams, waited } = ownStreams(app, PATIENT);
    const waiting = ask(null, [INSERT]);
    await eventually('it waits', async () => waited() === 1);
    streams.revoke(() => false);
    await expect(waiting).rejects.toMatchObject({ status: 401 });
    await app.pipeline(app.full, { baton: holder.body.baton, requests: [execute('COMMIT'), { type: 'close' }] });
    expect(codes((await ask(null, [execute("INSERT INTO item (name) VALUES ('next')")])).results)).toEqual(['ok']);
    expect(await names()).toBe('next');
  });
});
