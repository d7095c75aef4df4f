import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FEED_FORMAT_NAMES } from '../../../src/formats/feed-formats.ts';
import { eventLine, ingest } from '../running-app.ts';
import { DESCRIBED_OPERATIONS, undescribed } from './document-check.ts';
import { documentedCall } from './documented-call.ts';
import { type Call, send } from './driven-answer.ts';
import { EXPLORE, EXPORT, RULES, SEARCH, ZONES } from './event-drivers.ts';
import { type Site, startSite } from './site.ts';
import { FEED } from './stream-drivers.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
  const facts = {
    feature: 'waf',
    ruleId: '942100',
    ip: '192.0.2.7',
    ua: 'curl/8.9',
    url: 'https://shop.example/',
    asn: 64_500,
    country: 'CH',
  };
  await ingest(site, eventLine({ ...facts, action: 'blocked', log: { RemoteIp: '192.0.2.7' } }));
});

afterAll(() => site.stop());

const TAKEN = DESCRIBED_OPERATIONS.flatMap((operation) =>
  Object.keys(operation.requestBody?.content ?? {}).map((type) => [operation.operationId, type, operation] as const),
);

describe('a body of a type that is described is taken', () => {
  test.each(TAKEN)('by %s: %s', async (_name, type, operation) => {
    const answer = await send(site, documentedCall(operation, type));
    expect([answer.status === 415, undescribed(operation, answer)]).toEqual([false, []]);
  });
});

const BULK: Call = { method: 'POST', path: '/_bulk', headers: { 'content-type': 'application/x-ndjson' }, body: '{"delete":{}}\n' };

/** Its answers have the type of the request. */
function otlpCall(type: string): Call {
  const operation = DESCRIBED_OPERATIONS.find(({ operationId }) => operationId === 'sendOtlpLogs');
  if (operation === undefined) throw new Error('OTLP is not described');
  return documentedCall(operation, type);
}

/** Calls that succeed, of the operations whose answers come in several types. */
const SEVERAL: Readonly<Record<string, Call>> = {
  bulk: BULK,
  bulkByPut: { ...BULK, method: 'PUT' },
  bulkOfIndex: { ...BULK, path: '/logs/_bulk' },
  bulkOfIndexByPut: { ...BULK, method: 'PUT', path: '/logs/_bulk' },
  searchEventLogs: SEARCH,
  exploreEventLogs: EXPLORE,
  listActiveZones: ZONES,
  listActiveRules: RULES,
  exportEventLogs: EXPORT,
  readFeed: FEED,
};

const OFFERED = DESCRIBED_OPERATIONS.flatMap((operation) => {
  const types = Object.keys(operation.responses['200']?.content ?? {});
  return types.length < 2 ? [] : types.map((type) => [operation.operationId, type, operation] as const);
});

describe('an answer comes in every type that is described', () => {
  test.each(OFFERED)('from %s: %s', async (name, type, operation) => {
    const call = name === 'sendOtlpLogs' ? otlpCall(type) : SEVERAL[name];
    if (call === undefined) throw new Error(`there is no call of ${name}`);
    const answer = await send(site, { ...call, headers: { ...call.headers, accept: type } });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0], undescribed(operation, answer)]).toEqual([200, type, []]);
  });
});

describe('the feed is as described', () => {
  test.each(FEED_FORMAT_NAMES)('in the format %s', async (format) => {
    const operation = DESCRIBED_OPERATIONS.find(({ operationId }) => operationId === 'readFeed');
    const answer = await send(site, { ...FEED, path: `${FEED.path}?format=${format}` });
    expect(answer.text.trimEnd().split('\n')).toHaveLength(2);
    expect(operation === undefined ? ['not described'] : undescribed(operation, answer)).toEqual([]);
  });
});
