import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Answer, ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';

const KEYS = { all: 'key-of-everything-1', zone8: 'key-of-zone-8-alone', reader: 'key-that-only-reads' };

let app: RunningApp;
let keyed: RunningApp;

beforeAll(async () => {
  app = await startApp();
  const entries = [`all:${KEYS.all}:*`, `eight:${KEYS.zone8}:8`, `reader:${KEYS.reader}:*:read`];
  keyed = await startApp({ env: { ACCESS_KEYS: entries.join(',') } });
});

afterAll(async () => {
  await app.stop();
  await keyed.stop();
});

let last = 0;
/** An event with an id of its own, as a record. */
const record = (rest: object = {}): string => eventLine({ logId: `hec-${last++}`, ...rest }).trimEnd();
const wrapped = (event: string): string => `{"time":1767228000.5,"host":"h","source":"s","event":${event}}`;

type Headers = Readonly<Record<string, string>>;

function send(body: string | Uint8Array, path = '/event', headers: Headers = {}, to: RunningApp = app): Promise<Answer> {
  const init = { method: 'POST', headers, body: Buffer.from(body as string) };
  return ask(to, `/services/collector${path}`, init);
}

async function total(of: RunningApp, ids: readonly string[], headers: Headers = {}): Promise<number> {
  const filters = [{ field: 'ruleId', op: 'eq', value: ids }];
  return (await search(of, lastHour({ filters }), headers)).body.total;
}

const letters = async (of: RunningApp): Promise<readonly { readonly text: string; readonly reason: string }[]> =>
  (await ask(of, '/ingest/dead-letters?limit=10000')).body.deadLetters;

const SUCCESS = { text: 'Success', code: 0 };

describe('events are stored at once', () => {
  const two = (ruleId: string): string => wrapped(record({ ruleId })) + wrapped(JSON.stringify(record({ ruleId })));
  const lines = (ruleId: string): string => `${record({ ruleId })}\n\n${record({ ruleId })}`;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  test.each<[what: string, path: string, body: (ruleId: string) => string | Uint8Array, headers: Headers]>([
    ['an object and a text', '/event', two, {}],
    ['without /event', '', two, {}],
    ['of the version 1.0', '/event/1.0', two, {}],
    ['as a form', '/event', two, form],
    ['as a type that is none', '/event', two, { 'content-type': 'x' }],
    ['as gzip', '/event', (ruleId) => gzipSync(two(ruleId)), { 'content-encoding': 'gzip' }],
    ['as zstd', '/event', (ruleId) => zstdCompressSync(two(ruleId)), { 'content-encoding': 'zstd' }],
    ['as gzip without saying so', '/event', (ruleId) => gzipSync(two(ruleId)), {}],
    ['on lines', '/raw', lines, { 'content-type': 'text/plain' }],
    ['on lines, of the version 1.0', '/raw/1.0?source=x&sourcetype=y', lines, {}],
  ])('%s', async (what, path, body, headers) => {
    const answer = await send(body(what), path, headers);
    expect([answer.status, answer.body, answer.headers.get('content-type')]).toEqual([200, SUCCESS, 'application/json; charset=utf-8']);
    expect(await total(app, [what])).toBe(2);
  });

  test('so many that a thread takes them apart', async () => {
    const body = Array.from({ length: 2_000 }, () => wrapped(JSON.stringify(record({ ruleId: 'many' })))).join('');
    expect((await send(body)).body).toEqual(SUCCESS);
    expect(await total(app, ['many'])).toBe(2_000);
  });

  test('once, whichever door they come through, how they are wrapped, and whether they have an id', async () => {
    const plain = eventLine({ ruleId: 'once', ua: 'ü' }).trimEnd();
    await ingest(app, plain);
    for (const event of [plain, JSON.stringify(plain)]) expect((await send(wrapped(event) + wrapped(event))).status).toBe(200);
    expect((await send(plain, '/raw')).status).toBe(200);
    expect(await total(app, ['once'])).toBe(1);
  });
});

