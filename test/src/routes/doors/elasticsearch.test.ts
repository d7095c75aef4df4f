import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Answer, ask, eventLine, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';

const KEY = 'key-of-everything-1';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*,eight:key-of-zone-8-alone:8` } });
});

afterAll(() => app.stop());

type Headers = Readonly<Record<string, string>>;

const NDJSON = { 'content-type': 'application/x-ndjson', accesskey: KEY };
const VENDOR = { 'content-type': 'application/vnd.elasticsearch+x-ndjson; compatible-with=9', accesskey: KEY };

function send(body: string | Uint8Array, headers: Headers = NDJSON, path = '/_bulk', method = 'POST', to = app): Promise<Answer> {
  return ask(to, path, { method, headers, body: Buffer.from(body as string) });
}

async function total(ruleId: string, of = app): Promise<number> {
  return (await search(of, lastHour({ filters: [{ field: 'ruleId', op: 'eq', value: [ruleId] }] }), { accesskey: KEY })).body.total;
}

let last = 0;
const event = (ruleId: string): string => eventLine({ ruleId, logId: `bulk-${last++}` });
const index = (line: string): string => `{"index":{"_index":"logs","_id":"the same for all"}}\n${line}`;
const CREATED = { status: 201, result: 'created' };

test.each<[what: string, body: (rule: string) => string | Uint8Array, headers: Headers, path: string, method: string]>([
  ['index', (rule) => index(event(rule)) + index(event(rule)), NDJSON, '/_bulk', 'POST'],
  ['create', (rule) => `{"create":{}}\n${event(rule)}{"create":{}}\n${event(rule)}`, NDJSON, '/_bulk', 'PUT'],
  ['in an index', (rule) => `{"index":{}}\n${event(rule)}{"index":{}}\n${event(rule)}`, NDJSON, '/waf-2026/_bulk?refresh=true', 'POST'],
  ['as JSON', (rule) => index(event(rule)) + index(event(rule)), { ...NDJSON, 'content-type': 'application/json' }, '/_bulk', 'POST'],
  ['of a version', (rule) => index(event(rule)) + index(event(rule)), VENDOR, '/_bulk', 'PUT'],
  ['in gzip', (rule) => gzipSync(index(event(rule)) + index(event(rule))), { ...NDJSON, 'content-encoding': 'gzip' }, '/x/_bulk', 'PUT'],
  [
    'by Basic',
    (rule) => index(event(rule)) + index(event(rule)),
    { ...NDJSON, accesskey: '', authorization: `Basic ${btoa(`elastic:${KEY}`)}` },
    '/_bulk',
    'POST',
  ],
  [
    'so many that a thread takes them apart',
    (rule) => Array.from({ length: 500 }, () => index(event('many'))).join('') + index(event(rule)) + index(event(rule)),
    NDJSON,
    '/_bulk',
    'POST',
  ],
])('events are stored: %s', async (what, body, headers, path, method) => {
  const answer = await send(body(what), headers, path, method);
  expect([answer.status, answer.body.errors, answer.headers.get('x-elastic-product')]).toEqual([200, false, 'Elasticsearch']);
  expect(answer.body.items.every((item: object) => Object.values(item)[0].status === 201)).toBe(true);
  expect(await total(what)).toBe(2);
});

test('records of another product become events by a mapping', async () => {
  const httpRequest = { clientIp: '192.0.2.7', country: 'NL', headers: [], uri: '/', args: '', requestId: 'r-1' };
  const record = {
    timestamp: Date.now() - 60_000,
    terminatingRuleId: 'bulk-waf',
    terminatingRuleType: 'REGULAR',
    action: 'BLOCK',
    httpRequest,
  };
  const answer = await send(index(`${JSON.stringify(record)}\n`), NDJSON, '/_bulk?mapping=aws-waf&zone=7');
  expect(answer.body.errors).toBe(false);
  expect(await total('bulk-waf')).toBe(1);
});

test('single letters are no errors; update and delete are, each at its place', async () => {
  const [one, letter, other] = [index(event('places')), index('{"z":1}\n'), `{"create":{}}\n${event('places')}`];
  const body = `{"delete":{"_index":"a"}}\n${one}{"update":{}}\n{"doc":{}}\n${letter}${other}`;
  const { status, body: told } = await send(body, NDJSON, '/b/_bulk');
  const refused = (name: string, action: string) => ({
    [action]: {
      _index: name,
      status: 400,
      error: { type: 'illegal_argument_exception', reason: expect.stringContaining(`${action} is not supported`) },
    },
  });
  expect([status, told]).toEqual([
    200,
    {
      took: expect.any(Number),
      errors: true,
      items: [
        refused('a', 'delete'),
        { index: { _index: 'logs', ...CREATED } },
        refused('b', 'update'),
        { index: { _index: 'logs', ...CREATED } },
        { create: { _index: 'b', ...CREATED } },
      ],
    },
  ]);
  expect(await total('places')).toBe(2);
});

test('nothing but letters are errors of all items, and are kept', async () => {
  const { status, body } = await send(index('{"w":1}\n') + index('{"w":2}\n'));
  const error = { type: 'document_parsing_exception', reason: expect.stringContaining('shieldZoneId is missing') };
  expect([status, body]).toEqual([
    200,
    { took: expect.any(Number), errors: true, items: Array.from({ length: 2 }, () => ({ index: { _index: 'logs', status: 400, error } })) },
  ]);
  const letters = await ask(app, '/ingest/dead-letters?limit=10000', { headers: { accesskey: KEY } });
  expect(letters.text.match(/"w\\":[12]/g)).toHaveLength(2);
});

test('a letter that is not kept is an error of its item', async () => {
  const full = await startApp({ storeOptions: { deadLetterQuotaBytes: 1 } });
  onTestFinished(() => full.stop());
  const { body } = await send(
    index(event('kept')) + index('{"v":1}\n'),
    { 'content-type': 'application/x-ndjson' },
    '/_bulk',
    'POST',
    full,
  );
  expect([body.errors, body.items.map((item: { readonly index: { readonly status: number } }) => item.index.status)]).toEqual([
    true,
    [201, 400],
  ]);
});

test('no items are a success', async () => {
  expect((await send('\n')).body).toMatchObject({ errors: false, items: [] });
});

test.each<[what: string, body: string, headers: Headers, status: number, type: string, reason: string]>([
  ['no key', '\n', { ...NDJSON, accesskey: '' }, 401, 'security_exception', 'The AccessKey header is missing'],
  ['a wrong key', '\n', { ...NDJSON, accesskey: 'wrong-key-of-16-x' }, 401, 'security_exception', 'holds no key'],
  [
    'a key of another zone',
    index(eventLine()),
    { ...NDJSON, accesskey: 'key-of-zone-8-alone' },
    403,
    'security_exception',
    'shield zone 7',
  ],
  [
    'a body that is cut',
    index(event('cut')) + index(event('cut')).trimEnd(),
    NDJSON,
    400,
    'illegal_argument_exception',
    'item 1: the body ends',
  ],
  ['another type', '\n', { ...NDJSON, 'content-type': 'text/csv' }, 415, 'media_type_header_exception', 'allowed: application/x-ndjson'],
  ['too much', ' '.repeat(32 * 1024 * 1024 + 1), NDJSON, 413, 'content_too_long_exception', 'at most 33554432 bytes'],
])('%s is refused', async (_what, body, headers, status, type, reason) => {
  const answer = await send(body, headers);
  const told = { type, reason: expect.stringContaining(reason) };
  expect([answer.status, answer.body]).toEqual([status, { error: { root_cause: [told], ...told }, status }]);
  expect([answer.headers.get('x-elastic-product'), answer.headers.get('www-authenticate') ?? '']).toEqual([
    'Elasticsearch',
    expect.not.stringMatching(/basic/i),
  ]);
  expect(await total('cut')).toBe(0);
});

test('a name of an index in the path that is longer than any is refused, before the body is read', async () => {
  const [longest, tooLong] = [`${'é'.repeat(127)}x`, 'é'.repeat(128)].map((name) => `/${encodeURIComponent(name)}/_bulk`);
  expect((await send(index(event('a long index')), NDJSON, longest)).status).toBe(200);
  const answer = await send(index(event('a longer index')), NDJSON, tooLong);
  const reason = 'The name of the index in the path has 256 bytes: at most 255 are allowed';
  expect([answer.status, answer.body.error.reason]).toEqual([400, reason]);
  expect(await total('a longer index')).toBe(0);
});

describe('the answer', () => {
  test.each([
    ['application/json', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/vnd.elasticsearch+json; compatible-with=9', 'application/vnd.elasticsearch+json; compatible-with="9"; charset=utf-8'],
    [
      'text/plain, application/vnd.elasticsearch+json;compatible-with=8',
      'application/vnd.elasticsearch+json; compatible-with="8"; charset=utf-8',
    ],
    ['application/vnd.elasticsearch+json', 'application/vnd.elasticsearch+json; charset=utf-8'],
  ])('to Accept: %s is %s', async (accept, type) => {
    expect((await send('\n', { ...NDJSON, accept })).headers.get('content-type')).toBe(type);
    expect((await send('x\n', { ...NDJSON, accept })).headers.get('content-type')).toBe(type);
  });

  test.each([
    ['application/json', 'JSON'],
    ['application/vnd.elasticsearch+json; compatible-with=9,text/plain', 'JSON'],
    ['text/html,application/xhtml+xml,application/json;q=0.9', 'the page'],
    ['*/*', 'the page'],
    ['', 'the page'],
  ])('at / to Accept: %s is %s, without a key', async (accept, what) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(app, '/', { method, headers: { accept } });
      const isGreeting = answer.headers.get('x-elastic-product') === 'Elasticsearch';
      expect([answer.status, isGreeting, answer.headers.get('vary')]).toEqual([200, what === 'JSON', 'accept']);
      if (isGreeting && method === 'GET')
        expect(answer.body).toMatchObject({ version: { number: '8.19.0' }, tagline: 'You Know, for Search' });
    }
  });

  test('of the license needs no key', async () => {
    expect((await ask(app, '/_license')).body).toMatchObject({ license: { status: 'active', type: 'basic' } });
  });
});

test('a program that is stopping says 429, after which clients come again', async () => {
  const stopping = await startApp();
  Object.assign(stopping.store, { pendingBytes: () => Number.MAX_SAFE_INTEGER });
  onTestFinished(() => stopping.stop());
  const answer = await send(index(event('busy')), { 'content-type': 'application/x-ndjson' }, '/_bulk', 'POST', stopping);
  expect([answer.status, answer.headers.get('retry-after'), answer.body.error.type]).toEqual([429, '5', 'es_rejected_execution_exception']);
});

test('its health needs no key, and is that of the store', async () => {
  const healthy = await ask(app, '/_cat/health');
  expect([healthy.status, healthy.text]).toEqual([200, 'shieldlog green\n']);
  const ill = await startApp();
  onTestFinished(() => ill.stop());
  Object.assign(ill.store, { reasonsNotReady: async () => ['the disk is full'] });
  const answer = await ask(ill, '/_cat/health');
  expect([answer.status, answer.body.error.type, answer.headers.get('retry-after')]).toEqual([429, 'es_rejected_execution_exception', '5']);
});

test('where documents are envelopes, the one is refused of which something is kept nowhere', async () => {
  const full = await startApp({ storeOptions: { deadLetterQuotaBytes: 1 } });
  onTestFinished(() => full.stop());
  const [leftOut, broken] = [{ category: 'another' }, { category: 'FrontDoorWebApplicationFirewallLog' }];
  const body = [[leftOut], [leftOut, leftOut, broken], [leftOut]].map((records) => index(`${JSON.stringify({ records })}\n`)).join('');
  const answer = await send(body, NDJSON, '/_bulk?mapping=azure-front-door&zone=7', 'POST', full);
  expect([answer.status, answer.body.errors]).toEqual([200, true]);
  const error = { type: 'document_parsing_exception', reason: expect.stringContaining('DEAD_LETTER_MAX_MB is used up') };
  const stored = { index: { _index: 'logs', ...CREATED } };
  expect(answer.body.items).toEqual([stored, { index: { _index: 'logs', status: 400, error } }, stored]);
});

test('an answer of many long names is written as it is made', async () => {
  const names = Array.from({ length: 50_000 }, (_, item) => `${item}-`.padEnd(255, 'x'));
  const answer = await send(names.map((name) => `{"delete":{"_index":"${name}"}}\n`).join(''));
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, null]);
  expect(answer.body.items.map((item: { readonly delete: { readonly _index: string } }) => item.delete._index)).toEqual(names);
});
