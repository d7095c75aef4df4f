import { describe, expect, test } from 'vitest';
import { exploreOracle, type OracleExploreRequest, type OracleHistogram, rulesOracle, zonesOracle } from './explore-oracle.ts';
import { type OracleEvent, oracleEvents } from './raw-event.ts';
import { matchingEvents, type OracleZones } from './search-oracle.ts';

const T = 1_700_000_000_000;

/** The time of each event is its index. */
function eventsOf(fields: readonly object[]): OracleEvent[] {
  return oracleEvents(fields.map((each, index) => ({ logId: `e${index}`, shieldZoneId: 7, timestamp: T + index, log: {}, ...each })));
}

const EVENTS = eventsOf([
  { country: 'DE', action: 'blocked' },
  { country: 'DE', action: 'logged' },
  { country: '', action: 'logged', shieldZoneId: 8 },
  { action: 'logged' },
  { country: 'FR', action: 'Blocked', shieldZoneId: 10 },
  { country: 'FR', action: 'blocked', shieldZoneId: 10 },
  { country: 'US' },
  { country: 'US', shieldZoneId: 10 },
]);

const explore = (request: Partial<OracleExploreRequest>, zones: OracleZones = 'all', events = EVENTS) =>
  exploreOracle(events, { from: T, to: T + events.length, ...request }, zones);

const idsOf = (request: Partial<OracleExploreRequest>, zones?: OracleZones) => explore(request, zones).rows?.map(({ logId }) => logId);

/** The first facet in texts such as `DE 2/1`: the count, and how many of them are selected. */
const facetOf = (request: Partial<OracleExploreRequest>, zones?: OracleZones, events?: OracleEvent[]) =>
  explore(request, zones, events).facets?.[0]?.values.map(({ value, count, selected }) => `${value} ${count}/${selected}`);

describe('the result', () => {
  const blocked = { field: 'action', op: 'eq', value: ['blocked'] };
  const american = { field: 'country', op: 'in', value: ['US'] };

  test('has no event that a clause of exclude matches, and those that lack its field', () => {
    expect(idsOf({ exclude: [blocked] })).toEqual(['e7', 'e6', 'e3', 'e2', 'e1']);
    expect(idsOf({ exclude: [blocked, american] })).toEqual(['e3', 'e2', 'e1']);
    expect(idsOf({ filters: [{ field: 'country', op: 'wildcard', value: ['*'] }], exclude: [blocked] })).toEqual(['e7', 'e6', 'e2', 'e1']);
  });

  test('is of one zone, of several, or of all', () => {
    expect(idsOf({}, 10)).toEqual(['e7', 'e5', 'e4']);
    expect(idsOf({}, [10, 8, 99])).toEqual(['e7', 'e5', 'e4', 'e2']);
    expect(idsOf({})).toHaveLength(8);
  });

  test('has equal times by logId, and equal ids by zone as a number; each row says its zone', () => {
    const ties = eventsOf([
      { logId: 'b', shieldZoneId: 10, timestamp: T },
      { logId: 'b', shieldZoneId: 9, timestamp: T },
      { logId: 'a', shieldZoneId: 11, timestamp: T },
    ]);
    expect(explore({}, 'all', ties).rows?.map(({ logId, shieldZoneId }) => [logId, shieldZoneId])).toEqual([
      ['a', 11],
      ['b', 9],
      ['b', 10],
    ]);
    expect(matchingEvents(ties, { from: T, to: T + 1 }, [10, 11]).map(({ zoneId }) => zoneId)).toEqual([11, 10]);
  });

  test('is grouped by zone in the order of the texts of their digits', () => {
    const { groups, total } = explore({ groupBy: ['shieldZoneId'], filters: [{ field: 'country', op: 'eq', value: ['FR', '', 'US'] }] });
    expect(groups?.map(({ key, count }) => [key, count])).toEqual([
      [{ shieldZoneId: '10' }, 3],
      [{ shieldZoneId: '7' }, 1],
      [{ shieldZoneId: '8' }, 1],
    ]);
    expect(total).toBe(3);
  });

  test('is counted where no page is asked for', () => {
    const rest = { histogram: null, facets: null, selectedTotal: null, rows: null, groups: null, totalPages: 0 };
    expect(explore({ pageSize: 0 })).toMatchObject({ ...rest, total: 8 });
    expect(explore({ pageSize: 0, groupBy: ['country'] })).toMatchObject({ ...rest, total: 4 });
    expect(explore({ pageSize: 3 })).toMatchObject({ total: 8, totalPages: 3 });
  });
});

