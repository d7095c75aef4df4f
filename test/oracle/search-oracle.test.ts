import { describe, expect, test } from 'vitest';
import { oracleEvents, type RawEvent } from './raw-event.ts';
import { searchOracle } from './search-oracle.ts';

const T = 1_700_000_000_000;

const RAW: readonly RawEvent[] = [
  {
    logId: 'b',
    shieldZoneId: 7,
    timestamp: T,
    ip: '1.1.1.1',
    action: 'Blocked',
    country: 'DE',
    feature: 'waf',
    ruleId: '9',
    log: { n: 1 },
  },
  { logId: 'a', shieldZoneId: 7, timestamp: T, ip: '1.1.1.1', action: 'logged', country: 'FR', feature: 'ddos', ruleId: '10', log: {} },
  { logId: 'c', shieldZoneId: 7, timestamp: new Date(T + 999).toISOString(), ip: '2.2.2.2', asn: 'AS13', extra: 5, log: { own: 6 } },
  { logId: 'd', shieldZoneId: 7, timestamp: T + 1000, ip: '1.1.1.1', asn: 13, action: 'blocked' },
  { logId: 'd', shieldZoneId: 7, timestamp: T + 1000, ip: '9.9.9.9', asn: 13, action: 'blocked' },
  { logId: 'e', shieldZoneId: 8, timestamp: T, ip: '1.1.1.1' },
];

const EVENTS = oracleEvents(RAW);

const ids = (request: object) => searchOracle(EVENTS, { from: T, to: T + 1001, ...request }, 7).rows?.map(({ logId }) => logId);

describe('rows', () => {
  test('come newest first, then by logId; each event once; other zones never', () => {
    expect(ids({})).toEqual(['d', 'c', 'a', 'b']);
  });

  test('the window includes its start and excludes its end', () => {
    expect(ids({ from: T + 999, to: T + 1000 })).toEqual(['c']);
  });

  test('pages are slices, past the end they are empty with the true total', () => {
    expect(ids({ page: 1, pageSize: 3 })).toEqual(['b']);
    expect(searchOracle(EVENTS, { from: T, to: T + 1001, page: 9, pageSize: 3 }, 7)).toMatchObject({
      rows: [],
      groups: null,
      total: 4,
      totalPages: 2,
      page: 9,
    });
  });

  test('page sizes are clamped', () => {
    expect(ids({ pageSize: 0 })).toEqual(['d']);
    expect(ids({ pageSize: -5 })).toEqual(['d']);
    expect(ids({ pageSize: 100_000 })).toHaveLength(4);
  });

  test('an event carries its fields, and its log with what else it came with', () => {
    expect(searchOracle(EVENTS, { from: T + 999, to: T + 1000 }, 7).rows).toEqual([
      { logId: 'c', timestamp: T + 999, fields: { ip: '2.2.2.2', asn: '13' }, log: { own: 6, extra: 5 } },
    ]);
  });

  test('an event without a log is its own log', () => {
    expect(searchOracle(EVENTS, { from: T + 1000, to: T + 1001 }, 7).rows?.[0]?.log).toEqual(RAW[3]);
  });
});

describe('an empty text', () => {
  const events = oracleEvents([
    { logId: 'a', shieldZoneId: 7, timestamp: T, country: '', feature: '', asn: '', log: {} },
    { logId: 'b', shieldZoneId: 7, timestamp: T, country: null, feature: 'waf', log: {} },
    { logId: 'c', shieldZoneId: 7, timestamp: T, feature: 'waf', log: {} },
  ]);
  const search = (request: object) => searchOracle(events, { from: T, to: T + 1, ...request }, 7);

  test('is a value of the event, null is none, and an asn has digits', () => {
    expect(search({}).rows?.map(({ fields }) => fields)).toEqual([{ country: '', feature: '' }, { feature: 'waf' }, { feature: 'waf' }]);
  });

  test.each([
    ['eq', ''],
    ['wildcard', ''],
    ['wildcard', '*'],
  ])('is found by %s %j, a missing one is not', (op, text) => {
    expect(search({ filters: [{ field: 'country', op, value: [text] }] }).rows?.map(({ logId }) => logId)).toEqual(['a']);
  });

  test('is in one group with the missing ones, and counts in the context', () => {
    const { groups } = search({ groupBy: ['country'] });
    expect(groups).toMatchObject([{ key: { country: '' }, count: 3, context: { country: '', features: ',waf' } }]);
  });
});

describe('filters', () => {
  test.each([
    ['actions whatever their case', { field: 'action', op: 'eq', value: ['BLOCKED'] }, ['d', 'b']],
    ['either of two values', { field: 'country', op: 'in', value: ['de', 'fr'] }, ['a', 'b']],
    ['no event that lacks the field', { field: 'asn', op: 'wildcard', value: ['*'] }, ['d', 'c']],
    ['an asn with or without AS', { field: 'asn', op: 'eq', value: ['AS13'] }, ['d', 'c']],
    ['addresses in a range', { field: 'ip', op: 'cidr', value: ['2.0.0.0/8', '3.3.3.3'] }, ['c']],
    ['rule ids only in their own case', { field: 'ruleId', op: 'contains', value: ['9', '1'] }, ['a', 'b']],
  ])('find %s', (_sentence, filter, expected) => {
    expect(ids({ filters: [filter] })).toEqual(expected);
  });

  test('all have to hold', () => {
    expect(
      ids({
        filters: [
          { field: 'action', op: 'eq', value: ['blocked'] },
          { field: 'country', op: 'eq', value: ['DE'] },
        ],
      }),
    ).toEqual(['b']);
  });
});

describe('groups', () => {
  test('have a count, times, a context and a sparkline', () => {
    const { groups, rows, total } = searchOracle(EVENTS, { from: T, to: T + 1001, groupBy: ['ip'], buckets: 2 }, 7);
    expect({ rows, total }).toEqual({ rows: null, total: 2 });
    expect(groups?.[0]).toEqual({
      key: { ip: '1.1.1.1' },
      count: 3,
      firstSeen: T,
      lastSeen: T + 1000,
      context: { country: 'DE', asn: '13', blocked: 2, challenged: 0, logged: 1, features: 'ddos,waf', ruleIds: '10,9' },
      sparkline: [2, 1],
    });
  });

  test('equal counts go by key, missing values are empty, no buckets means no sparkline', () => {
    const { groups } = searchOracle(EVENTS, { from: T, to: T + 1001, groupBy: ['country', 'asn'], buckets: null }, 7);
    expect(groups?.map(({ key, count }) => [key, count])).toEqual([
      [{ country: '', asn: '13' }, 2],
      [{ country: 'DE', asn: '' }, 1],
      [{ country: 'FR', asn: '' }, 1],
    ]);
    expect(groups?.[0]).not.toHaveProperty('sparkline');
  });
});
