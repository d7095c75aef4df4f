import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { wafRecord } from '../../../../bench/events/waf-record.ts';
import { LARGEST_RECORD_MB, MappingThreads } from '../../../../ingest/upload/mapping-threads.ts';
import { configuredMappings } from '../../../../src/config/configured-mappings.ts';
import { otlpJson, textRecord } from '../../../fixtures/otlp-requests.ts';
import { ENDS_LATER, ENDS_THREAD, FILLS_HEAP } from '../../../ingest/upload/ending-worker.ts';
import { type Answer, ask, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';

const KEY = 'key-of-everything-1';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const JSON_TYPE = 'application/json';

/** How each door has its records, and tells that it is busy, that the second record is kept nowhere, and which methods it has. */
const DOORS = {
  '/services/collector/event': {
    type: 'text/plain',
    bodyOf: (records: readonly string[]) => records.map((record) => `{"event":${JSON.stringify(record)}}`).join(''),
    busy: [503, { code: 9 }],
    refused: [400, { code: 6, 'invalid-event-number': 1 }],
    method: ['GET', { code: 6, text: expect.stringContaining('has POST, not GET') }],
  },
  '/services/collector/raw': {
    type: 'text/plain',
    bodyOf: (records: readonly string[]) => records.join('\n'),
    busy: [503, { code: 9 }],
    refused: [400, { code: 6, 'invalid-event-number': 1 }],
    method: ['DELETE', { code: 6, text: expect.stringContaining('has POST, not DELETE') }],
  },
  '/ingest/firehose': {
    type: JSON_TYPE,
    bodyOf: (records: readonly string[]) => JSON.stringify({ records: records.map((record) => ({ data: base64(record) })) }),
    busy: [503, { requestId: '', errorMessage: expect.any(String) }],
    refused: [400, { requestId: '', errorMessage: expect.any(String) }],
    method: ['PUT', { requestId: '', errorMessage: expect.stringContaining('has POST, not PUT') }],
  },
  '/waf/_bulk': {
    type: 'application/x-ndjson',
    bodyOf: (records: readonly string[]) => records.map((record) => `{"index":{}}\n${record}\n`).join(''),
    busy: [429, { status: 429, error: expect.objectContaining({ type: 'es_rejected_execution_exception' }) }],
    refused: [200, { errors: true, items: [201, 400].map((status) => ({ index: expect.objectContaining({ status }) })) }],
    method: ['DELETE', { status: 405, error: expect.objectContaining({ reason: expect.stringContaining('has POST, PUT, not DELETE') }) }],
  },
  '/v1/logs': {
    type: JSON_TYPE,
    bodyOf: (records: readonly string[]) => otlpJson(records.map(textRecord)),
    busy: [503, { code: 14 }],
    refused: [400, { code: 3, message: expect.stringContaining('log record 1: ') }],
    method: ['GET', { code: 12, message: expect.stringContaining('has POST, not GET') }],
  },
} as const satisfies Readonly<Record<string, object>>;

type Path = keyof typeof DOORS;
const PATHS = Object.keys(DOORS) as readonly Path[];

let app: RunningApp;
let threads: MappingThreads;

beforeAll(async () => {
  const module = new URL('../../../ingest/upload/ending-worker.ts', import.meta.url);
  threads = new MappingThreads(configuredMappings(null), 2 * LARGEST_RECORD_MB, module);
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*` }, mapping: threads });
});

afterAll(async () => {
  await app.stop();
  await threads.close();
});

let sent = 0;
/** So many records of AWS WAF of the last hour, each once. */
const newRecords = (count: number): readonly string[] =>
  Array.from({ length: count }, () => wafRecord(sent++, Date.now() - 60_000 - (sent % 1_000)).toString());

function send(path: Path, records: readonly string[], query = '?mapping=aws-waf&zone=7', to = app): Promise<Answer> {
  const { type, bodyOf } = DOORS[path];
  const body = gzipSync(bodyOf(records));
  return ask(to, `${path}${query}`, {
    method: 'POST',
    headers: { accesskey: KEY, 'content-type': type, 'content-encoding': 'gzip' },
    body,
  });
}

const upload = (lines: readonly string[]): Promise<Answer> =>
  ask(app, '/ingest/events?mapping=aws-waf&zone=7', {
    method: 'POST',
    headers: { accesskey: KEY, 'content-type': 'application/x-ndjson' },
    body: lines.join('\n'),
  });
const replay = (): Promise<Answer> => ask(app, '/ingest/dead-letters/replay', { method: 'POST', headers: { accesskey: KEY } });

const stored = async (): Promise<number> => (await search(app, lastHour({ pageSize: 1 }), { accesskey: KEY })).body.total;

/** Envelopes of Azure: one of records that are left out, and one of two that are no events. */
const [LEFT_OUT, LETTERS] = ['Another', 'FrontDoorWebApplicationFirewallLog'].map((category) =>
  JSON.stringify({ records: Array(2).fill({ category }) }),
);

describe.each(PATHS)('%s', (path) => {
  const { busy, refused, method } = DOORS[path];
  const [status, words] = busy;

  test.each([
    ['takes the body apart', '', ENDS_THREAD, 100],
    ['maps its first records', '?mapping=aws-waf&zone=7', ENDS_THREAD, 100],
    ['maps what is left of it', '?mapping=aws-waf&zone=7', ENDS_LATER, 2_500],
  ])('says that it is busy where the thread ends that %s, and what is sent again is stored once', async (_, query, end, count) => {
    const before = await stored();
    const records = newRecords(count);
    const answer = await send(path, [...records, end], query);
    expect([answer.status, answer.headers.get('retry-after'), answer.body]).toEqual([status, '5', expect.objectContaining(words)]);
    expect((await send(path, records)).status).toBe(200);
    expect((await stored()) - before).toBe(count);
  });

  test('counts the records that it was sent where a mapping makes several of each', async () => {
    const full = await startApp({ storeOptions: { deadLetterQuotaBytes: 1 } });
    onTestFinished(() => full.stop());
    const answer = await send(path, [LEFT_OUT, LETTERS].map(String), '?mapping=azure-front-door&zone=7', full);
    expect([answer.status, answer.body]).toEqual([refused[0], expect.objectContaining(refused[1])]);
  });

  test.each([
    ['AccessKey', { accesskey: KEY }],
    ['Authorization', { authorization: `Bearer ${KEY}` }],
  ])('says in its words which methods it has, with the key in %s', async (_, headers) => {
    const [wrong, told] = method;
    const answer = await ask(app, path, { method: wrong, headers: { ...headers, accept: 'application/json' } });
    expect([answer.status, answer.headers.get('allow'), answer.body]).toEqual([
      405,
      path.endsWith('_bulk') ? 'POST, PUT' : 'POST',
      expect.objectContaining(told),
    ]);
    expect(answer.headers.get('x-elastic-product')).toBe(path.endsWith('_bulk') ? 'Elasticsearch' : null);
  });
});

test('a wrong method is refused without a key in the words of the door, and counted as an answer of it', async () => {
  const answer = await ask(app, '/services/collector', { method: 'PATCH' });
  expect([answer.status, answer.body]).toEqual([401, { code: 2, text: expect.stringContaining('Token is required') }]);
  expect((await ask(app, '/services/collector/health', { method: 'POST' })).body).toMatchObject({ code: 6 });
  const { text } = await ask(app, '/metrics', { headers: { accesskey: KEY } });
  expect(text).toContain('shieldlog_door_requests_total{door="splunk-hec",status="401"} 1');
  expect(text).toContain('shieldlog_door_requests_total{door="splunk-hec",status="405"}');
});

test('a request for which no thread is free for 5 seconds is told so', async () => {
  const bytes = Buffer.from(newRecords(1).join());
  const zones = { given: 7, fallback: null, opened: 'all' } as const;
  expect((await upload(['{"timestamp":"never"}'])).body).toMatchObject({ rejectedCount: 1 });
  const held = [];
  while (threads.hasRoom) held.push(await threads.begin({ mapping: 'aws-waf', zones, bytes, ends: Uint32Array.of(bytes.length) }));
  const [answers, ...others] = await Promise.all([
    Promise.all(PATHS.map((path) => send(path, newRecords(1)))),
    upload(newRecords(1)),
    replay(),
  ]);
  for (const one of held) one[Symbol.dispose]();
  for (const { status, headers, body } of others)
    expect([status, headers.get('retry-after'), body.errorKey]).toEqual([503, '5', 'store.busy']);
  expect((await replay()).body).toMatchObject({ stillRejected: 1 });
  expect(answers.map(({ status, headers, body }) => [status, headers.get('retry-after'), body])).toEqual(
    PATHS.map((path) => [DOORS[path].busy[0], '5', expect.objectContaining(DOORS[path].busy[1])]),
  );
  expect((await send('/v1/logs', newRecords(1))).status).toBe(200);
});

test('a body whose records take more memory than a thread may have is refused instead of being asked for again', async () => {
  const records = [...newRecords(100), FILLS_HEAP];
  const told = [400, null, expect.stringContaining('its records take more memory than a thread may have for them')];
  for (const [path, query] of [...PATHS.map((path) => [path] as const), ['/v1/logs', ''] as const]) {
    const { status, headers, body } = await send(path, records, query);
    expect([status, headers.get('retry-after'), JSON.stringify(body)]).toEqual(told);
  }
  const { status, body } = await upload(records);
  expect([status, body.errorKey, body.detail]).toEqual([400, 'request.malformed', expect.stringContaining('more memory')]);
});

test('an upload in the middle of which the thread ends is 503, and what is sent again is stored once', async () => {
  const before = await stored();
  const records = newRecords(1_000);
  const answer = await upload([...records.slice(0, 900), JSON.stringify(ENDS_THREAD), ...records.slice(900)]);
  expect([answer.status, answer.headers.get('retry-after'), answer.body.errorKey]).toEqual([503, '5', 'store.busy']);
  expect((await upload(records)).status).toBe(202);
  expect((await stored()) - before).toBe(1_000);
});