const one = (...counts: number[]) => ({ value: null, total: counts.reduce((sum, count) => sum + count, 0), counts });

describe('a histogram', () => {
  test('has one series where it is not divided', () => {
    expect(explore({ histogram: { buckets: 3 } }).histogram).toEqual({
      ...{ from: T, to: T + 8, buckets: 3 },
      // 8/3 is 2.67: 0, 1, 2; 3, 4, 5; 6, 7.
      series: [{ value: null, total: 8, counts: [3, 3, 2] }],
      other: null,
    });
    expect(explore({ histogram: { buckets: 2 } }, 99).histogram?.series).toEqual([{ value: null, total: 0, counts: [0, 0] }]);
  });

  test.each<[string, number, number, OracleHistogram]>([
    ['of one width begin at multiples of it', 5, 8, { from: T, to: T + 10, buckets: 2, series: [one(5, 3)], other: null }],
    ['begin before the window and end behind it', 6, 8, { from: T - 2, to: T + 10, buckets: 2, series: [one(4, 4)], other: null }],
    [
      'are one where the width is larger than the window',
      86_400_000,
      8,
      {
        ...{ from: 1_699_920_000_000, to: 1_700_006_400_000, buckets: 1, series: [one(8)], other: null },
      },
    ],
    ['may be as narrow as a millisecond', 1, 3, { from: T, to: T + 3, buckets: 3, series: [one(1, 1, 1)], other: null }],
  ])('buckets %s', (_sentence, width, length, expected) => {
    expect(explore({ to: T + length, histogram: { width } }).histogram).toEqual(expected);
  });

  test('buckets begin at multiples before 1970, too', () => {
    const early = oracleEvents([-11, -10, -1, 0].map((timestamp) => ({ logId: `e${timestamp}`, shieldZoneId: 7, timestamp, log: {} })));
    const { histogram } = exploreOracle(early, { from: -11, to: 1, histogram: { width: 10 } }, 'all');
    expect(histogram).toEqual({ from: -20, to: 10, buckets: 3, series: [one(1, 2, 1)], other: null });
  });

  test('has a series for each value, and missing ones are empty', () => {
    expect(explore({ histogram: { buckets: 2, by: 'country' } }).histogram).toMatchObject({
      series: [
        { value: '', total: 2, counts: [2, 0] },
        { value: 'DE', total: 2, counts: [2, 0] },
        { value: 'FR', total: 2, counts: [0, 2] },
        { value: 'US', total: 2, counts: [0, 2] },
      ],
      other: null,
    });
    expect(explore({ histogram: { buckets: 2, by: 'country' } }, 99).histogram).toMatchObject({ series: [], other: null });
  });

  test('adds up what is beyond twelve values', () => {
    const letters = [...'nmlkjihgfedcban'].map((country) => ({ country }));
    const { series, other } = explore({ histogram: { buckets: 5, by: 'country' } }, 'all', eventsOf(letters)).histogram ?? {};
    expect(series?.map(({ value }) => value).join('')).toBe('nabcdefghijk');
    expect(series?.[0]?.counts).toEqual([1, 0, 0, 0, 1]);
    // m and l, the second and the third of the first bucket.
    expect(other).toEqual({ total: 2, counts: [2, 0, 0, 0, 0] });
  });
});

describe('a facet', () => {
  test('counts the values of a field, most frequent first, and says how many there are', () => {
    expect(explore({ facets: [{ field: 'shieldZoneId', limit: 2 }, { field: 'action' }] }).facets).toEqual([
      {
        field: 'shieldZoneId',
        distinct: 3,
        values: [
          { value: '7', count: 4, selected: null, spellings: 1 },
          { value: '10', count: 3, selected: null, spellings: 1 },
        ],
      },
      {
        field: 'action',
        distinct: 3,
        values: [
          { value: 'blocked', count: 3, selected: null, spellings: 2 },
          { value: 'logged', count: 3, selected: null, spellings: 1 },
          { value: '', count: 2, selected: null, spellings: 1 },
        ],
      },
    ]);
  });

  test('has ten values where no other number is asked for', () => {
    const letters = [...'abcdefghijkl'].map((country) => ({ country }));
    expect(explore({ facets: [{ field: 'country' }] }, 'all', eventsOf(letters)).facets?.[0]).toMatchObject({ distinct: 12 });
    expect(facetOf({ facets: [{ field: 'country' }] }, 'all', eventsOf(letters))).toHaveLength(10);
  });
});

