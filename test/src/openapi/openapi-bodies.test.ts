import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIMENSIONS, GROUP_DIMENSIONS } from '../../../query/event-fields.ts';
import { SEARCH_GROUP } from '../../../src/openapi/openapi-search.ts';
import { derived } from '../../fixtures/derived.ts';
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
    ['a query of 65,536 characters', { query: 'x'.padEnd(65_536) }, true],
    ['a query of 65,537 characters', { query: 'x'.padEnd(65_537) }, false],
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
    ['a value of 900,000 characters', { filters: [filter({ value: ['x'.repeat(900_000)] })] }, true],
    ['a text of 1,024 characters to contain', { filters: [filter({ op: 'contains', value: ['x'.repeat(1024)] })] }, true],
    ['a text of 1,025 characters to contain', { filters: [filter({ op: 'contains', value: ['x'.repeat(1025)] })] }, false],
    ['a wildcard of 1,024 characters', { filters: [filter({ op: 'wildcard', value: ['*'.repeat(1024)] })] }, true],
    ['a wildcard of 1,025 characters', { filters: [filter({ op: 'wildcard', value: ['*'.repeat(1025)] })] }, false],
    ['128 texts to contain', { filters: [filter({ op: 'contains', value: times(128, 'x') })] }, true],
    ['129 texts to contain', { filters: [filter({ op: 'contains', value: times(129, 'x') })] }, false],
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
  const { query, filters } = SEARCH_GROUP.schemas.EventLogsSearchRequest.properties;
  const { op, value } = SEARCH_GROUP.schemas.EventLogsFilter.properties;
  test.each([
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
      'the terms of query and the values of contains and wildcard together at most 128',
      128,
      (count: number) => ({
        query: 'word',
        filters: [filter({ op: 'contains', value: times(64, 'x') }), filter({ op: 'wildcard', value: times(count - 65, '*x') })],
      }),
    ],
    [
      'bytes to search for in texts',
      filters.description,
      'with 16,384 bytes in UTF-8',
      16_384,
      (count: number) => ({
        query: 'é'.repeat(512),
        filters: [filter({ op: 'contains', value: [...times(14, 'é'.repeat(512)), 'x'.repeat(1_022), 'x'.repeat(count - 16_382)] })],
      }),
    ],
    [
      'bytes of a text to search for',
      value.description,
      'For contains and wildcard at most 1,024 bytes in UTF-8 each',
      1_024,
      (count: number) => ({ filters: [filter({ op: 'wildcard', value: [`${'é'.repeat(500)}${'x'.repeat(count - 1_000)}`] })] }),
    ],
    [
      'bytes of a term',
      query.description,
      'of at most 1,024 bytes each',
      1_024,
      (count: number) => ({ query: `${'é'.repeat(500)}${'x'.repeat(count - 1_000)}` }),
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

describe('the document and the program agree on whether a question of the explorer may hold', () => {
  const selection = { from: 0 };
  const conditions = (count: number) => Array.from({ length: count }, (_, value) => ({ field: 'ip', value: `${value}` }));
  test.each([
    ['nothing more', {}, true],
    ['null for everything optional', { exclude: null, pageSize: null, histogram: null, facets: null, selection: null }, true],
    ['another property', { limit: 5 }, false],
    ['a pageSize of 0', { pageSize: 0 }, true],
    ['every dimension and the zone to group by', { groupBy: GROUP_DIMENSIONS }, true],
    ['filters of the zone', { filters: [filter({ field: 'shieldZoneId' })] }, false],
    ['500 buckets', { histogram: { buckets: 500, by: null } }, true],
    ['501 buckets', { histogram: { buckets: 501 } }, false],
    ['no bucket', { histogram: { buckets: 0 } }, false],
    ['a histogram without buckets', { histogram: {} }, false],
    ['buckets of a day', { histogram: { width: 86_400_000, buckets: null } }, true],
    ['buckets of more than a day', { histogram: { width: 86_400_001 } }, false],
    ['buckets without a width', { histogram: { width: 0 } }, false],
    ['buckets in number and width', { histogram: { buckets: 1, width: 60_000 } }, false],
    ['a histogram with one more property', { histogram: { buckets: 1, field: 'ip' } }, false],
    ['series of what is no dimension', { histogram: { buckets: 1, by: 'logId' } }, false],
    ['no facets', { facets: [] }, true],
    ['a facet of every dimension and the zone', { facets: GROUP_DIMENSIONS.map((field) => ({ field })) }, true],
    ['one facet more than there are fields', { facets: times(GROUP_DIMENSIONS.length + 1, { field: 'ip' }) }, false],
    ['a facet with null for everything optional', { facets: [{ field: 'ip', limit: null, order: null }] }, true],
    ['a facet without a field', { facets: [{ limit: 1 }] }, false],
    ['a facet with one more property', { facets: [{ field: 'ip', by: 'ua' }] }, false],
    ['100 values of a facet', { facets: [{ field: 'ip', limit: 100 }] }, true],
    ['101 values of a facet', { facets: [{ field: 'ip', limit: 101 }] }, false],
    ['no values of a facet', { facets: [{ field: 'ip', limit: 0 }] }, false],
    ['an order that there is not', { facets: [{ field: 'ip', order: 'value' }], selection }, false],
    ['an order by difference', { facets: [{ field: 'ip', order: 'difference' }], selection }, true],
    ['an order by difference without a selection', { facets: [{ field: 'ip', order: 'difference' }] }, false],
    ['an order by difference with null as selection', { facets: [{ field: 'ip', order: 'difference' }], selection: null }, false],
    ['a selection by time', { selection: { from: 0, to: 1 } }, true],
    ['a selection by clauses', { selection: { filters: [filter()], exclude: [filter()] } }, true],
    ['a selection without a clause', { selection: { filters: [] } }, true],
    ['a selection by words', { selection: { query: 'x' } }, true],
    ['two conditions', { selection, combinations: conditions(2) }, true],
    ['eight conditions', { selection, combinations: conditions(8) }, true],
    ['null for conditions', { combinations: null }, true],
    ['one condition', { selection, combinations: conditions(1) }, false],
    ['nine conditions', { selection, combinations: conditions(9) }, false],
    ['conditions without a selection', { combinations: conditions(2) }, false],
    ['a condition for a zone', { selection, combinations: [...conditions(1), { field: 'shieldZoneId', value: '7' }] }, false],
    ['a condition without a value', { selection, combinations: [...conditions(1), { field: 'ip' }] }, false],
    ['a selection of nothing', { selection: {} }, false],
    ['a selection of nulls', { selection: { from: null, to: null, filters: null, exclude: null } }, false],
    ['a selection by text', { selection: { from: 0, text: 'x' } }, false],
    ['a selection from half a millisecond', { selection: { from: 0.5 } }, false],
  ])('%s', async (_what, rest, isAllowed) => {
    const body = lastHour(rest);
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const { status } = await ask(app, '/shield/event-logs/7/explore', init);
    expect([isDescribed('EventLogsExploreRequest', JSON.parse(body)), status]).toEqual([isAllowed, isAllowed ? 200 : 400]);
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
    ['a zone in digits', { shieldZoneId: '7' }, true],
    ['a zone as another text', { shieldZoneId: '7a' }, false],
    ['a zone past int32', { shieldZoneId: 2_147_483_648 }, false],
    ['a zone below int32', { shieldZoneId: -2_147_483_649 }, false],
    ['no time', { timestamp: undefined }, false],
    ['null as time', { timestamp: null }, false],
    ['a time as text', { timestamp: new Date(Date.now() - 60_000).toISOString() }, true],
    ['a time in digits', { timestamp: String(Date.now() - 60_000) }, true],
    ['a logId of 512 characters', { logId: 'x'.repeat(512) }, true],
    ['a logId of 513 characters', { logId: 'x'.repeat(513) }, false],
    ['an empty logId', { logId: '' }, false],
    ['a number as logId', { logId: 5 }, true],
    ['an empty text', { url: '' }, true],
    ['a number as text', { ruleId: 942_100 }, true],
    ['a number as ip', { ip: 942_100 }, false],
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
    [`{"ids":["${derived.letterIds.unknown}"]}`, true],
    ['{"ids":[],"mapping":"aws-waf"}', true],
    ['{"mapping":"aws-waf"}', false],
    ['{"ids":[],"mapping":7}', false],
    ['{"ids":[9007199254740992]}', false],
    ['{"ids":null}', false],
    ['{"ids":[-1]}', false],
    ['{"ids":["x"]}', false],
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
