import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { killAll, runCli } from '../../../src/cli/cli-process.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';

let app: DatabaseApp;

beforeEach(async () => {
  app = await startDatabaseApp();
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const status = async (token: string): Promise<number> => (await app.run(token, 'SELECT 1')).status;
const cli = (...args: string[]) => runCli(['tokens', ...args, '--data-dir', app.dataDir]);
const printed = (stdout: string): readonly string[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[1] ?? '');

describe('access tokens', () => {
  test.each([
    ['none', null, 'TOKEN_MISSING'],
    ['one that was never made', 'sldb_full_nonsense', 'TOKEN_INVALID'],
    ['a hash instead of the token', 'HASH', 'TOKEN_INVALID'],
  ])('%s: 401', async (_what, token, code) => {
    const given = token === 'HASH' ? (app.tokens.list()[0]?.hash ?? '') : token;
    const { body, contentType, ...answer } = await app.pipeline(given, { requests: [] });
    expect([answer.status, contentType, body]).toEqual([
      401,
      'application/json',
      { error: body.message, message: expect.stringContaining('access token'), code },
    ]);
  });

  test('are refused before the body is looked at', async () => {
    expect((await app.pipeline('wrong', 'not JSON')).status).toBe(401);
  });

  test('are kept as hashes only', async () => {
    for (const name of readdirSync(app.dataDir)) {
      const bytes = readFileSync(join(app.dataDir, name), 'latin1');
      expect(bytes.includes(app.full) || bytes.includes(app.read), name).toBe(false);
    }
  });

  test('that are made beside the running program are valid at once, and so are the earlier ones', async () => {
    const { status: exit, stdout, stderr } = await cli('generate');
    expect([exit, stdout]).toEqual([0, expect.stringMatching(/^full-access\tsldb_full_\S{43}\nread-only\tsldb_read_\S{43}\n$/)]);
    expect(stderr).toContain('only now');
    const [full, read] = printed(stdout) as [string, string];
    expect((await app.run(full, 'CREATE TABLE made (a)')).status).toBe(200);
    expect((await app.run(read, 'DROP TABLE made')).status).toBe(403);
    expect([await status(app.full), await status(app.read)]).toEqual([200, 200]);
    const listed = (await cli('list')).stdout;
    expect(listed.split('\n').map((line) => line.split('\t')[0])).toEqual(['full-access', 'read-only', 'full-access', 'read-only', '']);
    expect(listed).not.toContain(full);
  });

  test('are all invalid once others replace them, open streams included', async () => {
    await app.run(app.full, 'CREATE TABLE kept (a)');
    const begin = { requests: ['BEGIN IMMEDIATE', 'INSERT INTO kept VALUES (1)'].map((sql) => ({ type: 'execute', stmt: { sql } })) };
    const { baton } = (await app.pipeline(app.full, begin)).body;
    const [full, read] = printed((await cli('regenerate')).stdout) as [string, string];
    expect([await status(app.full), await status(app.read)]).toEqual([401, 401]);
    const commit = await app.pipeline(app.full, { baton, requests: [{ type: 'execute', stmt: { sql: 'COMMIT' } }] });
    expect([commit.status, commit.body.code]).toEqual([401, 'TOKEN_INVALID']);
    expect((await app.pipeline(full, { baton, requests: [] })).body.code).toBe('STREAM_EXPIRED');
    await eventually('the lock is free', async () => (await app.run(full, 'BEGIN IMMEDIATE')).body.results[0].type === 'ok');
    const { body } = await app.run(read, 'SELECT count(*) FROM kept');
    expect(body.results[0].response.result.rows[0][0].value).toBe('0');
  });

  test('that become invalid stop the statement that is running', async () => {
    const running = app.run(app.full, 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n');
    // It runs for five seconds if nothing ends it; the stream is open as soon as its request has arrived.
    await status(app.read);
    app.tokens.regenerate();
    expect(await running).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('that become invalid while a request waits for a process are not used when it gets one', async () => {
    await app.stop();
    app = await startDatabaseApp({ processes: 1, queueMs: 20_000, idleMs: 60_000 });
    await app.run(app.full, 'CREATE TABLE kept (a)');
    const { token: late = '' } = app.tokens.generate()[0] ?? {};
    const holding = { requests: [{ type: 'execute', stmt: { sql: 'BEGIN' } }] };
    const { status: held } = await app.pipeline(app.full, holding);
    const waiting = app.run(late, 'INSERT INTO kept VALUES (1)');
    await status('wrong');
    const [{ token: full = '' } = {}] = app.tokens.regenerate();
    expect([held, (await waiting).status]).toEqual([200, 401]);
    const { body } = await app.run(full, 'SELECT count(*) FROM kept');
    expect(body.results[0].response.result.rows[0][0].value).toBe('0');
  });

  test.each([
    [['generate', 'list'], "Unexpected argument 'list'"],
    [['remove'], "'remove' is not one of generate, regenerate, list"],
    [[], 'tokens needs one of generate, regenerate, list'],
  ])('tokens %j: one line, status 2', async (args, message) => {
    const { status: exit, stdout, stderr } = await cli(...args);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^shieldlog: [^\n]+\n$/);
    expect(stderr).toContain(message);
  });

  test('in a folder whose state cannot be opened: one line, status 1', async () => {
    const dataDir = join(app.dataDir, 'other');
    mkdirSync(join(dataDir, 'control-plane.sqlite'), { recursive: true });
    const { status: exit, stderr } = await runCli(['tokens', 'list', '--data-dir', dataDir]);
    expect([exit, stderr]).toEqual([1, expect.stringMatching(/^shieldlog: the tokens in [^\n]+ cannot be opened: [^\n]+\n$/)]);
  });
});