describe('a selection', () => {
  test.each<[string, NonNullable<OracleExploreRequest['selection']>, number]>([
    ['from a time on, which is included', { from: T + 6 }, 2],
    ['up to a time, which is not', { to: T + 2 }, 2],
    ['of more than the window', { from: T - 100, to: T + 100 }, 8],
    ['beside the window', { to: T - 100 }, 0],
    ['with a filter', { filters: [{ field: 'country', op: 'eq', value: ['DE'] }], to: T + 1 }, 1],
    ['without words', { query: ' ' }, 8],
    ['without a filter', { exclude: [{ field: 'country', op: 'eq', value: ['DE'] }] }, 6],
  ])('%s', (_sentence, selection, expected) => {
    expect(explore({ selection }).selectedTotal).toBe(expected);
  });

  test('is a part of the result only', () => {
    const filters = [{ field: 'country', op: 'eq', value: ['FR'] }];
    expect(explore({ filters, selection: { to: T + 5 } }).selectedTotal).toBe(1);
    expect(explore({ selection: { to: T + 5 } }, 10).selectedTotal).toBe(1);
  });

  test('has words, all of which an event has', () => {
    const agents = eventsOf(['curl a', 'CURL b', 'wget a'].map((ua) => ({ ua })));
    const exclude = [{ field: 'ua', op: 'contains', value: ['b'] }];
    const selected = (selection: OracleExploreRequest['selection']) =>
      explore({ selection: selection ?? null }, 'all', agents).selectedTotal;
    expect([selected({ query: 'curl' }), selected({ query: 'a URL' }), selected({ query: 'curl', exclude })]).toEqual([2, 1, 1]);
  });

  test('is counted beside all of a value', () => {
    expect(facetOf({ facets: [{ field: 'country' }], selection: { to: T + 5 } })).toEqual([' 2/2', 'DE 2/2', 'FR 2/1', 'US 2/0']);
  });
});

describe('combinations', () => {
  const [german, french, blocked] = [
    { field: 'country', value: 'de' },
    { field: 'country', value: 'FR' },
    { field: 'action', value: 'blocked' },
  ];

  test('are the sets of conditions that events meet exactly, by their number and then by the conditions', () => {
    const { combinations } = explore({
      selection: { to: T + 5 },
      combinations: [blocked, german, french].filter((one) => one !== undefined),
    });
    expect(combinations).toEqual([
      { met: [], count: 4, selected: 2 },
      { met: [0, 2], count: 2, selected: 1 },
      { met: [0, 1], count: 1, selected: 1 },
      { met: [1], count: 1, selected: 1 },
    ]);
  });

  test('are none where there are no events, and null where they are not asked for', () => {
    const conditions = [german, french].filter((one) => one !== undefined);
    expect(explore({ selection: { to: T + 5 }, combinations: conditions }, 99).combinations).toEqual([]);
    expect(explore({ selection: { to: T + 5 } }).combinations).toBeNull();
  });

  test('compare a value as eq does, where an empty one is none that is missing', () => {
    const conditions = ['::0:1', '0::1', ''].map((value) => ({ field: 'ip', value }));
    const addresses = eventsOf([{ ip: '::1' }, { ip: '' }, {}]);
    expect(explore({ selection: { from: T }, combinations: conditions }, 'all', addresses).combinations).toEqual([
      { met: [], count: 1, selected: 1 },
      { met: [0, 1], count: 1, selected: 1 },
      { met: [2], count: 1, selected: 1 },
    ]);
  });
});

