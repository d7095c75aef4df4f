import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type BreakableServer, breakableServer, quietClient, testDatabase } from '../engine.ts';

interface Broken {
  readonly server: BreakableServer;
  readonly client: ClickHouseClient;
  readonly database: string;
}

/** A server of its own with a table `t` of one column, and its client. */
async function brokenServer(): Promise<Broken> {
  const server = await breakableServer();
  const { client, name } = await testDatabase(server.url);
  await client.command({ query: 'CREATE TABLE t (a Int64, at DateTime64(6)) ENGINE = MergeTree ORDER BY a' });
  return { server, client, database: name };
}

async function rows(client: ClickHouseClient, query: string): Promise<unknown[]> {
  return (await (await client.query({ query, format: 'JSONCompact' })).json<unknown[]>()).data;
}

async function stored(client: ClickHouseClient): Promise<unknown> {
  const [[count] = []] = (await rows(client, 'SELECT toInt32(count()) FROM t')) as unknown[][];
  return count;
}

function insert(client: ClickHouseClient, a: number): Promise<unknown> {
  return client.insert({ table: 't', columns: ['a'], values: [[a]], format: 'JSONCompactEachRow' });
}

describe('a statement is', () => {
  test.each([
    { code: 252, name: 'TOO_MANY_PARTS', message: 'Too many parts (300)' },
    { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: '(total) memory limit exceeded' },
    { code: 516, name: 'AUTHENTICATION_FAILED', message: 'default: Authentication failed' },
  ])('refused with $code, and not run', async (error) => {
    const { server, client } = await brokenServer();
    const fault = await server.break({ kind: 'refuse', ...error, matching: '^INSERT' });
    await expect(insert(client, 1)).rejects.toMatchObject({ code: String(error.code), type: error.name });
    expect(await stored(client)).toBe(0);
    await server.mend(fault);
    await insert(client, 1);
    expect(await stored(client)).toBe(1);
  });

  test.each([
    { kind: 'cut-before' as const, rows: 1 },
    { kind: 'cut-after' as const, rows: 2 },
  ])('cut off by $kind as often as wanted', async ({ kind, rows }) => {
    const { server, client } = await brokenServer();
    await server.break({ kind, matching: 'INSERT', times: 1 });
    await expect(insert(client, 1)).rejects.toThrow(/socket hang up|ECONNRESET/);
    await insert(client, 2);
    expect(await stored(client)).toBe(rows);
  });

  test('cut off while a statement with its id runs', async () => {
    const { server, client } = await brokenServer();
    const fault = await server.break({ kind: 'cut-during', matching: 'numbers', times: 1 });
    const query_id = `${server.url}-again`;
    const ask = () => client.query({ query: 'SELECT number FROM numbers(1)', query_id, format: 'JSONCompact' });
    await expect(ask()).rejects.toThrow(/socket hang up|ECONNRESET/);
    await expect(ask()).rejects.toMatchObject({ code: '216' });
    await server.mend(fault);
    await expect
      .poll(() =>
        ask().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  test('answered in part', async () => {
    const { server, client } = await brokenServer();
    await server.break({ kind: 'cut-answer', afterBytes: 20, matching: 'numbers' });
    const asked = await client.query({ query: 'SELECT number FROM numbers(1000)', format: 'JSONCompact' });
    await expect(asked.json()).rejects.toThrow('aborted');
  });

  test('answered with an error behind some bytes', async () => {
    const { server, client } = await brokenServer();
    const error = { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: 'memory limit exceeded' };
    await server.break({ kind: 'fail-answer', afterBytes: 12, ...error });
    const asked = await client.query({ query: 'SELECT number FROM numbers(1000)', format: 'JSONCompactEachRow' });
    const read: unknown[] = [];
    const all = async (): Promise<void> => {
      for await (const part of asked.stream()) read.push(...part.map((row) => row.json()));
    };
    await expect(all()).rejects.toMatchObject({ code: '241', type: 'MEMORY_LIMIT_EXCEEDED' });
    expect(read.length).toBeLessThanOrEqual(3);
  });

  test('answered with an error in the form that newer servers have', async () => {
    const { server } = await brokenServer();
    await server.break({ kind: 'fail-answer', afterBytes: 4, code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: 'é' });
    const response = await fetch(`${server.url}/?query=SELECT+number+FROM+numbers(9)`);
    const tag = response.headers.get('x-clickhouse-exception-tag');
    const pieces: Uint8Array[] = [];
    const read = async (): Promise<void> => {
      for await (const piece of response.body ?? []) pieces.push(piece);
    };
    await expect(read()).rejects.toThrow('terminated');
    const body = Buffer.concat(pieces).toString();
    const [, message = ''] = /(Code: .*)\n/.exec(body) ?? [];
    expect(message).toMatch(/^Code: 241\. DB::Exception: é\. \(MEMORY_LIMIT_EXCEEDED\) \(version .*\)$/);
    const bytes = Buffer.byteLength(message) + 1;
    expect(body).toBe(`0\n1\n\r\n__exception__\r\n${tag}\r\n${message}\n${bytes} ${tag}\r\n__exception__\r\n`);
  });

  test('held before it runs, and run although its client has hung up', async () => {
    const { server, client } = await brokenServer();
    const fault = await server.break({ kind: 'hold', at: 'before', matching: '^INSERT' });
    const hangUp = new AbortController();
    const asked = client.insert({ table: 't', columns: ['a'], values: [[1]], format: 'JSONCompactEachRow', abort_signal: hangUp.signal });
    expect(await server.held(fault)).toEqual([expect.stringMatching(/^INSERT INTO t/)]);
    hangUp.abort();
    await expect(asked).rejects.toThrow('aborted');
    expect(await stored(client)).toBe(0);
    await server.mend(fault);
    await expect.poll(() => stored(client)).toBe(1);
  });

  test('held with its answer after it was run', async () => {
    const { server, client } = await brokenServer();
    const fault = await server.break({ kind: 'hold', at: 'after', matching: '^INSERT' });
    const asked = insert(client, 1);
    await server.held(fault);
    expect(await stored(client)).toBe(1);
    await server.mend(fault);
    await asked;
  });

  test('held while it runs, with a time of its start', async () => {
    const { server, client, database } = await brokenServer();
    const made = await client.exec({ query: 'SELECT number::Int64 AS a FROM numbers(70000) FORMAT Parquet' });
    const parquet = await made.stream.toArray();
    const fault = await server.break({ kind: 'hold', at: 'inside', matching: '^INSERT' });
    const asked = client.exec({
      query: "INSERT INTO t SELECT a, now64(6) FROM input('a Int64') FORMAT Parquet",
      values: Readable.from(parquet),
      query_id: `${database}-held`,
    });
    await server.held(fault);
    const inserts = `FROM system.processes WHERE current_database = '${database}' AND query_kind = 'Insert'`;
    const running = `SELECT query_id, query_kind, elapsed > 0 ${inserts}`;
    expect(await rows(client, running)).toEqual([[`${database}-held`, 'Insert', 1]]);
    const [[later] = []] = (await rows(client, 'SELECT now64(6)')) as string[][];
    expect(await stored(client)).toBe(0);
    await server.mend(fault);
    expect(await text((await asked).stream)).toBe('');
    expect(await rows(client, `SELECT toInt32(count()), max(at) < '${later}' FROM t`)).toEqual([[70_000, 1]]);
    // A server lists a statement for a moment after its answer.
    await expect.poll(() => rows(client, running)).toEqual([]);
  });

  test('refused while it would be held inside', async () => {
    const { server, client } = await brokenServer();
    await server.break({ kind: 'hold', at: 'inside', matching: '^INSERT' });
    const asked = client.insert({ table: 'missing', values: [{ a: 1 }], format: 'JSONEachRow' });
    await expect(asked).rejects.toMatchObject({ code: '60' });
  });
});

test('an INSERT stores a part of its rows, and fails', async () => {
  const { server, client } = await brokenServer();
  const made = await client.exec({ query: 'SELECT number::Int64 AS a FROM numbers(10) FORMAT Parquet' });
  const parquet = await made.stream.toArray();
  const error = { code: 243, name: 'NOT_ENOUGH_SPACE', message: 'Cannot reserve 1.00 MiB' };
  await server.break({ kind: 'store-part', where: 'a < 3', ...error, times: 1 });
  const ask = (): Promise<unknown> =>
    client.exec({ query: "INSERT INTO t SELECT a, now64(6) FROM input('a Int64') FORMAT Parquet", values: Readable.from(parquet) });
  await expect(ask()).rejects.toMatchObject({ code: '243' });
  expect(await stored(client)).toBe(3);
  await ask();
  expect(await stored(client)).toBe(13);
});

test('a statement that the engine has not is answered with a text', async () => {
  const { server, client } = await brokenServer();
  await server.break({ kind: 'answer', text: '{"data":[["caught up"]]}', matching: '^SYSTEM SYNC REPLICA' });
  const result = await client.query({ query: 'SYSTEM SYNC REPLICA t LIGHTWEIGHT', format: 'JSONCompact' });
  expect(await result.json()).toEqual({ data: [['caught up']] });
});

describe('a server', () => {
  test('goes away, and comes back with what it had', async () => {
    const { server, client } = await brokenServer();
    await insert(client, 1);
    await server.goAway();
    // The client may not have seen yet that its connection is cut.
    await expect(stored(client)).rejects.toMatchObject({ code: expect.stringMatching(/^(ECONN(REFUSED|RESET)|EPIPE)$/) });
    await server.comeBack();
    expect(await stored(client)).toBe(1);
  });

  test('has a user and a password', async () => {
    const { url } = await breakableServer('writer', 'right');
    const client = (username: string, password: string): ClickHouseClient => {
      const made = quietClient({ url, username, password });
      onTestFinished(() => made.close());
      return made;
    };
    expect(await rows(client('writer', 'right'), 'SELECT currentUser()')).toEqual([['writer']]);
    await expect(rows(client('writer', 'wrong'), 'SELECT 1')).rejects.toMatchObject({ code: '516' });
    await expect(rows(client('reader', ''), 'SELECT 1')).rejects.toMatchObject({ code: '516' });
  });

  test('has a clock of its own, over the data of all', async () => {
    const { server: late, client: lateClient, database } = await brokenServer();
    const { url } = await breakableServer();
    const client = quietClient({ url, database });
    onTestFinished(() => client.close());
    await late.moveClock(-3_600_000);
    await lateClient.command({ query: 'INSERT INTO t SELECT 1, now64(6)' });
    await client.command({ query: 'INSERT INTO t SELECT 2, now64(6)' });
    expect(await rows(client, 'SELECT toInt32(a) FROM t ORDER BY at')).toEqual([[1], [2]]);
    expect(await rows(client, "SELECT dateDiff('minute', min(at), max(at)) IN (60, 61) FROM t")).toEqual([[1]]);
  });

  test('moves its clock in statements of every form', async () => {
    const { server, client } = await brokenServer();
    await server.moveClock(-3_600_000);
    const moved = "SELECT {of:String}, dateDiff('minute', now64(6), now64(3)) IN (60, 61)";
    for (const use_multipart_params of [false, true]) {
      const asked = await client.query({ query: moved, query_params: { of: "a'b\n" }, use_multipart_params, format: 'JSONCompact' });
      expect((await asked.json<unknown[]>()).data).toEqual([["a'b\n", 1]]);
    }
    const inUrl = await fetch(`${server.url}/?query=${encodeURIComponent('SELECT now64(6) < now64(3) - INTERVAL 59 MINUTE')}`);
    expect(await inUrl.text()).toBe('1\n');
  });

  test('answers without a statement what the server answers', async () => {
    const { server } = await brokenServer();
    await server.break({ kind: 'cut-before' });
    expect(await (await fetch(`${server.url}/ping`)).text()).toBe('Ok.\n');
    expect((await fetch(`${server.url}/nothing-here`)).status).toBe(404);
  });
});
