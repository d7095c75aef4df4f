import { describe, expect, it } from 'vitest';
import { duckdbDialect } from '../../sql/dialect.ts';
import { wildcardSql } from '../../sql/predicate-sql.ts';

describe('the condition for a wildcard on a url', () => {
  it('looks for the three longest parts first, however many there are', () => {
    const parts = ['', ...Array.from({ length: 255 }, (_, index) => 'x'.repeat(index + 1)), ''];
    const { params } = wildcardSql('url', parts, duckdbDialect);
    const [pattern, ...others] = params.map(({ value }) => String(value)).toReversed();
    expect(pattern).toBe(parts.join('*'));
    expect(new Set(others.map((part) => part.length))).toEqual(new Set([255, 254, 253]));
  });
});