describe('by difference', () => {
  const byDifference = (selection: OracleExploreRequest['selection'], letters: string) =>
    facetOf(
      { facets: [{ field: 'country', order: 'difference' }], selection: selection ?? null },
      'all',
      eventsOf([...letters].map((country) => ({ country }))),
    );

  test.each<[string, OracleExploreRequest['selection'], string, string[]]>([
    // c 1/2 - 1/4, a 1/2 - 2/4, b 0 - 1/4.
    ['shares decide, not counts', { to: T + 2 }, 'acaacb', ['c 2/1', 'a 3/1', 'b 1/0']],
    // a 1/3 - 1/6 and b 2/3 - 3/6 are equal, and are not as doubles.
    ['equal fractions go by count', { to: T + 3 }, 'abbabbbcc', ['b 5/2', 'a 2/1', 'c 2/0']],
    ['equal counts go by value', { to: T + 1 }, 'dcba', ['d 1/1', 'a 1/0', 'b 1/0', 'c 1/0']],
    ['nothing beside the selection counts as 0', { from: T }, 'abb', ['b 2/2', 'a 1/1']],
    ['nothing in the selection does, too', { from: T + 9 }, 'abb', ['a 1/0', 'b 2/0']],
  ])('%s', (_sentence, selection, letters, expected) => {
    expect(byDifference(selection, letters)).toEqual(expected);
  });
});

describe('spellings', () => {
  const spelled = eventsOf(['DE', 'de', 'de', 'Fr', 'FR', '', 'fr', 'x'].map((country) => ({ country })));
  const values = (request: Partial<OracleExploreRequest>) => explore(request, 'all', spelled).facets?.[0];

  test('of a value are one, called as most of its events spell it, or as the smaller spelling', () => {
    expect(values({ facets: [{ field: 'country' }], selection: { to: T + 2 } })).toEqual({
      field: 'country',
      distinct: 4,
      values: [
        { value: 'FR', count: 3, selected: 0, spellings: 3 },
        { value: 'de', count: 3, selected: 2, spellings: 2 },
        { value: '', count: 1, selected: 0, spellings: 1 },
        { value: 'x', count: 1, selected: 0, spellings: 1 },
      ],
    });
  });

  test('have one series', () => {
    const { series } = explore({ histogram: { buckets: 1, by: 'country' } }, 'all', spelled).histogram ?? {};
    expect(series?.map(({ value, total }) => `${value} ${total}`)).toEqual(['FR 3', 'de 3', ' 1', 'x 1']);
  });

  test('of other fields are values of their own', () => {
    const agents = eventsOf(['curl', 'Curl'].map((ua) => ({ ua })));
    expect(explore({ facets: [{ field: 'ua' }] }, 'all', agents).facets?.[0]?.distinct).toBe(2);
  });
});

test('the zones with events, their number and the last of them', () => {
  expect(zonesOracle(EVENTS, { from: T, to: T + 8 }, 'all').zones).toEqual([
    { shieldZoneId: 7, count: 4, last: T + 6 },
    { shieldZoneId: 10, count: 3, last: T + 7 },
    { shieldZoneId: 8, count: 1, last: T + 2 },
  ]);
  expect(zonesOracle(EVENTS, { from: T + 2, to: T + 5 }, [10, 8, 99]).zones).toEqual([
    { shieldZoneId: 8, count: 1, last: T + 2 },
    { shieldZoneId: 10, count: 1, last: T + 4 },
  ]);
});

test('the rules with events, their names and their number', () => {
  const events = eventsOf([
    { ruleId: 'b', ruleName: 'z' },
    { ruleId: 'b', ruleName: 'y' },
    { ruleId: 'b' },
    { ruleId: 'b', ruleName: '' },
    { ruleId: 'c', ruleName: 'a' },
    { ruleId: 'c', ruleName: 'b' },
    { ruleId: 'c', ruleName: 'b', shieldZoneId: 8 },
    { ruleId: '', ruleName: 'of no rule' },
    { ruleName: 'of no rule' },
    { ruleId: 'a', ruleName: '' },
    { ruleId: 'A' },
  ]);
  expect(rulesOracle(events, { from: T, to: T + 11 }, 'all').rules).toEqual([
    { ruleId: 'b', ruleName: 'y', count: 4 },
    { ruleId: 'c', ruleName: 'b', count: 3 },
    { ruleId: 'A', ruleName: '', count: 1 },
    { ruleId: 'a', ruleName: '', count: 1 },
  ]);
  expect(rulesOracle(events, { from: T + 4, to: T + 9 }, [7, 9]).rules).toEqual([{ ruleId: 'c', ruleName: 'a', count: 2 }]);
});
