import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { MOST_WAITING_BYTES } from '../../src/cli/lost-output.ts';
import { ConfigError, loadConfig } from '../../src/config/config.ts';
import { CONFIG_VARIABLES } from '../../src/config/config-table.ts';
import { createHttpServer, LINGER_MS } from '../../src/http/http-server.ts';
import { MAX_BACKUP_FILES } from '../../src/openapi/openapi-backup.ts';
import { BACKUP_BODY_BYTES } from '../../src/routes/backup.ts';
import { LIGHT_SEATS, MAX_LEFT_OVER, SEATS } from '../../src/scheduling/fair-queue.ts';
import { STOP_LIMITS } from '../../src/stop-all.ts';
import { ANSWER_MS } from '../../store/data-folder.ts';
import { SPILL_LIMITS_OF_MEMORY, startEngine } from '../../store/embedded/duckdb/duckdb-engine.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { answerOn, openConnection } from '../src/http/raw-connection.ts';
import { ask, type RunningApp, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, type LimitTest, milliseconds, outcomeOf } from './limit-table.ts';

const DEFAULTS = loadConfig({});

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

/** Whether the program would start with that setting. */
async function startedWith(env: Readonly<Record<string, string>>): Promise<string> {
  try {
    loadConfig(env);
    return 'ok';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return 'status 2';
  }
}

/** The largest and the least value of each setting that is a number, as the configuration says them. */
function ofNumbers(): Readonly<Record<string, LimitTest>> {
  const numbers = CONFIG_VARIABLES.filter(({ key }) => typeof DEFAULTS[key] === 'number');
  const limits = numbers.flatMap(({ name, allowed }): [string, LimitTest][] => {
    const [least = Number.NaN, most = Number.NaN] = (/^a whole number (\d+)\.\.(\d+)/.exec(allowed) ?? []).slice(1).map(Number);
    const others = name.startsWith('CLICKHOUSE_') ? { STORE: 'clickhouse', CLICKHOUSE_URL: 'http://127.0.0.1:8123' } : {};
    const ask = (value: number): Promise<string> => startedWith({ ...others, [name]: String(value) });
    const largest: [string, LimitTest] = [`\`${name}\``, { is: count(most), ask }];
    // Nothing is less than 0.
    return least === 0 ? [largest] : [largest, [`\`${name}\`, at least`, { is: count(least), past: least - 1, ask }]];
  });
  return Object.fromEntries(limits);
}

const backupOf = async (body: string): Promise<string> =>
  outcomeOf(await ask(app, '/backup', { method: 'POST', headers: { 'content-type': 'application/json' }, body }));

const keyOf = (length: number) => startedWith({ ACCESS_KEYS: `ops:${'k'.repeat(length)}:*` });

