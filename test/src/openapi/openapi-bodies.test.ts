import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../../query/event-fields.ts';
import { OPENAPI_DOCUMENT } from '../../../src/openapi/openapi-document.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { isDescribed } from './described.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const filter = (rest: object = {}) => ({ field: 'url', op: 'eq', value: ['x'], ...rest });
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

describe('the document and the program agree on whether a search may hold', () => {
  test.each([
    ['nothing more', {}, true],
    ['null for everything optional', { query: null, filters: null, groupBy: null, buckets: null, page: null, pageSize: null }, true],
    ['no from', { from: undefined }, false],
    ['null for from', { from: null }, false],
    ['another property', { limit: 5 }, false],
    ['the largest page', { page: 2_147_483_647 }, true],
    ['a page past int32', { page: 2_147_483_648 }, false],
    ['a page below 0', { page: -1 }, false],
    ['a pageSize below 0', { pageSize: -2_147_483_648 }, true],
    ['a pageSize below int32', { pageSize: -2_147_483_649 }, false],
    ['buckets past int32', { buckets: 2_147_483_648 }, false],
    ['half a bucket', { buckets: 0.5 }, false],
    ['a query of 65,536 characters', { query: 'x'.repeat(65_536) }, true],
    ['a query of 65,537 characters', { query: 'x'.repeat(65_537) }, false],
    ['no filters', { filters: [] }, true],
    ['100 filters', { filters: times(100, filter()) }, true],
    ['101 filters', { filters: times(101, filter()) }, false],
    ['a filter that is null', { filters: [null] }, false],
    ['a filter without a field', { filters: [filter({ field: undefined })] }, false],
    ['a filter without values', { filters: [filter({ value: [] })] }, false],
    ['a filter whose values are null', { filters: [filter({ value: null })] }, false],
    ['a filter with one more property', { filters: [filter({ not: true })] }, false],
    ['an op that there is not', { filters: [filter({ op: 'regex' })] }, false],
    ['1,000 values', { filters: [filter({ value: times(1000, 'x') })] }, true],
    ['1,001 values', { filters: [filter({ value: times(1001, 'x') })] }, false],
    ['a value of 65,536 characters', { filters: [filter({ value: ['x'.repeat(65_536)] })] }, true],
    ['a value of 65,537 characters', { filters: [filter({ value: ['x'.repeat(65_537)] })] }, false],
    ['an empty value', { filters: [filter({ value: [''] })] }, true],
    ['an empty value to contain', { filters: [filter({ op: 'contains', value: [''] })] }, false],
    ['a number as value', { filters: [filter({ value: [5] })] }, false],
    ['ranges of ip', { filters: [filter({ field: 'ip', op: 'cidr', value: ['10.0.0.0/8', '::1'] })] }, true],
    ['ranges of url', { filters: [filter({ op: 'cidr', value: ['10.0.0.0/8'] })] }, false],
    ['every dimension to group by', { groupBy: DIMENSIONS }, true],
    ['a dimension twice', { groupBy: ['ip', 'ip'] }, false],
    ['a dimension that there is not', { groupBy: ['logId'] }, false],
  ])('%s', async (_what, rest, isAllowed) => {
    const body = lastHour(rest);
    expect([isDescribed('EventLogsSearchRequest', JSON.parse(body)), (await search(app, body)).status]).toEqual([
      isAllowed,
      isAllowed ? 200 : 400,
    ]);
  });

  // Descriptions say what JSON Schema cannot.
  const { query, filters } = OPENAPI_DOCUMENT.components.schemas.EventLogsSearchRequest.properties;
  const { op } = OPENAPI_DOCUMENT.components.schemas.EventLogsFilter.properties;
  test.each([
    [
      'terms',
      query.description,
      'At most 64 terms',
      64,
      (count: number) => ({
        query: times(count, 0)
          .map((_, at) => `w${at}`)
          .join(' '),
      }),
    ],
    [
      'values of all filters',
      filters.description,
      'At most 5,000 values in all of them together',
      5000,
      (count: number) => ({ filters: [...times(5, filter({ value: times(1000, 'x') })), ...times(count - 5000, filter())] }),
    ],
    [
      'values to search for in texts',
      filters.description,
      '500 in those for contains and wildcard',
      500,
      (count: number) => ({
        filters: [filter({ op: 'contains', value: times(250, 'x') }), filter({ op: 'wildcard', value: times(count - 250, '*x') })],
      }),
    ],
    [
      'stars',
      op.description,
      'at most 256 with text between them',
      256,
      (count: number) => ({ filters: [filter({ op: 'wildcard', value: ['*x'.repeat(count)] })] }),
    ],
  ])('%s: as many as its description says', async (_what, description, words, most, rest) => {
    expect(description).toContain(words);
    expect((await search(app, lastHour(rest(most)))).status).toBe(200);
    expect((await search(app, lastHour(rest(most + 1)))).status).toBe(400);
  });
});

describe('the document and the program agree on whether an event may have', () => {
  const nulls = Object.fromEntries([...DIMENSIONS, 'ruleName', 'logId', 'log'].map((name) => [name, null]));
  test.each([
    ['nothing more', {}, true],
    ['null for everything optional', nulls, true],
    ['other members', { anything: [1, { goes: null }] }, true],
    ['no zone', { shieldZoneId: undefined }, false],
    ['null as zone', { shieldZoneId: null }, false],
    ['a zone as text', { shieldZoneId: '7' }, false],
    ['a zone past int32', { shieldZoneId: 2_147_483_648 }, false],
    ['a zone below int32', { shieldZoneId: -2_147_483_649 }, false],
    ['no time', { timestamp: undefined }, false],
    ['null as time', { timestamp: null }, false],
    ['a time as text', { timestamp: new Date(Date.now() - 60_000).toISOString() }, true],
    ['a logId of 512 characters', { logId: 'x'.repeat(512) }, true],
    ['a logId of 513 characters', { logId: 'x'.repeat(513) }, false],
    ['an empty logId', { logId: '' }, false],
    ['a number as logId', { logId: 5 }, false],
    ['an empty text', { url: '' }, true],
    ['a number as text', { ruleId: 942_100 }, false],
    ['an asn in digits', { asn: '64500' }, true],
    ['an asn with AS', { asn: 'as64500' }, true],
    ['an asn as number', { asn: 64_500 }, true],
    ['an empty asn', { asn: '' }, true],
    ['an asn below 0', { asn: -1 }, false],
    ['an asn with a fraction', { asn: 1.5 }, false],
    ['AS alone', { asn: 'AS' }, false],
    ['words as asn', { asn: 'Example Networks' }, false],
    ['a log that is no object', { log: 'text' }, false],
  ])('%s', async (_what, rest, isAllowed) => {
    const line = eventLine(rest);
    const { body } = await ingest(app, line);
    expect([isDescribed('Event', JSON.parse(line)), body.accepted]).toEqual([isAllowed, isAllowed ? 1 : 0]);
  });
});

describe('the document and the program agree on whether a replay may be', () => {
  test.each([
    ['{}', true],
    ['{"ids":[]}', true],
    ['{"ids":[0,9007199254740991]}', true],
    ['{"ids":[9007199254740992]}', false],
    ['{"ids":null}', false],
    ['{"ids":[-1]}', false],
    ['{"ids":["1"]}', false],
    ['{"id":[1]}', false],
    ['[]', false],
    ['null', false],
  ])('%s', async (body, isAllowed) => {
    const { status } = await ask(app, '/ingest/dead-letters/replay', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([isDescribed('ReplayRequest', JSON.parse(body)), status]).toEqual([isAllowed, isAllowed ? 200 : 400]);
  });
});
