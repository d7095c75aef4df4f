import { expect, test } from 'vitest';
import {
  byDifference,
  eventCountOf,
  type FieldCounts,
  type ValueCount,
  withChanges,
  withRecounted,
} from '../../../../store/embedded/search/field-counts.ts';

/** Values with their counts, written `a 3, b -1`. */
function values(text: string): ValueCount[] {
  return text === ''
    ? []
    : text.split(', ').map((one) => {
        const [value = '', count] = one.split(' ');
        return { value, count: Number(count) };
      });
}

const counts = (distinct: number, first: string): FieldCounts => ({ distinct, first: values(first) });

test.each<[string, FieldCounts, string, FieldCounts]>([
  ['a value comes', counts(2, 'a 3, b 1'), 'c 2', counts(3, 'a 3, c 2, b 1')],
  ['a value goes', counts(2, 'a 3, b 1'), 'b -1', counts(1, 'a 3')],
  ['counts change places', counts(2, 'a 3, b 2'), 'a -2, b 1', counts(2, 'b 3, a 1')],
  ['equal counts go by code point', counts(2, '\uFF5E 3, b 2'), 'b 1, \u{1F600} 3', counts(3, 'b 3, \uFF5E 3, \u{1F600} 3')],
  ['nothing was there', counts(0, ''), 'a 1', counts(1, 'a 1')],
  ['nothing is left', counts(1, 'a 1'), 'a -1', counts(0, '')],
])('all values of a field are known: %s', (_, before, changes, expected) => {
  expect(withChanges(before, values(changes))).toEqual(expected);
});

test.each<[string, FieldCounts, string, number[], FieldCounts]>([
  ['one of the first has more', counts(9, 'a 5, b 3, c 2'), 'c 4', [6], counts(9, 'c 6, a 5, b 3')],
  [
    'one of the first has fewer and comes behind the last, where others may come before it',
    counts(9, 'a 5, b 3, c 2'),
    'a -4',
    [1],
    counts(9, 'b 3, c 2'),
  ],
  ['one of the first is gone', counts(9, 'a 5, b 3, c 2'), 'b -3', [0], counts(8, 'a 5, c 2')],
  ['another one comes before the last', counts(9, 'a 5, b 3, c 2'), 'x 2', [3], counts(9, 'a 5, b 3, x 3, c 2')],
  ['another one comes behind the last', counts(9, 'a 5, b 3, c 2'), 'x 1', [2], counts(9, 'a 5, b 3, c 2')],
  ['an unknown one is gone', counts(9, 'a 5, b 3, c 2'), 'x -1', [0], counts(8, 'a 5, b 3, c 2')],
  ['a new one comes', counts(9, 'a 5, b 3, c 2'), 'x 1', [1], counts(10, 'a 5, b 3, c 2')],
])('only the first values are known: %s', (_, before, changes, now, expected) => {
  expect(withRecounted(before, values(changes), now)).toEqual(expected);
});

test('the events of a field are known where its other values are singletons', () => {
  expect(eventCountOf(counts(10, 'a 5, b 1'))).toBe(14);
});

test('differences compare exactly, beyond what a double can tell', () => {
  const many = 300_000_000;
  const sides = { inside: many + 1, outside: many };
  const [a, b] = [
    { value: 'a', count: many + 1, selected: many },
    { value: 'b', count: many - 1, selected: many - 1 },
  ];
  const asDouble = (one: typeof a) => one.selected * sides.outside - (one.count - one.selected) * sides.inside;
  expect(asDouble(a)).toBe(asDouble(b));
  expect(byDifference([a, b], sides).map(({ value }) => value)).toEqual(['b', 'a']);
});
