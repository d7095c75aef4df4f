import { describe, expect, test } from 'vitest';
import { byDifference, type CountedBucket, exploreClickhouse, histogramOf, setOf } from '../../../bench/engines/clickhouse-explore.ts';
import { compileExplore } from '../../../query/request/compile-explore.ts';

describe('the histogram of counts by bucket and value', () => {
  test('has the most frequent values first, ties by code point, and a count for every bucket', () => {
    // U+FF5E is after U+1F600 in UTF-16, before it by code point.
    const counted: CountedBucket[] = [
      [2, '\u{1f600}', 3, 0],
      [0, '\uff5e', 1, 0],
      [2, '\uff5e', 2, 0],
      [1, '', 4, 0],
    ];
    expect(histogramOf({ histogram: { buckets: 3, by: 'action' } }, counted)).toEqual({
      series: [
        { value: '', total: 4, counts: [0, 4, 0] },
        { value: '\uff5e', total: 3, counts: [1, 0, 2] },
        { value: '\u{1f600}', total: 3, counts: [0, 0, 3] },
      ],
      other: null,
    });
  });

  test('adds up the values after the first twelve', () => {
    const counted = Array.from({ length: 14 }, (_, index): CountedBucket => [index % 2, `value ${index}`, 20 - index, 0]);
    const histogram = histogramOf({ histogram: { buckets: 2, by: 'ua' } }, counted);
    expect(histogram?.series.map(({ total }) => total)).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9]);
    expect(histogram?.other).toEqual({ total: 15, counts: [8, 7] });
  });

  test('has one series of all events where it has no field', () => {
    const counted: CountedBucket[] = [
      [0, '', 1, 0],
      [1, '', 2, 1],
    ];
    expect(histogramOf({ histogram: { buckets: 2, by: null } }, counted)).toEqual({
      series: [{ value: null, total: 3, counts: [1, 2] }],
      other: null,
    });
  });
});

test.each([
  [0, 1, 0],
  [0b011, 3, 0],
  [0b101, 3, 1],
  [0b110, 3, 2],
])('the mask %d of %d fields is that of the field %d', (mask, fields, index) => {
  expect(setOf(mask, fields)).toBe(index);
});

describe('values by difference', () => {
  const totals = { total: 2 ** 40, selected: 2 ** 20 };

  test('are compared exactly, however large the totals are', () => {
    const less = { value: 'a', count: 2 ** 39 + 1, selected: 2 ** 19, spellings: 1 };
    const more = { value: 'b', count: 2 ** 39, selected: 2 ** 19, spellings: 1 };
    expect(byDifference([less, more], totals)).toEqual([more, less]);
  });

  test('have ties by count, then by value', () => {
    const rare = { value: 'a', count: 1, selected: 1, spellings: 1 };
    const later = { value: 'c', count: 2, selected: 2, spellings: 1 };
    const earlier = { value: 'b', count: 2, selected: 2, spellings: 1 };
    expect(byDifference([rare, later, earlier], totals)).toEqual([earlier, later, rare]);
    const equal = { total: 4, selected: 2 };
    const none = { value: 'z', count: 2, selected: 1, spellings: 1 };
    const noneOfMore = { value: 'y', count: 4, selected: 2, spellings: 1 };
    expect(byDifference([none, noneOfMore], equal)).toEqual([noneOfMore, none]);
  });
});

describe('urls of many events', () => {
  const EVENTS = 200_000;

  /** Explores with the url's facet where ClickHouse gives these answers, one after the other. */
  async function urlsFrom(body: object, answers: readonly (readonly (readonly unknown[])[])[]) {
    const request = Buffer.from(JSON.stringify({ from: 0, to: 10, pageSize: 0, ...body }));
    const left = [...answers];
    const ask = async () => left.shift() ?? [];
    const { facets } = await exploreClickhouse(compileExplore(request, { zones: [1], nowMs: 10 }), { ask, findRows: async () => [] });
    expect(left).toEqual([]);
    return facets?.[0];
  }

  test('of one hash that are different after all are among those of hashes that one event has', async () => {
    const hashes = [EVENTS - 1, 1, ['7']];
    const sameHash = [
      0,
      2,
      [
        [0, -1, 'b', 0],
        [0, -1, 'd', 0],
      ],
    ];
    const singles = [
      ['a', 0],
      ['c', 0],
    ];
    const facet = await urlsFrom({ facets: [{ field: 'url', limit: 3 }] }, [[[0, '', EVENTS, 0]], [hashes], [sameHash], singles]);
    const values = ['a', 'b', 'c'].map((value) => ({ value, count: 1, selected: null, spellings: 1 }));
    expect(facet).toEqual({ field: 'url', distinct: EVENTS, values });
  });

  test('are all grouped where too few are selected to be the first by difference', async () => {
    const body = { facets: [{ field: 'url', limit: 2, order: 'difference' }], selection: { from: 1, to: 2 } };
    const all = [
      0,
      EVENTS,
      [
        [-1, -1, 'b', 1],
        [1, -1, 'a', 0],
      ],
    ];
    const facet = await urlsFrom(body, [[[0, '', EVENTS, 1]], [[EVENTS, 0, []]], [['b', 1]], [all]]);
    expect(facet?.values.map(({ value, selected }) => [value, selected])).toEqual([
      ['b', 1],
      ['a', 0],
    ]);
  });
});
