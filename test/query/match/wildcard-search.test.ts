import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wildcardSearch } from '../../../query/match/wildcard-search.ts';
import { assertProperty } from '../../random/assert-property.ts';

test('a wildcard with long parts matches as its regular expression', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 9 });
  assertProperty(
    fc.property(fc.array(part, { minLength: 2, maxLength: 4 }), fc.array(part, { maxLength: 6 }), (parts, pieces) => {
      const inner = parts.slice(1, -1).filter((text) => text !== '');
      const whole = [parts[0] ?? '', ...inner, parts.at(-1) ?? ''];
      const text = pieces.join('');
      expect(wildcardSearch(whole).matches(text)).toBe(new RegExp(`^${whole.join('.*')}$`).test(text));
    }),
  );
});
