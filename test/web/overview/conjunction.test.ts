import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GroupDimension } from '../../../query/event-fields.ts';
import type { Combination } from '../../../query/plan/search-result.ts';
import { bestConjunction, combinedValues } from '../../../web/overview/conjunction.ts';
import type { Difference } from '../../../web/overview/difference.ts';
import { assertProperty } from '../../random/assert-property.ts';

const difference = (field: GroupDimension, value: string, excess = 0.5): Difference => {
  return { field, value, selected: 1, selectedShare: excess, restShare: 0 };
};

describe('the values that are put together', () => {
  test('are the first two of each field, eight in all, of those that a clause finds as they are counted', () => {
    const differences = [
      ...['1', '2', '3'].map((value) => difference('asn', value)),
      difference('shieldZoneId', '7'),
      difference('country', ''),
      ...['NL', 'DE'].map((value) => difference('country', value)),
      ...['ua', 'url', 'ip'].flatMap((field) => ['a', 'b'].map((value) => difference(field as GroupDimension, value))),
    ];
    expect(combinedValues(differences).map(({ field, value }) => `${field} ${value}`)).toEqual([
      ...['asn 1', 'asn 2', 'country NL', 'country DE', 'ua a', 'ua b', 'url a', 'url b'],
    ]);
    expect(combinedValues([])).toEqual([]);
  });
});

const VALUES = [
  { field: 'asn', value: '1' },
  { field: 'asn', value: '2' },
  { field: 'country', value: 'NL' },
  { field: 'ua', value: 'curl' },
] as const;

describe('the values that come together', () => {
  /** 100 events of the selection and 900 others. */
  const totals = { all: 1_000, selected: 100 };

  test('are a pair that tells the selection from the rest better than each of its values', () => {
    const combinations = [
      { met: [0], count: 300, selected: 0 },
      { met: [2], count: 300, selected: 5 },
      { met: [0, 2], count: 95, selected: 90 },
    ];
    const best = difference('asn', '1', 0.9 - 305 / 900);
    expect(bestConjunction(VALUES, combinations, totals, best)).toEqual({
      values: [VALUES[0], VALUES[2]],
      selected: 90,
      selectedShare: 0.9,
      restShare: 5 / 900,
    });
  });

  test.each([
    ['by less than five points', 0.9 - 5 / 900 - 0.049, null],
    ['by five points', 0.9 - 5 / 900 - 0.05, 2],
  ])('are told of only where they say more than the best value alone (%s)', (_what, best, values) => {
    const combinations = [{ met: [0, 2], count: 95, selected: 90 }];
    expect(bestConjunction(VALUES, combinations, totals, difference('asn', '1', best))?.values.length ?? null).toBe(values);
  });

  test('are two where a third one says nothing more, and never two of one field', () => {
    const combinations = [{ met: [0, 1, 2, 3], count: 90, selected: 90 }];
    expect(bestConjunction(VALUES, combinations, totals, undefined)?.values).toEqual([VALUES[0], VALUES[2]]);
    expect(bestConjunction(VALUES.slice(0, 2), combinations, totals, undefined)).toBeNull();
    expect(bestConjunction(VALUES, [], totals, undefined)).toBeNull();
  });

  test('have the counts of the events themselves', () => {
    const event = fc.record({ met: fc.subarray([0, 1, 2, 3].filter((index) => index !== 1)), isSelected: fc.boolean() });
    assertProperty(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const sets = [...new Map(events.map(({ met }) => [JSON.stringify(met), met])).values()];
        const combinations = sets.map((met): Combination => {
          const own = events.filter((one) => JSON.stringify(one.met) === JSON.stringify(met));
          return { met, count: own.length, selected: own.filter(({ isSelected }) => isSelected).length };
        });
        const selected = events.filter(({ isSelected }) => isSelected);
        const found = bestConjunction(VALUES, combinations, { all: events.length, selected: selected.length }, undefined);
        const shareIn = (some: typeof events, indexes: readonly number[]): number =>
          some.length === 0 ? 0 : some.filter(({ met }) => indexes.every((index) => met.includes(index))).length / some.length;
        const rest = events.filter(({ isSelected }) => !isSelected);
        const excesses = [
          [0, 2],
          [0, 3],
          [2, 3],
          [0, 2, 3],
        ].map((indexes) => shareIn(selected, indexes) - shareIn(rest, indexes));
        const most = Math.max(...excesses);
        if (found === null) expect(most).toBeLessThan(0.05);
        else expect(found.selectedShare - found.restShare).toBeCloseTo(most, 10);
      }),
      { numRuns: 200 },
    );
  });
});
