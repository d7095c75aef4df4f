import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, ask, eventLine, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';

const KEY = 'key-of-everything-1';
const WAF_KEY = 'key-with-a-mapping-1';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*,waf:${WAF_KEY}:7:ingest:aws-waf` } });
});

afterAll(() => app.stop());

type Headers = Readonly<Record<string, string>>;

const ID = { 'x-amz-firehose-request-id': 'ed4acda5-034f', 'x-amz-firehose-protocol-version': '1.0', 'content-type': 'application/json' };
const FROM_FIREHOSE = { ...ID, 'x-amz-firehose-access-key': KEY };

function bodyOf(...data: readonly (string | Buffer)[]): string {
  const records = data.map((one) => ({ data: Buffer.from(one as string).toString('base64') }));
  return JSON.stringify({ requestId: 'ed4acda5-034f', timestamp: 1, records });
}

function send(body: string | Uint8Array, headers: Headers = FROM_FIREHOSE, query = ''): Promise<Answer> {
  return ask(app, `/ingest/firehose${query}`, { method: 'POST', headers, body: Buffer.from(body as string) });
}

async function total(ruleId: string): Promise<number> {
  return (await search(app, lastHour({ filters: [{ field: 'ruleId', op: 'eq', value: [ruleId] }] }), { accesskey: KEY })).body.total;
}

const SUCCESS = { requestId: 'ed4acda5-034f', timestamp: expect.any(Number) };

let last = 0;
const event = (ruleId: string): string => eventLine({ ruleId, logId: `firehose-${last++}` });
const waf = (rule: string): string =>
  JSON.stringify({
    timestamp: Date.now() - 60_000,
    ...{ terminatingRuleId: rule, terminatingRuleType: 'REGULAR', action: 'BLOCK' },
    httpRequest: { clientIp: '192.0.2.7', country: 'NL', headers: [], uri: '/', args: '', requestId: `r-${last++}` },
  });

test.each<[what: string, body: (rule: string) => string | Uint8Array, headers: Headers, query: string]>([
  ['events of our own', (rule) => bodyOf(event(rule), event(rule)), FROM_FIREHOSE, ''],
  ['a body in gzip', (rule) => gzipSync(bodyOf(event(rule) + event(rule))), { ...FROM_FIREHOSE, 'content-encoding': 'gzip' }, ''],
  ['a key as AccessKey', (rule) => bodyOf(event(rule), event(rule)), { ...ID, accesskey: KEY }, ''],
  ['a key in Authorization', (rule) => bodyOf(event(rule), event(rule)), { ...ID, authorization: `Bearer ${KEY}` }, ''],
  ['records of a mapping', (rule) => bodyOf(`${waf(rule)}\n${waf(rule)}`), FROM_FIREHOSE, '?mapping=aws-waf&zone=7'],
  ['records of a key with a mapping', (rule) => bodyOf(waf(rule), waf(rule)), { ...ID, 'x-amz-firehose-access-key': WAF_KEY }, ''],
  ['an event beside a letter', (rule) => bodyOf(event(rule) + event(rule), '{"x":1}'), FROM_FIREHOSE, ''],
  [
    'so many that a thread takes them apart',
    (rule) => bodyOf(...Array.from({ length: 500 }, () => event('many')), event(rule) + event(rule)),
    FROM_FIREHOSE,
    '',
  ],
])('%s are stored', async (what, body, headers, query) => {
  const answer = await send(body(what), headers, query);
  expect([answer.status, answer.body, answer.headers.get('content-type')]).toEqual([200, SUCCESS, 'application/json; charset=utf-8']);
  expect(await total(what)).toBe(2);
});

test('a request that comes again, or in other pieces, stores nothing twice', async () => {
  const [one, two] = [eventLine({ ruleId: 'again' }), eventLine({ ruleId: 'again', ua: 'x' })];
  for (const body of [bodyOf(one, two), bodyOf(one, two), bodyOf(two + one)]) expect((await send(body)).status).toBe(200);
  expect(await total('again')).toBe(2);
});

test('no records are a success', async () => {
  const answer = await send(bodyOf());
  expect([answer.status, answer.body]).toEqual([200, SUCCESS]);
});

test.each<[what: string, body: string | Uint8Array, headers: Headers, status: number, message: string]>([
  [
    'no key',
    bodyOf(),
    ID,
    401,
    'The AccessKey header is missing, and so is a key in authorization, and so is a key in x-amz-firehose-access-key',
  ],
  ['a wrong key', bodyOf(), { ...ID, 'x-amz-firehose-access-key': 'wrong-key-of-16-x' }, 401, 'holds no key of this program'],
  [
    'a wrong AccessKey, which goes first',
    bodyOf(),
    { ...FROM_FIREHOSE, accesskey: 'wrong-key-of-16-x' },
    401,
    'holds no key of this program',
  ],
  ['nothing but letters', bodyOf('{"y":1}', '{"y":2}'), FROM_FIREHOSE, 400, 'shieldZoneId is missing'],
  ['a body that is cut', bodyOf(event('cut')).slice(0, -3), FROM_FIREHOSE, 400, 'the body is not {"records"'],
  ['another type', bodyOf(), { ...FROM_FIREHOSE, 'content-type': 'text/csv' }, 415, 'allowed: application/json'],
  ['zeros in gzip', bodyOf(gzipSync(Buffer.alloc(33 * 1024 * 1024))), FROM_FIREHOSE, 413, 'more than 33554432 bytes unpacked'],
])('%s: not 200', async (_what, body, headers, status, message) => {
  const answer = await send(body, headers);
  expect([answer.status, answer.body]).toEqual([status, { ...SUCCESS, errorMessage: expect.stringContaining(message) }]);
  expect(await total('cut')).toBe(0);
});
