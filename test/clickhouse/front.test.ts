import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clickhouseUrl, freshDatabase, quietClient, startFronts, testDatabase } from './engine.ts';

/** Texts that each way from the client to the engine has to escape. */
const TEXTS = ['', "it's", '"`', '\\', '\\n', 'a\\', "\\'", '\t\r\n\b\f', '\0', 'a\0b', '\\N', 'NULL', 'é ✓ 😀', '%_', '{p1:String}', '--'];

/** Compressed both ways, one way, and not at all. */
const COMPRESSIONS = [
  {},
  { request: { codec: 'gzip' as const }, response: { codec: 'gzip' as const } },
  { request: { codec: 'zstd' as const }, response: { codec: 'zstd' as const } },
  { response: { codec: 'zstd' as const } },
];

async function rows(
  client: ClickHouseClient,
  query: string,
  options: { params?: Record<string, unknown>; settings?: Record<string, string | number> } = {},
): Promise<unknown> {
  const result = await client.query({
    query,
    format: 'JSONCompact',
    query_params: options.params ?? {},
    clickhouse_settings: options.settings ?? {},
    use_multipart_params_auto: true,
  });
  return (await result.json<unknown[]>()).data;
}

/** The error that the server answers. */
async function refusal(asked: Promise<unknown>): Promise<ClickHouseError> {
  const error = await asked.then(
    () => expect.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ClickHouseError)) throw error;
  return error;
}

async function readAll(result: { stream(): AsyncIterable<unknown> }): Promise<void> {
  for await (const _ of result.stream());
}

describe('parameters', () => {
  test.each([
    { way: 'in the URL', use_multipart_params: false },
    { way: 'in a form', use_multipart_params: true },
  ])('come as they were sent $way', async ({ use_multipart_params }) => {
    const { client } = await testDatabase();
    const result = await client.query({
      query: `SELECT {p1:Array(String)}, ${TEXTS.map((_, at) => `{t${at}:String}`).join(', ')}, {i:Int32}, {l:Int64}, {u:UInt64}, {b:Bool},
        {n:Nullable(String)}, {a:Array(Int64)}, {e:Array(String)}`,
      query_params: {
        p1: TEXTS,
        ...Object.fromEntries(TEXTS.map((value, at) => [`t${at}`, value])),
        i: -2_147_483_648,
        l: -9_223_372_036_854_775_808n,
        u: 18_446_744_073_709_551_615n,
        b: true,
        n: null,
        a: [1, -2n],
        e: [],
      },
      clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
      format: 'JSONCompact',
      use_multipart_params,
    });
    expect((await result.json<unknown[]>()).data).toEqual([
      [TEXTS, ...TEXTS, -2_147_483_648, '-9223372036854775808', '18446744073709551615', true, null, ['1', '-2'], []],
    ]);
  });

  test('may be lists of 5,000 values', async () => {
    const { client } = await testDatabase();
    const numbers = Array.from({ length: 5000 }, (_, at) => 2n ** 63n + BigInt(at));
    const query = 'SELECT length({a:Array(UInt64)}), arraySum({a:Array(UInt64)}) = {s:UInt64}, arraySort({t:Array(String)})[1]';
    const params = { a: numbers, s: (4999n * 5000n) / 2n, t: numbers.map(String) };
    expect(await rows(client, query, { params })).toEqual([[5000, 1, '9223372036854775808']]);
  });

  test('may be no longer than a server takes them', async () => {
    const { client } = await testDatabase();
    const longest = 'x'.repeat(131_072);
    const query = 'SELECT length({t:String}), length({u:String}), length({v:String})';
    expect(await rows(client, query, { params: { t: longest, u: longest, v: longest } })).toEqual([[131_072, 131_072, 131_072]]);
    // They do not let longer statements through: in a form the statement is a field like them, beside a URL it has a limit of its own.
    const long = `${query} -- ${'x'.repeat(262_144)}`;
    const query_params = { t: longest, u: longest, v: longest };
    await expect(client.query({ query: long, query_params, use_multipart_params: true })).rejects.toThrow('Field value too long');
    expect(await refusal(client.query({ query: long, query_params }))).toMatchObject({ code: '62' });
    await expect(rows(client, 'SELECT length({t:String})', { params: { t: 'x'.repeat(131_073) } })).rejects.toThrow('Field value too long');
  });

  test('are missed where they are not sent', async () => {
    const { client } = await testDatabase();
    expect(await refusal(rows(client, 'SELECT {p1:String}'))).toMatchObject({ code: '456', type: 'UNKNOWN_QUERY_PARAMETER' });
  });
});

