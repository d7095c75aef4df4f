import { describe, expect, test } from 'vitest';
import { GROUP_DIMENSIONS } from '../../../query/event-fields.ts';
import type { ExplorePlan } from '../../../query/plan/explore-plan.ts';
import { compileExplore } from '../../../query/request/compile-explore.ts';
import { type FieldError, InvalidSearchError } from '../../../query/request/request-errors.ts';
import { compileWith, errorsWith, HOUR, NOW } from './compile-text.ts';

const FROM = NOW - HOUR;
const NAMES = GROUP_DIMENSIONS.join(', ');
const FIELDS = GROUP_DIMENSIONS.length;

function compileBody(body: string): ExplorePlan {
  return compileExplore(new TextEncoder().encode(body), { zones: [3, 7], nowMs: NOW });
}

/** The plan of a question about the last hour with these further fields. */
const explored = (fields: object): ExplorePlan => compileBody(JSON.stringify({ from: FROM, to: NOW, ...fields }));

function faultsOf(compile: () => ExplorePlan): readonly FieldError[] {
  try {
    compile();
  } catch (error) {
    if (error instanceof InvalidSearchError) return error.errors;
    throw error;
  }
  return [];
}

const faults = (fields: object): readonly FieldError[] => faultsOf(() => explored(fields));

const clause = (field: string, op: string, ...value: string[]) => ({ field, op, value });
const times = <Item>(length: number, item: Item): Item[] => Array.from({ length }, () => item);

describe('a question of the explorer that is compiled', () => {
  test('is a search with nothing beside it where nothing more is asked', () => {
    const fields = { query: 'shop', filters: [clause('ip', 'eq', '::1')], page: 3, pageSize: 7 };
    const expected = { search: { ...compileWith(fields), zones: [3, 7] }, histogram: null, facets: [], selection: null };
    expect(explored(fields)).toEqual(expected);
    expect(explored({ ...fields, exclude: null, histogram: null, facets: null, selection: null })).toEqual(expected);
    expect(explored({ ...fields, exclude: [], facets: [] })).toEqual(expected);
  });

  test('is about every zone', () => {
    expect(compileExplore(Buffer.from(JSON.stringify({ from: FROM, to: NOW })), { zones: 'all', nowMs: NOW }).search.zones).toBe('all');
  });

  test.each([
    [0, 0],
    [-1, 1],
    [-2_147_483_648, 1],
    [501, 500],
    [null, 50],
  ])('has for the pageSize %j pages of %i', (pageSize, size) => {
    expect(explored({ pageSize }).search.page).toEqual({ index: 0, size });
  });

  test('groups by zones, too, and by all ten at once', () => {
    expect(explored({ groupBy: GROUP_DIMENSIONS, buckets: 3 }).search.output).toEqual({ kind: 'groups', by: GROUP_DIMENSIONS, buckets: 3 });
  });

  test('excludes', () => {
    const equals = { kind: 'equals', column: 'ruleId', values: ['r1'], folded: false };
    expect(explored({ exclude: [clause('ruleId', 'eq', 'r1')] }).search.where).toEqual({ kind: 'not', of: equals });
  });

  test('has the defaults of a histogram and of facets', () => {
    expect(explored({ histogram: { buckets: 500 } }).histogram).toEqual({ buckets: 500, by: null });
    expect(explored({ histogram: { buckets: 1, by: 'shieldZoneId' } }).histogram).toEqual({ buckets: 1, by: 'shieldZoneId' });
    const facets = [{ field: 'shieldZoneId' }, { field: 'url', limit: 100, order: 'count' }, { field: 'ip', limit: null, order: null }];
    expect(explored({ facets }).facets).toEqual([
      { field: 'shieldZoneId', limit: 10, order: 'count' },
      { field: 'url', limit: 100, order: 'count' },
      { field: 'ip', limit: 10, order: 'count' },
    ]);
  });
});