describe('records of another product', () => {
  let requests = 0;
  /** A record of AWS WAF. */
  const waf = (rule: string): string => {
    const httpRequest = { clientIp: '192.0.2.7', country: 'NL', headers: [], uri: '/', args: '', requestId: `r-${requests++}` };
    return JSON.stringify({
      timestamp: Date.now() - 60_000,
      terminatingRuleId: rule,
      terminatingRuleType: 'REGULAR',
      action: 'BLOCK',
      httpRequest,
    });
  };
  const MAPPED = '?mapping=aws-waf&zone=7';

  test.each<[what: string, path: string, body: (rule: string) => string]>([
    ['as they are', `/event${MAPPED}`, (rule) => wrapped(waf(rule)) + wrapped(waf(rule))],
    ['as texts', `/event/1.0${MAPPED}`, (rule) => wrapped(JSON.stringify(waf(rule))) + wrapped(JSON.stringify(waf(rule)))],
    ['wrapped once more, with a severity', MAPPED, (rule) => `{"event":{"message":${waf(rule)},"severity":"info"}}`.repeat(2)],
    ['a line each', `/raw${MAPPED}&source=aws`, (rule) => `${waf(rule)}\n${waf(rule)}`],
  ])('become events by a mapping: %s', async (what, path, body) => {
    expect((await send(body(what), path)).body).toEqual(SUCCESS);
    expect(await total(app, [what])).toBe(what.startsWith('wrapped') ? 1 : 2);
  });

  test('are letters of the record where they are none, and 400 where all are so', async () => {
    const bad = '{"timestamp":"soon","terminatingRuleId":"x"}';
    expect((await send(wrapped(bad), `/event${MAPPED}`)).body).toMatchObject({ code: 6, 'invalid-event-number': 0 });
    expect((await send(wrapped(bad) + wrapped(waf('beside a letter')), `/event${MAPPED}`)).body).toEqual(SUCCESS);
    expect((await letters(app)).filter(({ text }) => text === bad)).toEqual([expect.objectContaining({ mapping: 'aws-waf' })]);
  });

  test.each<[what: string, query: string, headers: Headers, status: number, code: number]>([
    ['a mapping that there is not', '?mapping=nowhere', { accesskey: KEYS.all }, 400, 6],
    ['a zone that is none', '?mapping=aws-waf&zone=x', { accesskey: KEYS.all }, 400, 6],
    ['a zone without a mapping', '?zone=7', { accesskey: KEYS.all }, 400, 6],
    ['a zone that the key does not open', MAPPED, { accesskey: KEYS.zone8 }, 403, 4],
  ])('are refused with %s', async (what, query, headers, status, code) => {
    const answer = await send(wrapped(waf(what)), `/event${query}`, headers, keyed);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});

describe('what is no event', () => {
  test('is a letter, and the others are stored: success', async () => {
    const bad = ['{"shieldZoneId":7,"a":1}', '"no event at all"', '5'];
    const answer = await send([record({ ruleId: 'beside' }), ...bad].map(wrapped).join(''));
    expect([answer.status, answer.body, await total(app, ['beside'])]).toEqual([200, SUCCESS, 1]);
    const texts = (await letters(app)).map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(['{"shieldZoneId":7,"a":1}', 'no event at all', '5']));
  });

  test('is a letter and 400 where all are so, once however often it comes', async () => {
    const body = wrapped('{"shieldZoneId":7,"b":1}') + wrapped('{"shieldZoneId":7,"b":2}');
    const expected = { text: 'Invalid data format: timestamp is missing', code: 6, 'invalid-event-number': 0 };
    for (let time = 0; time < 3; time += 1) {
      const answer = await send(body);
      expect([answer.status, answer.body]).toEqual([400, { ...expected, text: expect.stringContaining('Invalid data format: timestamp') }]);
    }
    expect((await letters(app)).filter(({ text }) => /"b":[12]/.test(text))).toHaveLength(2);
  });

  test('is none where it is only too old', async () => {
    const answer = await send(wrapped(record({ timestamp: Date.now() - 1_000 * 3_600_000 })));
    expect([answer.status, answer.body]).toEqual([200, SUCCESS]);
  });

  test('is 400 where no letter is kept any more', async () => {
    const full = await startApp({ storeOptions: { deadLetterQuotaBytes: 1 } });
    onTestFinished(() => full.stop());
    const answer = await send(wrapped(record({ ruleId: 'kept' })) + wrapped('{"c":1}'), '/event', {}, full);
    expect([answer.status, answer.body]).toEqual([
      400,
      { text: expect.stringContaining('DEAD_LETTER_MAX_MB is used up'), code: 6, 'invalid-event-number': 1 },
    ]);
    expect(await total(full, ['kept'])).toBe(1);
  });
});

describe('an envelope that cannot be taken apart stores nothing', () => {
  test.each<[what: string, body: (good: string) => string, code: number, event: number]>([
    ['one that is cut', (good) => `${good}{"event":{`, 6, 1],
    ['an object without an event', (good) => `${good}{"time":5}`, 12, 1],
    ['a blank event', (good) => `${good}{"event":" "}`, 13, 1],
    ['an array', (good) => `[${good}]`, 6, 0],
  ])('%s', async (what, body, code, event) => {
    const answer = await send(body(wrapped(record({ ruleId: what }))));
    expect([answer.status, answer.body]).toEqual([400, { text: expect.any(String), code, 'invalid-event-number': event }]);
    expect(await total(app, [what])).toBe(0);
  });

  test.each([
    ['no body', '', '/event', 5],
    ['blanks', ' \n', '/event', 5],
    ['blank lines', '\n\n', '/raw', 5],
  ])('%s is no data', async (_what, body, path, code) => {
    const answer = await send(body, path);
    expect([answer.status, answer.body]).toEqual([400, { text: 'No data', code }]);
  });

  test.each<[what: string, body: string | Uint8Array, headers: Headers, status: number, text: string]>([
    ['gzip that is cut', gzipSync(wrapped('{}')).subarray(0, -9), { 'content-encoding': 'gzip' }, 400, 'damaged or cut off'],
    ['another compression', 'x', { 'content-encoding': 'br' }, 415, 'allowed: gzip, zstd, identity'],
    ['more than 32 MiB', ' '.repeat(32 * 1024 * 1024 + 1), {}, 413, 'at most 33554432 bytes'],
    ['more than 32 MiB, packed', gzipSync(Buffer.alloc(33 * 1024 * 1024)), { 'content-encoding': 'gzip' }, 413, 'at most 33554432 bytes'],
  ])('%s', async (_what, body, headers, status, text) => {
    const answer = await send(body, '/event', headers);
    expect([answer.status, answer.body]).toEqual([status, { text: expect.stringContaining(text), code: 6 }]);
  });
});

describe('a key', () => {
  const basic = (user: string, key: string): string => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;
  test.each<[what: string, headers: Headers]>([
    ['as AccessKey', { accesskey: KEYS.all }],
    ['as Splunk', { authorization: `Splunk ${KEYS.all}` }],
    ['as splunk', { authorization: `splunk ${KEYS.all}` }],
    ['as Bearer', { authorization: `Bearer ${KEYS.all}` }],
    ['as the password of Basic', { authorization: basic('x', KEYS.all) }],
    ['as the password of Basic, without a user', { authorization: basic('', KEYS.all) }],
    ['as AccessKey, beside a wrong one', { accesskey: KEYS.all, authorization: 'Splunk wrong-key-of-16-x' }],
  ])('%s opens the door, and the intake', async (what, headers) => {
    expect((await send(wrapped(record({ ruleId: what })), '/event', headers, keyed)).body).toEqual(SUCCESS);
    expect((await ingest(keyed, record(), headers)).status).toBe(202);
    expect(await total(keyed, [what], { accesskey: KEYS.all })).toBe(1);
  });

  test.each<[what: string, headers: Headers, status: number, code: number, text: string]>([
    ['no key', {}, 401, 2, 'Token is required: The AccessKey header is missing, and so is a key in authorization'],
    ['an empty key', { authorization: '' }, 401, 2, 'Token is required: The AccessKey header is missing'],
    ['another scheme', { authorization: `Digest ${KEYS.all}` }, 401, 3, 'Invalid authorization: '],
    ['a key without a scheme', { authorization: KEYS.all }, 401, 3, 'Invalid authorization: '],
    ['Basic without a colon', { authorization: `Basic ${Buffer.from(KEYS.all).toString('base64')}` }, 401, 3, 'Invalid authorization: '],
    ['a key that is not known', { authorization: 'Splunk wrong-key-of-16-x' }, 403, 4, 'Invalid token: The request holds no key'],
    [
      'a wrong AccessKey beside a right one',
      { accesskey: 'wrong-key-of-16-x', authorization: `Splunk ${KEYS.all}` },
      403,
      4,
      'Invalid token: ',
    ],
    ['a key without the scope', { authorization: `Splunk ${KEYS.reader}` }, 403, 4, 'does not have the scope "ingest"'],
    ['a key of another zone', { authorization: `Splunk ${KEYS.zone8}` }, 403, 4, 'shield zone 7, which the access key does not open'],
  ])('%s: %j', async (what, headers, status, code, text) => {
    const answer = await send(wrapped(record({ ruleId: what })), '/event', headers, keyed);
    expect([answer.status, answer.body]).toEqual([status, { text: expect.stringContaining(text), code }]);
    expect(answer.headers.get('www-authenticate') ?? '').not.toMatch(/basic/i);
    expect(await total(keyed, [what], { accesskey: KEYS.all })).toBe(0);
  });

  test('in Authorization opens nothing but doors and the intake', async () => {
    const authorization = { authorization: `Bearer ${KEYS.all}` };
    expect((await search(keyed, lastHour(), authorization)).status).toBe(401);
    expect((await ask(keyed, '/ingest/dead-letters', { headers: authorization })).status).toBe(401);
  });
});

describe('acknowledgements', () => {
  const CHANNEL = { 'x-splunk-request-channel': '5a1b0d0e-0000-4000-8000-000000000001' };
  const poll = (body: string, path = '/ack', headers: Headers = CHANNEL): Promise<Answer> => send(body, path, headers);

  test('a channel gets an id with each success, never one twice, and every id is acknowledged', async () => {
    const ids: number[] = [];
    for (let time = 0; time < 3; time += 1) ids.push((await send(wrapped(record()), '/event', CHANNEL)).body.ackId);
    ids.push((await send(wrapped(record()), '/event?channel=other')).body.ackId);
    expect(new Set(ids).size).toBe(4);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
    expect((await poll(JSON.stringify({ acks: ids }))).body).toEqual({ acks: Object.fromEntries(ids.map((id) => [id, true])) });
    expect((await poll('{"acks":[7]}', '/ack?channel=x', {})).body).toEqual({ acks: { 7: true } });
  });

  test('a refusal has no id', async () => {
    expect((await send(wrapped('{"d":1}'), '/event', CHANNEL)).body.ackId).toBeUndefined();
  });

  test.each([
    ['no channel', '{"acks":[1]}', {}, 10],
    ['no JSON', '{"acks":', CHANNEL, 6],
    ['no list', '{"acks":1}', CHANNEL, 6],
    ['null', 'null', CHANNEL, 6],
    ['ids that are none', '{"acks":["x"]}', CHANNEL, 6],
  ])('a poll with %s is refused', async (_what, body, headers, code) => {
    const answer = await poll(body, '/ack', headers as Headers);
    expect([answer.status, answer.body.code]).toEqual([400, code]);
  });
});

test('more letters than an upload may have are all kept, and those that are not are told', async () => {
  const own = await startApp();
  onTestFinished(() => own.stop());
  const letters = Array.from({ length: 12_000 }, (_, index) => `{"letter":${index}}`);
  expect((await send(`${letters.join('\n')}\n${eventLine()}`, '/raw', {}, own)).status).toBe(200);
  expect((await own.store.stats()).deadLetters).toBe(12_000);
  const small = await startApp({ storeOptions: { deadLetterQuotaBytes: 100_000 } });
  onTestFinished(() => small.stop());
  const answer = await send(letters.join('\n'), '/raw', {}, small);
  expect([answer.status, answer.body]).toEqual([
    400,
    expect.objectContaining({
      code: 6,
      text: expect.stringContaining('it is not kept as a dead letter, because DEAD_LETTER_MAX_MB is used up'),
    }),
  ]);
});

test('its health needs no key, and is that of the store', async () => {
  const healthy = await ask(keyed, '/services/collector/health');
  expect([healthy.status, healthy.body]).toEqual([200, { text: 'HEC is healthy', code: 17 }]);
  const ill = await startApp();
  onTestFinished(() => ill.stop());
  Object.assign(ill.store, { reasonsNotReady: async () => ['the disk is full'] });
  const answer = await ask(ill, '/services/collector/health');
  expect([answer.status, answer.body, answer.headers.get('retry-after')]).toEqual([503, { text: 'HEC is unhealthy', code: 18 }, '5']);
});

test('each answer is counted by its status', async () => {
  const counted = await startApp();
  onTestFinished(() => counted.stop());
  await send(wrapped(record()), '/event', {}, counted);
  await send('', '/event', {}, counted);
  await send('', '/raw', {}, counted);
  const metrics = (await ask(counted, '/metrics')).text;
  expect(metrics).toContain('shieldlog_door_requests_total{door="splunk-hec",status="200"} 1');
  expect(metrics).toContain('shieldlog_door_requests_total{door="splunk-hec",status="400"} 2');
});