describe.each(COMPRESSIONS)('with the compression $response.codec of answers and $request.codec of requests', (compression) => {
  const connect = async () => {
    const { name, url, client: plain } = await testDatabase();
    const client = quietClient({
      url,
      database: name,
      compression: { request: compression.request ?? false, response: compression.response ?? false },
    });
    onTestFinished(() => client.close());
    return { client, plain };
  };

  test('an answer comes row by row', async () => {
    const { client } = await connect();
    const result = await client.query({ query: 'SELECT number, toString(number) FROM numbers(200000)', format: 'JSONCompactEachRow' });
    let sum = 0;
    let count = 0;
    for await (const part of result.stream<[string, string]>()) {
      for (const row of part) {
        sum += Number(row.json()[1]);
        count++;
      }
    }
    expect({ count, sum }).toEqual({ count: 200_000, sum: (199_999 * 200_000) / 2 });
  });

  test('rows are inserted in the formats of the client', async () => {
    const { client } = await connect();
    await client.command({ query: 'CREATE TABLE t (a Int64, b Nullable(String)) ENGINE = MergeTree ORDER BY a' });
    await client.insert({ table: 't', values: [{ a: 1, b: TEXTS.join('') }], format: 'JSONEachRow' });
    await client.insert({ table: 't', columns: ['b', 'a'], values: [['x', 2]], format: 'JSONCompactEachRow' });
    await client.command({ query: "INSERT INTO t VALUES (3, 'a;b'), (4, NULL)" });
    expect(await rows(client, 'SELECT toInt32(a), b FROM t ORDER BY a')).toEqual([
      [1, TEXTS.join('')],
      [2, 'x'],
      [3, 'a;b'],
      [4, null],
    ]);
  });

  test('Parquet is inserted as a file, and through input() with more columns', async () => {
    const { client } = await connect();
    await client.command({ query: 'CREATE TABLE t (a Int64, b String, seq Int64) ENGINE = MergeTree ORDER BY a' });
    const made = await client.exec({ query: "SELECT number::Int64 AS a, 'x' AS b FROM numbers(1000) FORMAT Parquet" });
    const parquet = await buffer(made.stream);
    const through = await client.exec({
      query: `INSERT INTO t (a, b, seq) SELECT a, concat(b, {p1:String}), a + {p2:Int64} FROM input('a Int64, b String') FORMAT Parquet`,
      values: Readable.from([parquet.subarray(0, 100), parquet.subarray(100)]),
      query_params: { p1: "'y", p2: 10 },
    });
    expect(await text(through.stream)).toBe('');
    const whole = await client.exec({ query: 'INSERT INTO t (a, b) FORMAT Parquet', values: Readable.from([parquet]) });
    expect(await text(whole.stream)).toBe('');
    expect(await rows(client, 'SELECT b, toInt32(count()), toInt32(sum(seq)) FROM t GROUP BY b ORDER BY b')).toEqual([
      ['x', 1000, 0],
      ["x'y", 1000, 509_500],
    ]);
  });

  test('an error is read', async () => {
    const { client } = await connect();
    expect(await refusal(rows(client, 'SELECT nothing'))).toMatchObject({ code: '47', type: 'UNKNOWN_IDENTIFIER' });
  });

  test('an error in the middle of an answer is thrown by its stream', async () => {
    const { client } = await connect();
    const result = await client.query({
      query: "SELECT number, throwIf(number = 500000, 'in the middle') FROM numbers(1000000)",
      // One thread makes its blocks one after the other, as they are read.
      clickhouse_settings: { max_threads: 1 },
      format: 'JSONCompactEachRow',
    });
    // The client reads the error itself only where it comes in one piece before the end of the connection.
    await expect(readAll(result)).rejects.toThrow(/in the middle|there was an error in the stream|aborted/);
  });

  test('an error is the whole answer to a client that waits for the end of the statement', async () => {
    const { client } = await connect();
    const query = "SELECT number, throwIf(number = 500000, 'in the middle') FROM numbers(1000000) FORMAT JSONCompactEachRow";
    const settings = { max_threads: 1, wait_end_of_query: 1 } as const;
    const error = await refusal(client.exec({ query, clickhouse_settings: settings }).then(({ stream }) => text(stream)));
    expect(error).toMatchObject({ code: '395', type: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' });
  });
});

describe('an error', () => {
  test.each([
    { query: 'one', code: '62', type: 'SYNTAX_ERROR', status: 400 },
    { query: 'SELECT 1; SELECT 2', code: '62', type: 'SYNTAX_ERROR', status: 400 },
    { query: 'SELECT x', code: '47', type: 'UNKNOWN_IDENTIFIER', status: 404 },
    { query: 'SELECT * FROM missing', code: '60', type: 'UNKNOWN_TABLE', status: 404 },
    { query: 'SELECT throwIf(1)', code: '395', type: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', status: 500 },
    { query: "SELECT throwIf(1, 'first\nsecond')", code: '395', type: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', status: 500 },
  ])('of $query comes as from a server', async ({ query, code, type, status }) => {
    const { client, url, name } = await testDatabase();
    expect(await refusal(rows(client, query))).toMatchObject({ code, type });
    // A request has its user and password in a header.
    const { origin, username, password } = new URL(url);
    const headers: Record<string, string> =
      username === '' ? {} : { 'x-clickhouse-user': username, 'x-clickhouse-key': decodeURIComponent(password) };
    const response = await fetch(`${origin}/?database=${name}`, { method: 'POST', body: query, headers });
    expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([status, code]);
    expect(await response.text()).toMatch(
      new RegExp(`^Code: ${code}\\. DB::Exception: [\\s\\S]* \\(version [\\d.]+ \\(official build\\)\\)\n$`),
    );
  });

  test('of an unknown database or setting comes before the statement is read', async () => {
    const { url } = await testDatabase();
    const client = quietClient({ url, database: 'missing' });
    onTestFinished(() => client.close());
    expect(await refusal(rows(client, 'SELECT 1'))).toMatchObject({ code: '81', type: 'UNKNOWN_DATABASE' });
    const { client: other } = await testDatabase();
    expect(await refusal(rows(other, 'SELECT 1', { settings: { no_such_setting: 1 } }))).toMatchObject({
      code: '115',
      type: 'UNKNOWN_SETTING',
    });
  });
});

describe('a setting', () => {
  test('holds for its own statement', async () => {
    const { client } = await testDatabase();
    const query = "SELECT getSetting('max_block_size'), getSetting('join_use_nulls')";
    const before = await rows(client, query);
    expect(await rows(client, query, { settings: { max_block_size: '77', join_use_nulls: 1 } })).toEqual([[77, true]]);
    expect(await rows(client, query)).toEqual(before);
  });

  test('such as a deadline ends a statement', async () => {
    const { client } = await testDatabase();
    const asked = rows(client, 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1', {
      settings: { max_execution_time: 0.2 },
    });
    expect(await refusal(asked)).toMatchObject({ code: '159', type: 'TIMEOUT_EXCEEDED' });
  });

  test('such as max_query_size bounds the text of a statement, and not its parameters', async () => {
    const { client } = await testDatabase();
    const settings = { max_query_size: 1000 };
    expect(await rows(client, 'SELECT length({t:String})', { params: { t: 'x'.repeat(100_000) }, settings })).toEqual([[100_000]]);
    expect(await refusal(rows(client, `SELECT '${'x'.repeat(2000)}'`, { settings }))).toMatchObject({ code: '62' });
  });
});

describe('a running statement', () => {
  const LONG = 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1';

  test('is found by its query id, with its database and log_comment, and killed', async () => {
    const { client, name } = await testDatabase();
    const query_id = `${name}-killed`;
    const asked = refusal(client.query({ query: LONG, query_id, clickhouse_settings: { log_comment: 'of a test' } }));
    const query =
      "SELECT query_id, current_database, Settings['log_comment'], query_kind FROM system.processes WHERE query_id = {p1:String}";
    await expect.poll(() => rows(client, query, { params: { p1: query_id } })).toEqual([[query_id, name, 'of a test', 'Select']]);
    expect(await refusal(client.query({ query: LONG, query_id }))).toMatchObject({ code: '216' });
    await client.command({ query: `KILL QUERY WHERE query_id = '${query_id}' SYNC` });
    expect(await asked).toMatchObject({ code: '394', type: 'QUERY_WAS_CANCELLED' });
    await expect.poll(() => rows(client, query, { params: { p1: query_id } })).toEqual([]);
  });

  test('ends with the client that hangs up', async () => {
    const { client, name } = await testDatabase();
    const query_id = `${name}-left`;
    const hangUp = new AbortController();
    const asked = client.query({
      query: LONG,
      query_id,
      abort_signal: hangUp.signal,
      clickhouse_settings: { cancel_http_readonly_queries_on_client_close: 1 },
    });
    const outcome = asked.then(
      () => 'answered',
      (error: Error) => error.message,
    );
    const running = () =>
      rows(client, 'SELECT toInt32(count()) FROM system.processes WHERE query_id = {p1:String}', { params: { p1: query_id } });
    await expect.poll(running).toEqual([[1]]);
    hangUp.abort();
    expect(await outcome).toBe('The user aborted a request.');
    await expect.poll(running).toEqual([[0]]);
  });

  test('does not keep others from running, in other databases', async () => {
    const databases = await Promise.all(Array.from({ length: 8 }, () => freshDatabase()));
    await Promise.all(
      databases.map(async ({ client, name, drop }, at) => {
        await client.command({ query: `CREATE TABLE t ENGINE = MergeTree ORDER BY a AS SELECT number AS a FROM numbers(${at})` });
        expect(await rows(client, 'SELECT toInt32(count()), currentDatabase() FROM t')).toEqual([[at, name]]);
        await drop();
      }),
    );
    const { client } = await testDatabase();
    const names = databases.map(({ name }) => name);
    expect(await rows(client, 'SELECT name FROM system.databases WHERE name IN {p1:Array(String)}', { params: { p1: names } })).toEqual([]);
  });
});

test('the front ends with whoever started it, and removes its folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shieldlog-front-'));
  const fronts = await startFronts(folder);
  expect(await (await fetch(`${fronts.url}/ping`)).text()).toBe('Ok.\n');
  expect(existsSync(folder)).toBe(true);
  await fronts.stop();
  expect(existsSync(folder)).toBe(false);
  await expect(fetch(`${fronts.url}/ping`)).rejects.toThrow('fetch failed');
});

test('a wrong password is refused', async () => {
  const url = new URL(clickhouseUrl());
  url.password = 'wrong';
  if (url.username === '') url.username = 'default';
  const client = quietClient({ url });
  onTestFinished(() => client.close());
  expect(await refusal(rows(client, 'SELECT 1'))).toMatchObject({ code: '516', type: 'AUTHENTICATION_FAILED' });
});

test('a ping is answered', async () => {
  const { client } = await testDatabase();
  expect(await client.ping()).toEqual({ success: true });
  expect(await client.ping({ select: true })).toEqual({ success: true });
});
