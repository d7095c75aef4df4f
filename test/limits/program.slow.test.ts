import { maxHeaderSize } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { CONFIG_VARIABLES } from '../../src/config-table.ts';
import { createHttpServer } from '../../src/http-server.ts';
import { STOP_LIMITS } from '../../src/stop-all.ts';
import { answerOn, openConnection } from '../src/raw-connection.ts';
import { ask, type RunningApp, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, type LimitTest, milliseconds } from './limit-table.ts';

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

/** The largest value of a setting, as the configuration says it. */
function largest(name: string): LimitTest {
  const { allowed } = CONFIG_VARIABLES.find((variable) => variable.name === name) ?? { allowed: '' };
  const value = Number(/^a whole number \d+\.\.(\d+)/.exec(allowed)?.[1]);
  return { is: count(value), ask: (most) => startedWith({ [name]: String(most) }) };
}

function smallest(name: string): LimitTest {
  const { allowed } = CONFIG_VARIABLES.find((variable) => variable.name === name) ?? { allowed: '' };
  const value = Number(/^a whole number (\d+)\.\./.exec(allowed)?.[1]);
  return { is: count(value), past: value - 1, ask: (least) => startedWith({ [name]: String(least) }) };
}

const keyOf = (length: number) => startedWith({ ACCESS_KEYS: `ops:${'k'.repeat(length)}:*` });

/** What a request ends in whose path, names and values of headers have so many bytes. */
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

const { keepAliveTimeout, headersTimeout } = createHttpServer(() => undefined);

describeLimits('Program', import.meta.filename, {
  'bytes of the path and the headers': {
    // Node refuses what reaches its limit.
    is: bytes(maxHeaderSize),
    within: maxHeaderSize - 1,
    past: maxHeaderSize,
    ask: (size) => headersOf(size),
  },
  'arrival of the headers': { is: milliseconds(headersTimeout), elsewhere: 'a client that does not finish its headers is told so' },
  'time of a connection between requests': { is: milliseconds(keepAliveTimeout), ask: keptFor },
  'time for what is under way at a stop': { is: milliseconds(STOP_LIMITS.graceMs), elsewhere: 'beside an export that nobody reads' },
  'time of a stop': { is: milliseconds(STOP_LIMITS.deadlineMs), elsewhere: 'ends with status 1 and one line that says what it waited for' },
  'characters of a key': { is: count(256), ask: keyOf },
  'characters of a key, at least': { is: count(16), past: 15, ask: keyOf },
  'characters of the name of a key': {
    is: count(64),
    ask: (length) => startedWith({ ACCESS_KEYS: `${'n'.repeat(length)}:0123456789abcdef:*` }),
  },
  '`PORT`': largest('PORT'),
  '`RETENTION_HOURS`': largest('RETENTION_HOURS'),
  '`RETENTION_HOURS`, at least': smallest('RETENTION_HOURS'),
  '`DEAD_LETTER_DAYS`': largest('DEAD_LETTER_DAYS'),
  '`DEAD_LETTER_DAYS`, at least': smallest('DEAD_LETTER_DAYS'),
  '`DEAD_LETTER_MAX_MB`': largest('DEAD_LETTER_MAX_MB'),
  '`DEAD_LETTER_MAX_MB`, at least': smallest('DEAD_LETTER_MAX_MB'),
  '`INGEST_MAX_MB`': largest('INGEST_MAX_MB'),
  '`INGEST_MAX_MB`, at least': smallest('INGEST_MAX_MB'),
  '`QUERY_DEADLINE_MS`': largest('QUERY_DEADLINE_MS'),
  '`QUERY_DEADLINE_MS`, at least': smallest('QUERY_DEADLINE_MS'),
  '`EXPORT_DEADLINE_MS`': largest('EXPORT_DEADLINE_MS'),
  '`EXPORT_DEADLINE_MS`, at least': smallest('EXPORT_DEADLINE_MS'),
  '`EXPORT_IDLE_MS`': largest('EXPORT_IDLE_MS'),
  '`EXPORT_IDLE_MS`, at least': smallest('EXPORT_IDLE_MS'),
  '`MEMORY_LIMIT_MB`': largest('MEMORY_LIMIT_MB'),
  '`MEMORY_LIMIT_MB`, at least': smallest('MEMORY_LIMIT_MB'),
  'characters of `UPSTREAM_ACCESS_KEY` and `SERVICE_DATABASE_AUTH_TOKEN`': {
    is: count(4_096),
    ask: (length) => startedWith({ SERVICE_DATABASE_URL: 'https://db.example', SERVICE_DATABASE_AUTH_TOKEN: 'x'.repeat(length) }),
  },
  'characters of a topic in `KAFKA_TOPICS`': { is: count(249), ask: (length) => startedWith({ KAFKA_TOPICS: 't'.repeat(length) }) },
});