describe('buckets of a width', () => {
  test.each([
    ['begin at multiples of it', -HOUR, 0, 60_000],
    ['begin before the window and end behind it', 1, 59_998, 60_000],
    ['are one where the width is larger than the window', 5, 6, 86_400_000],
    ['are as many as there may be', 1, 500, 1],
    ['need not divide an hour', -HOUR, -1, 7_919],
  ])('%s', (_what, from, to, width) => {
    const hour = Math.floor(NOW / HOUR) * HOUR - HOUR;
    const [fromMs, toMs] = [hour + from, hour + to];
    const { histogram, search } = compileBody(JSON.stringify({ from: fromMs, to: toMs, histogram: { width, by: 'ip' } }));
    const { window = search.window, buckets = 0 } = histogram ?? {};
    expect(search.window).toEqual({ fromMs, toMs });
    expect([window.fromMs % width, window.toMs % width, (window.toMs - window.fromMs) / width]).toEqual([0, 0, buckets]);
    expect([fromMs - window.fromMs, window.toMs - toMs].filter((ms) => ms < 0 || ms >= width)).toEqual([]);
    expect(histogram?.by).toBe('ip');
  });

  test('begin at multiples of it before 1970, too', () => {
    const body = Buffer.from(JSON.stringify({ from: -11, to: 1, histogram: { width: 10 } }));
    const window = { fromMs: -20, toMs: 10 };
    expect(compileExplore(body, { zones: 'all', nowMs: 1 }).histogram).toEqual({ buckets: 3, by: null, window });
  });
});

describe('a selection', () => {
  const everything = { kind: 'everything' };

  test.each([
    ['has the window that it lacks', { filters: [] }, FROM, NOW],
    ['begins where the window does', { from: null, to: FROM + 5 }, FROM, FROM + 5],
    ['ends where the window does', { from: FROM + 5 }, FROM + 5, NOW],
    ['lies inside', { from: FROM + 5, to: FROM + 6 }, FROM + 5, FROM + 6],
    ['overlaps both ends', { from: FROM - 1, to: NOW + 1 }, FROM, NOW],
    ['is empty before the window', { from: 0, to: FROM }, FROM, FROM],
    ['is empty behind the window', { from: NOW, to: NOW + 1 }, NOW, NOW],
    ['is empty behind the window without an end', { from: NOW + HOUR }, NOW, NOW],
  ])('%s', (_what, selection, fromMs, toMs) => {
    expect(explored({ selection }).selection).toEqual({ window: { fromMs, toMs }, where: everything });
  });

  test('may begin and end with the last of all integers', () => {
    const body = `{"from":${FROM},"to":${NOW},"selection":{"from":-9223372036854775808,"to":9223372036854775807}}`;
    expect(compileBody(body).selection?.window).toEqual({ fromMs: FROM, toMs: NOW });
  });

  test('has conditions of its own', () => {
    const selection = { query: 'shop', filters: [clause('action', 'eq', 'blocked')], exclude: [clause('ip', 'cidr', '10.0.0.0/8')] };
    expect(explored({ filters: [clause('url', 'eq', '/')], selection }).selection?.where).toEqual({
      kind: 'all',
      of: [
        compileWith({ query: 'shop' }).where,
        { kind: 'equals', column: 'action', values: ['blocked'], folded: true },
        { kind: 'not', of: { kind: 'addressIn', ranges: [expect.anything()] } },
      ],
    });
  });

  test('lets facets be ordered by difference', () => {
    const facets = [{ field: 'asn', limit: 3, order: 'difference' }];
    expect(explored({ facets, selection: { from: FROM } }).facets).toEqual(facets);
  });
});

describe('combinations', () => {
  const selection = { from: FROM };

  test('are conditions as those of eq, in their order', () => {
    const combinations = [
      { field: 'asn', value: 'AS64500' },
      { field: 'asn', value: '64500' },
      { field: 'ip', value: '::0:1' },
      { field: 'country', value: '' },
    ];
    expect(explored({ selection, combinations }).combinations).toEqual(
      combinations.map(({ field, value }) => compileWith({ filters: [clause(field, 'eq', value)] }).where),
    );
  });

  test('are asked for by neither null nor nothing', () => {
    expect(explored({ selection, combinations: null })).toEqual(explored({ selection }));
    expect(explored({ selection })).not.toHaveProperty('combinations');
  });

  const one = { field: 'ip', value: '::1' };
  const eight = Array.from({ length: 8 }, (_, value) => ({ field: 'ua', value: `${value}` }));

  test.each([
    [{ combinations: [] }, 'combinations', 'must have at least 2 elements, not 0'],
    [{ combinations: [one] }, 'combinations', 'must have at least 2 elements, not 1'],
    [{ combinations: [one, ...eight] }, 'combinations', 'must have at most 8 elements, not 9'],
    [{ combinations: {} }, 'combinations', 'must be an array of conditions, not an object'],
    [{ combinations: [one, 'x'] }, 'combinations[1]', 'must be an object with the properties field, value, not "x"'],
    [{ combinations: [one, { field: 'ua' }] }, 'combinations[1].value', 'must be a string, not null'],
    [{ combinations: [one, { field: 'ua', value: ['x'] }] }, 'combinations[1].value', 'must be a string, not an array'],
    [{ combinations: [one, { field: 'shieldZoneId', value: '7' }] }, 'combinations[1].field', /^must be one of .*, not "shieldZoneId"$/],
    [{ combinations: [one, { ...one, op: 'in' }] }, 'combinations[1].op', /^is not a property of this object; allowed are field, value$/],
    [{ combinations: [one, ...eight.slice(2), one] }, 'combinations[7]', 'must not repeat a condition, as that for ip does'],
    [{ combinations: eight, selection: null }, 'combinations', 'must not be there without a selection to hold against the rest'],
  ])('are refused for %j', (fields, field, message) => {
    const expected = { field, message: typeof message === 'string' ? message : expect.stringMatching(message) };
    expect(faults({ selection, ...fields })[0]).toEqual(expected);
  });

  test('may be eight', () => {
    expect(explored({ selection, combinations: eight }).combinations).toHaveLength(8);
  });
});

