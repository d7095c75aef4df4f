import { describe, expect, it } from 'vitest';
import { exactInteger } from '../../query/exact-integer.ts';

describe('exact integers', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['0.0', 0n],
    ['0e99999', 0n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1E+3', 1000n],
    ['-1.50e1', -15n],
    ['1200e-2', 12n],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.000', 9007199254740993n],
    ['900719925474099.3e1', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
  ])('%s is the integer %s', (source, integer) => {
    expect(exactInteger(source)).toBe(integer);
  });

  it.each(['1.5', '1e-1', '0.1', '9007199254740993.1', '15e-2', '1e-99999999999999999999'])('%s is no integer', (source) => {
    expect(exactInteger(source)).toBeNull();
  });

  it.each(['1e999999999', '-1e99999999999999999999', '9'.repeat(101), `1${'0'.repeat(900_000)}1`])(
    '%.20s… is too large to be looked at',
    (source) => {
      expect(exactInteger(source)).toBeNull();
    },
  );
});