/** Returns the outcome of a request whose path and headers have so many bytes, names and values together. */
async function headersOf(size: number): Promise<string> {
  const headers = { Host: 'localhost', Connection: 'close', 'X-Filler': '' };
  const rest = ['/healthz', ...Object.entries(headers).flat()].join('').length;
  const lines = Object.entries({ ...headers, 'X-Filler': 'x'.repeat(size - rest) }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = await openConnection(app);
  socket.write(`GET /healthz HTTP/1.1\r\n${lines.join('')}\r\n`);
  const { head, body } = await answerOn(socket);
  const status = Number(head.split(' ')[1]);
  return status < 400 ? 'ok' : `${status} ${body.errorKey}`;
}

/** How long a connection is kept that asks for nothing, as its answers say. */
async function keptFor(ms: number): Promise<string> {
  const { headers } = await ask(app, '/healthz');
  const [, seconds] = /timeout=(\d+)/.exec(headers.get('keep-alive') ?? '') ?? [];
  return ms <= Number(seconds) * 1_000 ? 'ok' : 'connection closed';
}

const { keepAliveTimeout, headersTimeout } = createHttpServer(() => undefined, { maxConnections: 1, onRefused: () => undefined });

/** Opens so many connections, one after the other, to a program that allows 16; what the last of them ended in. */
async function connections(amount: number): Promise<string> {
  const small = await startApp({ env: { MAX_CONNECTIONS: '16' } });
  const sockets: Socket[] = [];
  let outcome = '';
  for (let opened = 0; opened < amount; opened += 1) {
    const socket = await openConnection(small);
    sockets.push(socket);
    const { promise, resolve } = Promise.withResolvers<string>();
    // Closed with bytes that nobody read, it is reset.
    socket.on('error', () => undefined).once('close', () => resolve('connection closed'));
    socket.once('data', (bytes) => resolve(String(bytes).startsWith('HTTP/1.1 200') ? 'ok' : String(bytes)));
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    outcome = await promise;
  }
  const isTold = small.log.some(({ msg }) => String(msg).startsWith('a connection was closed at once'));
  expect(isTold).toBe(outcome !== 'ok');
  for (const socket of sockets) socket.destroy();
  await small.stop();
  return outcome;
}

/** Returns the outcome of a table of so many bytes that goes to disk: DuckDB has 16 MB of memory and may spill 8 times that. */
async function spilt(size: number): Promise<string> {
  const engine = await startEngine({ memoryLimitMb: 16, spillFolder: temporaryFolder(), threads: 1 });
  const connection = await engine.connect();
  try {
    await connection.run(`CREATE TEMP TABLE t AS SELECT hash(i) AS a, hash(-i) AS b FROM range(${size / 16}) r(i)`);
    return 'ok';
  } catch (error) {
    return (error as Error).message.split(':', 1)[0] ?? '';
  } finally {
    connection.closeSync();
    engine.closeSync();
  }
}

describeLimits('Program', import.meta.filename, {
  'bytes of the path and the headers': {
    // Node refuses what reaches its limit.
    is: bytes(maxHeaderSize),
    within: maxHeaderSize - 1,
    past: maxHeaderSize,
    ask: (size) => headersOf(size),
  },
  'arrival of the headers': {
    is: milliseconds(headersTimeout),
    elsewhere: 'a client that does not finish its headers is told so, and its connection is closed',
  },
  'time of a connection between requests': { is: milliseconds(keepAliveTimeout), ask: keptFor },
  'connections at a time': { is: count(DEFAULTS.maxConnections), within: 16, past: 17, ask: connections },
  'time in which a client may read its answer before its connection is closed': {
    is: milliseconds(LINGER_MS),
    elsewhere: 'a body that never arrives > ends %s with 408, and its connection',
  },
  'bytes of the log that wait for a reader of standard error who takes none': {
    is: bytes(MOST_WAITING_BYTES),
    elsewhere: 'of a log whose reader hangs no more than a mebibyte waits, and the lines that are lost are counted once he reads on',
  },
  'time until `DATA_DIR` answers `/readyz`': {
    is: milliseconds(ANSWER_MS),
    elsewhere: 'those who ask whether a folder is there share one check, and are told when it does not answer',
  },
  'time until ClickHouse answers `/readyz`': {
    is: milliseconds(ANSWER_MS),
    elsewhere: 'a server that does not answer is told within two seconds, and has been asked once for all who ask',
  },
  'reads of callers who are gone that are ended on ClickHouse at a time': {
    is: count(SEATS + LIGHT_SEATS + MAX_LEFT_OVER),
    elsewhere: 'callers who hang up one after the other have no more statements ended at a time than there are seats',
  },
  'bytes that DuckDB spills to disk': {
    is: bytes(SPILL_LIMITS_OF_MEMORY * DEFAULTS.memoryLimitMb * 1024 ** 2),
    within: 64 * 1024 ** 2,
    past: 256 * 1024 ** 2,
    ask: spilt,
  },
  'checks of a running program at a time': {
    is: count(1),
    elsewhere: 'a second check is refused while one is under way, and the first is not disturbed',
  },
  'backups at a time': { is: count(1), elsewhere: 'one backup is made at a time, and none after the store is closed' },
  'files that the request of a backup names': {
    is: count(MAX_BACKUP_FILES),
    ask: (files) => backupOf(JSON.stringify({ files: Array.from({ length: files }, () => ({ name: 'a', bytes: 1 })) })),
  },
  'bytes of the request of a backup': { is: bytes(BACKUP_BODY_BYTES), ask: (length) => backupOf('{"files":[]}'.padEnd(length)) },
  'time in which a backup is not read on': {
    is: milliseconds(DEFAULTS.exportIdleMs),
    elsewhere: 'a backup that is not read on is cut off, and another one can be made',
  },
  'time for what is under way at a stop': {
    is: milliseconds(STOP_LIMITS.graceMs),
    elsewhere: 'a stop ends by itself > beside an export that nobody reads',
  },
  'time of a stop': {
    is: milliseconds(STOP_LIMITS.deadlineMs),
    elsewhere: 'a stop that hangs > ends with status 1 and one line that says what it waited for',
  },
  'characters of a key': { is: count(256), ask: keyOf },
  'characters of a key, at least': { is: count(16), past: 15, ask: keyOf },
  'characters of the name of a key': {
    is: count(64),
    ask: (length) => startedWith({ ACCESS_KEYS: `${'n'.repeat(length)}:0123456789abcdef:*` }),
  },
  ...ofNumbers(),
  'characters of `UPSTREAM_ACCESS_KEY` and `SERVICE_DATABASE_AUTH_TOKEN`': {
    is: count(4_096),
    ask: (length) => startedWith({ SERVICE_DATABASE_URL: 'https://db.example', SERVICE_DATABASE_AUTH_TOKEN: 'x'.repeat(length) }),
  },
  'characters of a topic in `KAFKA_TOPICS`': { is: count(249), ask: (length) => startedWith({ KAFKA_TOPICS: 't'.repeat(length) }) },
});