describe('a question of the explorer', () => {
  test('is refused as a search is where it is one', () => {
    const wrong = { from: null, query: 7, filters: [clause('ip', 'cidr', '10.0.0.0/33')], buckets: 0.5, page: -1, pageSize: 2 ** 31 };
    expect(faults(wrong)).toEqual(errorsWith(wrong));
    expect(faultsOf(() => compileBody('{'))).toEqual([{ field: '$', message: expect.stringMatching(/^must be JSON: /) }]);
  });

  test('names the properties that there are', () => {
    const own = 'from, to, query, filters, exclude, groupBy, buckets, page, pageSize, histogram, facets, selection, combinations';
    expect(faults({ facet: 1 })).toEqual([{ field: 'facet', message: `is not a property of this object; allowed are ${own}` }]);
  });

  test.each([
    [{ groupBy: ['zone'] }, 'groupBy[0]', `must be one of ${NAMES}, not "zone"`],
    [{ groupBy: times(FIELDS + 1, 'ip') }, 'groupBy', `must have at most ${FIELDS} elements, not ${FIELDS + 1}`],
    [{ filters: [clause('shieldZoneId', 'eq', '7')] }, 'filters[0].field', /^must be one of .*, not "shieldZoneId"$/],
    [{ histogram: 12 }, 'histogram', 'must be an object with the properties buckets, width, by, not 12'],
    [{ histogram: {} }, 'histogram', 'must have exactly one of buckets and width, not neither'],
    [{ histogram: { buckets: null, width: null } }, 'histogram', 'must have exactly one of buckets and width, not neither'],
    [{ histogram: { buckets: 1, width: 60_000 } }, 'histogram', 'must have exactly one of buckets and width, not both'],
    [{ histogram: { width: 0 } }, 'histogram.width', 'must be an integer from 1 to 86400000, not 0'],
    [{ histogram: { width: 86_400_001 } }, 'histogram.width', 'must be an integer from 1 to 86400000, not 86400001'],
    [{ histogram: { width: 1.5 } }, 'histogram.width', 'must be an integer from 1 to 86400000, not 1.5'],
    [{ histogram: { width: HOUR / 501 } }, 'histogram.width', /^must be an integer from 1 to 86400000, not 7185\./],
    [{ histogram: { width: 7_185 } }, 'histogram.width', /^must make at most 500 buckets of the window, not 50[12]$/],
    [{ histogram: { width: 1 } }, 'histogram.width', 'must make at most 500 buckets of the window, not 3600000'],
    [{ histogram: { buckets: 0 } }, 'histogram.buckets', 'must be an integer from 1 to 500, not 0'],
    [{ histogram: { buckets: 501 } }, 'histogram.buckets', 'must be an integer from 1 to 500, not 501'],
    [{ histogram: { buckets: 1, by: 'ruleName' } }, 'histogram.by', `must be one of ${NAMES}, not "ruleName"`],
    [{ histogram: { buckets: 1, field: 'ip' } }, 'histogram.field', 'is not a property of this object; allowed are buckets, width, by'],
    [{ facets: { field: 'ip' } }, 'facets', 'must be an array of facets, not an object'],
    [{ facets: times(FIELDS + 1, { field: 'ip' }) }, 'facets', `must have at most ${FIELDS} elements, not ${FIELDS + 1}`],
    [{ facets: ['ip'] }, 'facets[0]', 'must be an object with the properties field, limit, order, not "ip"'],
    [{ facets: [{ limit: 1 }] }, 'facets[0].field', `must be one of ${NAMES}, not nothing`],
    [{ facets: [{ field: 'ip' }, { field: 'ip', limit: 1 }] }, 'facets[1].field', 'must not repeat a field, as "ip" does'],
    [{ facets: [{ field: 'ip', limit: 0 }] }, 'facets[0].limit', 'must be an integer from 1 to 100, not 0'],
    [{ facets: [{ field: 'ip', limit: 101 }] }, 'facets[0].limit', 'must be an integer from 1 to 100, not 101'],
    [{ facets: [{ field: 'ip', order: 'value' }] }, 'facets[0].order', 'must be one of count, difference, not "value"'],
    [
      { facets: [{ field: 'ip' }, { field: 'ua', order: 'difference' }], selection: null },
      'facets[1].order',
      'must be count, not "difference": there is no selection to hold against the rest',
    ],
    [{ selection: [] }, 'selection', 'must be an object with the properties from, to, query, filters, exclude, not an array'],
    [{ selection: {} }, 'selection', 'must have at least one of from, to, query, filters, exclude'],
    [{ selection: { from: null, exclude: null } }, 'selection', 'must have at least one of from, to, query, filters, exclude'],
    [{ selection: { query: 7 } }, 'selection.query', 'must be a string, not 7'],
    [{ selection: { query: '\ud800' } }, 'selection.query', /^must be Unicode text, without half a surrogate pair/],
    [{ selection: { query: 'x'.repeat(65_537) } }, 'selection.query', /^must have at most 65536 characters, not 65537/],
    [
      { selection: { query: Array.from({ length: 129 }, (_, word) => `w${word}`).join(' ') } },
      'selection.query',
      /^must have at most 128 words of query and values of contains and wildcard together, not 129/,
    ],
    [{ selection: { query: 'x'.repeat(1_025) } }, 'selection.query', /^must have at most 1024 bytes in each word and phrase, not 1025/],
    [{ selection: { from: FROM, words: 'x' } }, 'selection.words', /^is not a property of this object; allowed are from, to, query, /],
    [{ selection: { to: '5' } }, 'selection.to', /^must be an integer from -9223372036854775808 to 9223372036854775807, not "5"$/],
    [{ selection: { from: FROM + 5, to: FROM + 5 } }, 'selection.to', `must be greater than from (${FROM + 5}), not ${FROM + 5}`],
    [{ selection: { filters: [clause('ip', 'eq')] } }, 'selection.filters[0].value', 'must have at least one string'],
    [{ selection: { exclude: [clause('ua', 'cidr', '::1')] } }, 'selection.exclude[0].op', /^must not be cidr on the field ua/],
    [{ selection: { filters: [clause('ip', 'cidr', '::/129')] } }, 'selection.filters[0].value[0]', /, not "::\/129"$/],
  ])('is refused for %j', (fields, field, message) => {
    expect(faults(fields)).toEqual([{ field, message: typeof message === 'string' ? message : expect.stringMatching(message) }]);
  });

  test('shares the limits of clauses among all four of its lists', () => {
    const [half, each] = [times(25, clause('ip', 'eq', 'x')), clause('ip', 'eq', 'x')];
    const lists = { filters: half, exclude: half };
    expect(faults({ ...lists, selection: lists })).toEqual([]);
    expect(faults({ ...lists, selection: { filters: [...half, each], exclude: half } })).toEqual([
      {
        field: 'selection.exclude',
        message: 'must have at most 100 clauses together with those of filters, exclude, selection.filters, not 101',
      },
    ]);
    const texts = clause('ua', 'contains', ...times(63, 'x'));
    expect(faults({ query: 'two words', filters: [texts], selection: { filters: [texts] } })).toEqual([]);
    expect(faults({ query: 'three more words', filters: [texts], selection: { filters: [texts] } })).toEqual([
      {
        field: 'selection.filters',
        message: 'must have at most 128 words of query and values of contains and wildcard together with those of query, filters, not 129',
      },
    ]);
    expect(faults({ query: 'two words', filters: [texts], selection: { query: 'more', filters: [texts] } })).toEqual([
      {
        field: 'selection.filters',
        message: expect.stringMatching(/together with those of query, filters, selection\.query, not 129$/),
      },
    ]);
    const long = [clause('ua', 'wildcard', ...times(4, 'x'.repeat(1_024)))];
    expect(faults({ query: 'x', filters: long, exclude: long, selection: { filters: long, exclude: long } })).toEqual([
      {
        field: 'selection.exclude',
        message:
          'must have at most 16384 bytes in words of query and values of contains and wildcard together with those of query, filters, ' +
          'exclude, selection.filters, not 16385',
      },
    ]);
    expect(faults({ selection: { exclude: [clause('ua', 'contains', 'x', 'x'.repeat(1_025))] } })).toEqual([
      { field: 'selection.exclude[0].value[1]', message: expect.stringContaining('must have at most 1024 bytes, not 1025: "xxx') },
    ]);
  });
});
