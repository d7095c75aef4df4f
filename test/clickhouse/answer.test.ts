import { expect, test } from 'vitest';
import { rowCheckOf } from '../../store/clickhouse/server/answer.ts';

/** Values of JSON that are of a type, and some that are not. */
const TYPES: readonly (readonly [type: string, right: readonly unknown[], wrong: readonly unknown[]])[] = [
  ['UInt64', ['0', '18446744073709551615', 7], ['', 'x', '1.5', '-', null, 1.5, 2 ** 53, [], true]],
  ['Int64', ['-9223372036854775808', 0], ['nan', {}]],
  ['UInt128', ['340282366920938463463374607431768211455'], ['0x1']],
  ['String', ['', '7'], [7, null, ['a'], false]],
  ['Bool', [true, false], ['true', 1, null]],
  ['Nullable(Int32)', [null, 3], ['x', []]],
  ['LowCardinality(Nullable(String))', [null, 'DE'], [5]],
  ['Array(UInt64)', [[], ['1', '2']], ['1', [null], ['x'], {}]],
  ['Array(Tuple(String, Int64, UInt8))', [[['a', '1', 1]]], [[['a', '1']], [['a', 'x', 1]], [[1, '1', 1]]]],
  [
    'Tuple(value String, `a b` Array(Tuple(Int8, Bool)), n Int8)',
    [['a', [[1, true]], 2]],
    [
      ['a', [[1, 2]], 2],
      ['a', [], 'x'],
    ],
  ],
  ['Float64', [1.5, null], []],
  ["Enum8('a' = 1)", ['a'], []],
];

test.each(TYPES)('of the type %s are some values of JSON, and no others', (type, right, wrong) => {
  const wrongWith = rowCheckOf([{ name: 'one', type }]);
  for (const value of right) expect([value, wrongWith([value])]).toEqual([value, undefined]);
  for (const value of wrong) expect(wrongWith([value])).toContain(`one is no ${type}`);
});

test('a row has as many values as there are columns', () => {
  const wrongWith = rowCheckOf([
    { name: 'one', type: 'String' },
    { name: 'other', type: 'String' },
  ]);
  expect(wrongWith(['a', 'b'])).toBeUndefined();
  for (const row of [[], ['a'], ['a', 'b', 'c'], 'ab', null, { 0: 'a', 1: 'b', length: 2 }]) {
    expect(wrongWith(row)).toMatch(/^a row has other columns than the 2/);
  }
});
