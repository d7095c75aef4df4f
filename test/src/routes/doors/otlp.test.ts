import { gzipSync } from 'node:zlib';
import { PbfReader } from 'pbf';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { anyValueOf, keyValuesOf, type LogRecord, otlpJson, otlpProtobuf, textRecord } from '../../../fixtures/otlp-requests.ts';
import { ask, eventLine, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';

const KEY = 'key-of-everything-1';
const WAF_KEY = 'key-with-a-mapping-1';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*,waf:${WAF_KEY}:7:ingest:aws-waf` } });
});

afterAll(() => app.stop());

type Headers = Readonly<Record<string, string>>;

const ENCODINGS = ['application/x-protobuf', 'application/json'] as const;
type Encoding = (typeof ENCODINGS)[number];

const encoded = (type: Encoding, records: readonly LogRecord[]): Buffer => (type === 'application/json' ? otlpJson : otlpProtobuf)(records);

interface Told {
  readonly status: number;
  readonly type: string | null;
  /** Of a success. */
  readonly rejected: number;
  /** Of a failure. */
  readonly code: number;
  readonly message: string;
  readonly headers: globalThis.Headers;
}

/** Reads an ExportLogsServiceResponse, or a google.rpc.Status. */
function toldIn(status: number, bytes: Buffer, isJson: boolean): Pick<Told, 'rejected' | 'code' | 'message'> {
  if (isJson) {
    const { partialSuccess = {}, code = 0, message = '' } = JSON.parse(bytes.toString());
    return {
      rejected: Number(partialSuccess.rejectedLogRecords ?? 0),
      code,
      message: status === 200 ? (partialSuccess.errorMessage ?? '') : message,
    };
  }
  const told = { rejected: 0, code: 0, message: '' };
  const reader = new PbfReader(bytes);
  if (status === 200 && reader.nextField() === 1) reader.readVarint();
  for (let field = reader.nextField(); field !== 0; field = reader.nextField()) {
    if (field === 2) told.message = reader.readString();
    else if (status === 200) told.rejected = reader.readVarint();
    else told.code = reader.readVarint();
  }
  return told;
}

async function send(body: Uint8Array, headers: Headers, query = '', to: RunningApp = app): Promise<Told> {
  const answer = await fetch(`${to.url}/v1/logs${query}`, { method: 'POST', headers, body: Buffer.from(body) });
  const type = answer.headers.get('content-type');
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type, headers: answer.headers, ...toldIn(answer.status, bytes, type?.includes('json') ?? false) };
}

async function total(ruleId: string): Promise<number> {
  return (await search(app, lastHour({ filters: [{ field: 'ruleId', op: 'eq', value: [ruleId] }] }), { accesskey: KEY })).body.total;
}

let last = 0;
const event = (ruleId: string): string => eventLine({ ruleId, logId: `otlp-${last++}` }).trimEnd();
const asText = (ruleId: string): LogRecord => textRecord(event(ruleId));
const waf = (rule: string): Readonly<Record<string, unknown>> => ({
  timestamp: Date.now() - 60_000,
  ...{ terminatingRuleId: rule, terminatingRuleType: 'REGULAR', action: 'BLOCK' },
  httpRequest: { clientIp: '192.0.2.7', country: 'NL', headers: [], uri: '/', args: '', requestId: `r-${last++}` },
});
const MAPPED = '?mapping=aws-waf&zone=7';

describe.each(ENCODINGS)('of the type %s', (type) => {
  const headers = { 'content-type': type, accesskey: KEY };

  test.each<[what: string, records: (rule: string) => readonly LogRecord[], headers: Headers, query: string]>([
    ['texts', (rule) => [asText(rule), asText(rule)], {}, ''],
    ['lists of keys and values', (rule) => [1, 2].map(() => ({ body: anyValueOf(JSON.parse(event(rule))) })), {}, ''],
    [
      'attributes, beside a text',
      (rule) => [1, 2].map(() => ({ body: { stringValue: 'blocked' }, attributes: keyValuesOf(JSON.parse(event(rule))) })),
      {},
      '',
    ],
    ['a key in Authorization', (rule) => [asText(rule), asText(rule)], { accesskey: '', authorization: `Bearer ${KEY}` }, ''],
    ['records of a mapping', (rule) => [textRecord(JSON.stringify(waf(rule))), { body: anyValueOf(waf(rule)) }], {}, MAPPED],
    [
      'records of a key with a mapping',
      (rule) => [textRecord(JSON.stringify(waf(rule))), { attributes: keyValuesOf(waf(rule)) }],
      { accesskey: WAF_KEY },
      '',
    ],
    [
      'so many that a thread takes them apart',
      (rule) => [...Array.from({ length: 500 }, () => asText('many')), asText(rule), asText(rule)],
      {},
      '',
    ],
  ])('%s are stored', async (what, records, more, query) => {
    const rule = `${type} ${what}`;
    expect(await send(encoded(type, records(rule)), { ...headers, ...more }, query)).toMatchObject({
      status: 200,
      rejected: 0,
      message: '',
      code: 0,
    });
    expect(await total(rule)).toBe(2);
  });

  test('gzip is stored, with parameters of the type', async () => {
    const packed = gzipSync(encoded(type, [asText(`${type} gzip`)]));
    const told = await send(packed, { ...headers, 'content-type': `${type}; charset=utf-8`, 'content-encoding': 'gzip' });
    expect([told.status, told.type?.split(';')[0], await total(`${type} gzip`)]).toEqual([200, type, 1]);
  });

  test('a request that comes again, or in other pieces or words, stores nothing twice', async () => {
    const [one, two] = [eventLine({ ruleId: `again ${type}` }).trimEnd(), eventLine({ ruleId: `again ${type}`, ua: 'x' }).trimEnd()];
    for (const records of [[one, two], [one, two], [two]]) {
      expect((await send(encoded(type, records.map(textRecord)), headers)).status).toBe(200);
    }
    expect(await total(`again ${type}`)).toBe(2);
  });

  test('no log records are a success', async () => {
    expect(await send(encoded(type, []), headers)).toMatchObject({ status: 200, rejected: 0, message: '' });
    expect(await send(type === 'application/json' ? Buffer.from('{}') : Buffer.alloc(0), headers)).toMatchObject({
      status: 200,
      rejected: 0,
    });
  });

  test('letters beside an event are a partial success, and are kept', async () => {
    const told = await send(encoded(type, [textRecord('no event'), asText(`beside ${type}`), textRecord('{"a":1}')]), headers);
    expect(told).toMatchObject({
      status: 200,
      rejected: 2,
      message: expect.stringMatching(/^log record 0: .*; it is kept as a dead letter$/),
    });
    expect(await total(`beside ${type}`)).toBe(1);
  });

  test('log records are counted as rejected, not what a mapping makes of each', async () => {
    const [leftOut, letters] = ['Another', 'FrontDoorWebApplicationFirewallLog'].map((category) =>
      textRecord(JSON.stringify({ records: [1, 2, 3].map((nth) => ({ category, type, nth })) })),
    );
    const records = [letters, leftOut, letters].flatMap((record) => record ?? []);
    const told = await send(encoded(type, records), headers, '?mapping=azure-front-door&zone=7');
    expect(told).toMatchObject({ status: 200, rejected: 2, message: expect.stringMatching(/^log record 0: /) });
  });

  test.each<[what: string, records: readonly LogRecord[], headers: Headers, query: string, status: number, code: number, message: string]>([
    ['nothing but letters', [textRecord('{"y":1}')], {}, '', 400, 3, 'log record 0: shieldZoneId is missing'],
    ['a mapping that fits none', [textRecord('{"y":1}')], {}, MAPPED, 400, 3, 'log record 0: '],
    ['a mapping that there is not', [], {}, '?mapping=nowhere', 400, 3, 'mapping'],
    ['no key', [], { accesskey: '' }, '', 401, 16, 'The AccessKey header is missing'],
    ['a wrong key', [], { accesskey: 'wrong-key-of-16-x' }, '', 401, 16, 'holds no key of this program'],
    ['a zone that the key does not open', [], { accesskey: WAF_KEY }, '?zone=8', 403, 7, 'zone 8'],
    ['another compression', [], { 'content-encoding': 'br' }, '', 415, 3, 'allowed: gzip, zstd, identity'],
  ])('%s: a Status', async (_what, records, more, query, status, code, message) => {
    const told = await send(encoded(type, records), { ...headers, ...more }, query);
    expect(told).toMatchObject({ status, code, message: expect.stringContaining(message) });
    expect(told.type?.split(';')[0]).toBe(type);
  });

  test('a body that is cut is refused, and stores nothing', async () => {
    const whole = encoded(type, [asText(`cut ${type}`), asText(`cut ${type}`)]);
    expect(await send(whole.subarray(0, -3), headers)).toMatchObject({
      status: 400,
      code: 3,
      message: expect.stringContaining('log record '),
    });
    expect(await total(`cut ${type}`)).toBe(0);
  });

  test('a store that is behind says so, after which clients come again', async () => {
    const stopping = await startApp();
    Object.assign(stopping.store, { pendingBytes: () => Number.MAX_SAFE_INTEGER });
    onTestFinished(() => stopping.stop());
    const told = await send(encoded(type, [asText('busy')]), headers, '', stopping);
    expect([told.status, told.code, told.headers.get('retry-after')]).toEqual([503, 14, '5']);
  });
});

test.each([
  ['another type', { 'content-type': 'text/csv' }],
  ['no type', {}],
])('%s is refused in JSON, with what is allowed', async (_what, headers) => {
  const told = await send(otlpJson([]), { accesskey: KEY, ...headers });
  expect(told).toMatchObject({ status: 415, code: 3, message: expect.stringContaining('application/x-protobuf, application/json') });
  expect(told.type).toContain('application/json');
});

test('answers are counted', async () => {
  const metrics = await ask(app, '/metrics', { headers: { accesskey: KEY } });
  expect(metrics.text).toMatch(/shieldlog_door_requests_total{door="otlp",status="200"} \d+/);
});
