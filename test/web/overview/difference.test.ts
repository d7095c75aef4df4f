import { describe, expect, test } from 'vitest';
import { chanceOf, differencesOf } from '../../../web/overview/difference.ts';

const value = (name: string, count: number, selected: number) => ({ value: name, count, selected, spellings: 1 });

test('the values of all fields stand in one list, by how much more of them the selection has', () => {
  const facets = [
    { field: 'asn' as const, distinct: 3, values: [value('64510', 100, 90), value('64496', 500, 5), value('64497', 50, 5)] },
    { field: 'ua' as const, distinct: 2, values: [value('nuclei', 95, 95), value('', 300, 5)] },
    { field: 'url' as const, distinct: 9, values: [value('/', 400, 75)] },
  ];
  const found = differencesOf(facets, { all: 1000, selected: 100 });
  expect(found.map(({ field, value: text }) => `${field} ${text}`)).toEqual(['ua nuclei', 'asn 64510', 'url /']);
  expect(found[1]).toEqual({ field: 'asn', value: '64510', selected: 90, selectedShare: 0.9, restShare: 10 / 900 });
});

test.each([
  ['nothing is selected', { all: 10, selected: 0 }, 0],
  ['everything is', { all: 10, selected: 10 }, 10],
])('where %s, nothing differs', (_what, totals, selected) => {
  const facets = [{ field: 'ip' as const, distinct: 1, values: [value('a', 10, selected)] }];
  expect(differencesOf(facets, totals)).toEqual([]);
});

test('values that are equally frequent, or all but, are not told', () => {
  const facets = [{ field: 'ip' as const, distinct: 2, values: [value('a', 500, 50), value('b', 500, 50), value('c', 100, 10)] }];
  expect(differencesOf(facets, { all: 1000, selected: 100 })).toEqual([]);
});

test.each([
  // Of 101 selected events 17 have it, of 74 others 9: so much comes about in one of four draws.
  ['a difference of five points among few events', 1, { all: 175, selected: 101 }, [26, 17], false],
  ['the same shares among a hundred times as many', 1, { all: 17_500, selected: 10_100 }, [2_600, 1_700], true],
  ['of a field with few values', 20, { all: 1_000, selected: 100 }, [20, 10], true],
  ['of a field with many values, of which some differ so by chance', 20_000, { all: 1_000, selected: 100 }, [20, 10], false],
  ['less than a point, of however many events', 1, { all: 20_000_000, selected: 10_000_000 }, [2_099_000, 1_099_000], false],
  ['more than a point, of as many', 1, { all: 20_000_000, selected: 10_000_000 }, [2_110_000, 1_110_000], true],
])('%s', (_what, distinct, totals, [count = 0, selected = 0], isListed) => {
  const facets = [{ field: 'url' as const, distinct, values: [value('a', count, selected)] }];
  expect(differencesOf(facets, totals).length === 1).toBe(isListed);
});

describe('the chance of a value is that of exact computation', () => {
  /** The number of ways to choose `k` of `n`. */
  function choose(n: number, k: number): bigint {
    let ways = 1n;
    for (let index = 0; index < k; index += 1) ways = (ways * BigInt(n - index)) / BigInt(index + 1);
    return ways;
  }

  /** In parts of 10^30, which are enough digits of what is listed and of what is not. */
  function exactChance(chosen: number, count: number, { all, selected }: { readonly all: number; readonly selected: number }): number {
    let ways = 0n;
    for (let x = chosen; x <= Math.min(count, selected); x += 1) ways += choose(count, x) * choose(all - count, selected - x);
    return Number((ways * 10n ** 30n) / choose(all, selected)) / 1e30;
  }

  test('for every table of up to 24 events', () => {
    let tables = 0;
    for (let all = 2; all <= 24; all += 1)
      for (let selected = 1; selected < all; selected += 1)
        for (let count = 1; count <= all; count += 1)
          for (let chosen = Math.max(0, selected + count - all); chosen <= Math.min(count, selected); chosen += 1) {
            if (chosen * all <= count * selected) continue;
            const totals = { all, selected };
            expect(chanceOf(chosen, count, totals) / exactChance(chosen, count, totals)).toBeCloseTo(1, 11);
            tables += 1;
          }
    expect(tables).toBeGreaterThan(9_000);
  });

  test.each([
    [17, 26, { all: 175, selected: 101 }],
    [10, 20, { all: 1_000, selected: 100 }],
    [60, 400, { all: 5_000, selected: 500 }],
    [500, 1_000, { all: 2_000, selected: 950 }],
    [4, 9, { all: 5_000, selected: 800 }],
  ])('for %i of %i', (chosen, count, totals) => {
    expect(chanceOf(chosen, count, totals) / exactChance(chosen, count, totals)).toBeCloseTo(1, 9);
  });

  test('which is 0.26 for 17 of 101 against 9 of 74', () => {
    expect(chanceOf(17, 26, { all: 175, selected: 101 })).toBeCloseTo(0.26, 2);
  });

  test('or none where it is too small for a number', () => {
    expect(chanceOf(1_000_000, 1_000_000, { all: 20_000_000, selected: 2_000_000 })).toBe(0);
  });
});
