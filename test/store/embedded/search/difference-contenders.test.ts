import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contendersOf, firstIfCertain } from '../../../../store/embedded/search/difference-contenders.ts';
import { byDifference, type FieldCounts, inOrder, type SelectedCount, type Sides } from '../../../../store/embedded/search/field-counts.ts';
import { assertProperty } from '../../../random/assert-property.ts';

/** Every value of a field with its counts, and of how many values the lists of the search and of its selection have the counts. */
interface Field {
  readonly all: readonly SelectedCount[];
  readonly known: number;
  readonly knownSelected: number;
}

const few = fc.integer({ min: 0, max: 3 });
const several = fc.integer({ min: 0, max: 40 });
const fields: fc.Arbitrary<Field> = fc.record({
  all: fc
    .array(fc.tuple(fc.oneof(few, several), fc.oneof(few, several)), { minLength: 1, maxLength: 40 })
    .map((drawn) => drawn.map(([selected, rest], index) => ({ value: `v${index}`, selected, count: Math.max(selected + rest, 1) }))),
  known: fc.integer({ min: 1, max: 40 }),
  knownSelected: fc.integer({ min: 1, max: 40 }),
});

const sidesOf = (all: readonly SelectedCount[]): Sides => ({
  inside: all.reduce((sum, { selected }) => sum + selected, 0),
  outside: all.reduce((sum, { count, selected }) => sum + count - selected, 0),
});

function firstOf(values: readonly { readonly value: string; readonly count: number }[], max: number): FieldCounts {
  const there = inOrder(values.filter(({ count }) => count > 0));
  return { distinct: there.length, first: there.slice(0, max) };
}

/** The first values as the lists tell them, with what they lack taken from `all`; undefined where other values may be among them. */
function firstByDifference({ all, known, knownSelected }: Field, limit: number): readonly SelectedCount[] | undefined {
  const sides = sidesOf(all);
  const selected = all.map(({ value, selected }) => ({ value, count: selected }));
  const contenders = contendersOf(firstOf(all, known), firstOf(selected, knownSelected), sides, limit);
  const byValue = new Map(all.map((one) => [one.value, one]));
  for (const one of contenders.values) {
    const { count, selected } = byValue.get(one.value) as SelectedCount;
    expect([one.count ?? count, one.selected ?? selected]).toEqual([count, selected]);
  }
  const exact = contenders.values.map(({ value }) => byValue.get(value) as SelectedCount);
  return firstIfCertain(exact, sides, limit, contenders.mostOfOthers);
}

test('the first values are among the contenders, unless a value that is not known may be one of them', () => {
  let certain = 0;
  assertProperty(
    fc.property(fields, fc.integer({ min: 1, max: 6 }), (field, limit) => {
      const found = firstByDifference(field, limit);
      if (found !== undefined) {
        certain += 1;
        expect(found).toEqual(byDifference(field.all, sidesOf(field.all)).slice(0, limit));
      }
    }),
    { numRuns: 2_000 },
  );
  expect(certain).toBeGreaterThan(200);
});

test('an attacker is found although neither list has all values, and only the others that may come near are counted again', () => {
  const others = Array.from({ length: 200 }, (_, index) => ({ value: `other ${index}`, count: 5 + (index % 7), selected: index % 3 }));
  const attacker = { value: 'attacker', count: 60, selected: 58 };
  const field = { all: [...others, attacker], known: 20, knownSelected: 20 };
  expect(firstByDifference(field, 1)).toEqual([attacker]);
  const sides = sidesOf(field.all);
  const selected = field.all.map(({ value, selected }) => ({ value, count: selected }));
  expect(contendersOf(firstOf(field.all, 20), firstOf(selected, 20), sides, 1).values).toEqual([attacker]);
});

test('with all values known everything is certain, also with an empty selection', () => {
  const all = [
    { value: 'a', count: 3, selected: 0 },
    { value: 'b', count: 1, selected: 0 },
  ];
  expect(firstByDifference({ all, known: 2, knownSelected: 2 }, 1)).toEqual([all[1]]);
  expect(firstByDifference({ all, known: 1, knownSelected: 2 }, 1)).toBeUndefined();
});
