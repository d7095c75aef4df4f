import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type BreakableServer, breakableServer, makeCluster, quietClient, testDatabase } from './engine.ts';

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

async function stored(client: ClickHouseClient): Promise<unknown> {
  const result = await client.query({ query: 'SELECT toInt32(count()) FROM t', format: 'JSONCompact' });
  return (await result.json<unknown[]>()).data[0]?.[0];
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
    const ask = async (query: string): Promise<unknown> =>
      (await (await client.query({ query, format: 'JSONCompact' })).json<unknown[]>()).data;
    const inserts = `FROM system.processes WHERE current_database = '${database}' AND query_kind = 'Insert'`;
    const running = `SELECT query_id, query_kind, elapsed > 0 ${inserts}`;
    expect(await ask(running)).toEqual([[`${database}-held`, 'Insert', 1]]);
    const [[later] = []] = (await ask('SELECT now64(6)')) as string[][];
    expect(await stored(client)).toBe(0);
    await server.mend(fault);
    expect(await text((await asked).stream)).toBe('');
    expect(await ask(`SELECT toInt32(count()), max(at) < '${later}' FROM t`)).toEqual([[70_000, 1]]);
    expect(await ask(running)).toEqual([]);
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
    await expect(stored(client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.comeBack();
    expect(await stored(client)).toBe(1);
  });

  test('has a user and a password', async () => {
    const { url } = await breakableServer('writer', 'a:b"c');
    const sign = async (username: string, password: string): Promise<unknown> => {
      const client = quietClient({ url, username, password });
      onTestFinished(() => client.close());
      return (await client.query({ query: 'SELECT 1', format: 'JSONCompact' })).json<unknown[]>().then(({ data }) => data);
    };
    expect(await sign('writer', 'a:b"c')).toEqual([[1]]);
    await expect(sign('writer', 'a')).rejects.toMatchObject({ code: '516' });
    await expect(sign('default', '')).rejects.toMatchObject({ code: '516' });
    const response = await fetch(`${url}/?query=SELECT+1`, { headers: { 'x-clickhouse-user': 'writer', 'x-clickhouse-key': 'a:b"c' } });
    expect(await response.text()).toBe('1\n');
    expect((await fetch(`${url}/?query=SELECT+1`)).status).toBe(403);
  });

  test('has a clock and running statements of its own, over the data of all', async () => {
    const { server: late, client: lateClient, database } = await brokenServer();
    const { url } = await breakableServer();
    const client = quietClient({ url, database });
    onTestFinished(() => client.close());
    await late.moveClock(-3_600_000);
    await lateClient.command({ query: 'INSERT INTO t SELECT 1, now64(6)' });
    await client.command({ query: 'INSERT INTO t SELECT 2, now64(6)' });
    const ask = async (from: ClickHouseClient, query: string): Promise<unknown> =>
      (await (await from.query({ query, format: 'JSONCompact' })).json<unknown[]>()).data;
    expect(await ask(client, 'SELECT toInt32(a) FROM t ORDER BY at')).toEqual([[1], [2]]);
    expect(await ask(client, "SELECT dateDiff('minute', min(at), max(at)) IN (60, 61) FROM t")).toEqual([[1]]);
    const fault = await late.break({ kind: 'hold', at: 'inside', matching: '^INSERT' });
    const asked = insert(lateClient, 3);
    await late.held(fault);
    const running = "SELECT toInt32(count()) FROM system.processes WHERE query_kind = 'Insert'";
    expect([await ask(lateClient, running), await ask(client, running)]).toEqual([[[1]], [[0]]]);
    await late.mend();
    await asked;
  });

  test('is asked with the others of its cluster, as long as all of them are there', async () => {
    const { server: first, client, database } = await brokenServer();
    const second = await breakableServer();
    await makeCluster('shieldlog', [first, second]);
    await second.moveClock(-3_600_000);
    const other = quietClient({ url: second.url, database });
    onTestFinished(() => other.close());
    const fault = await second.break({ kind: 'hold', at: 'inside', matching: '^INSERT' });
    const asked = insert(other, 1);
    await second.held(fault);
    const ask = async (settings: Record<string, number> = {}): Promise<unknown> => {
      const node = `SELECT now64(6) AS clock, countIf(query_kind = 'Insert') AS inserts FROM system.processes`;
      const nodes = `clusterAllReplicas('shieldlog', view(${node}))`;
      const query = `SELECT toInt32(inserts), clock < now64(6) - INTERVAL 59 MINUTE FROM ${nodes} ORDER BY clock`;
      return (await (await client.query({ query, format: 'JSONCompact', clickhouse_settings: settings })).json<unknown[]>()).data;
    };
    expect(await ask()).toEqual([
      [1, 1],
      [0, 0],
    ]);
    await second.mend();
    await asked;
    await second.goAway();
    await expect(ask()).rejects.toMatchObject({ code: '279', type: 'ALL_CONNECTION_TRIES_FAILED' });
    expect(await ask({ skip_unavailable_shards: 1 })).toEqual([[0, 0]]);
    await second.comeBack();
    expect(await ask()).toEqual([
      [0, 1],
      [0, 0],
    ]);
  });
});
