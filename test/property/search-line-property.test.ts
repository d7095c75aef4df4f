import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CASE_IGNORED_FIELDS, DIMENSIONS } from '../../query/event-fields.ts';
import { queryTerms } from '../../query/query-terms.ts';
import { type LineClause, type LineSearch, parseSearchLine, searchLineOf } from '../../query/search-line.ts';
import { assertProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { anyText, hostileText } from './value-pools.ts';

/** What means something in a line, and what looks as if it did. */
const PIECES = [
  ...['"', '\\', ',', '*', ':', '~', '-', '/', ' ', '\t', '\u00a0', '\u2028', '\u3000', '\ufeff', '\u0000', '\u001b', '\ud800', '😀'],
  ...[
    '/8',
    '/128',
    '10.0.0.0',
    '::1',
    '2001:db8::',
    'http://',
    'a',
    'NL',
    '""',
    '\\"',
    ' -',
    '": "',
    ...DIMENSIONS,
    ...DIMENSIONS.map((f) => `${f}:`),
  ],
  ...['IP:', 'Country:', ' ua:~', ' -url:', 'ip:10.*', 'ruleName:'],
];
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((parts) => parts.join(''));
const text = fc.oneof({ arbitrary: pieces, weight: 4 }, { arbitrary: hostileText, weight: 1 }, { arbitrary: anyText, weight: 1 });
const line = fc.array(text, { maxLength: 4 }).map((parts) => parts.join(' '));

const prefixed = fc.tuple(text, fc.nat(200)).map(([address, prefix]) => `${address}/${prefix}`);

/** Clauses that a line says, in the form that it gives them. */
const clause: fc.Arbitrary<LineClause> = fc
  .tuple(fc.constantFrom(...DIMENSIONS, 'ip' as const), fc.constantFrom('eq', 'contains', 'wildcard', 'cidr'))
  .chain(([field, op]) => {
    const values = fc.array(text, { minLength: 1, maxLength: 3 });
    if (op === 'contains')
      return values.map((value): LineClause => ({ field, op, value: value.map((part) => (part === '' ? 'x' : part)) }));
    if (op === 'wildcard') {
      return fc.tuple(text, text, values).map(([a, b, rest]): LineClause => ({ field, op, value: [...rest.slice(1), `${a}*${b}`] }));
    }
    if (op === 'cidr')
      return fc.tuple(prefixed, values).map(([range, rest]): LineClause => ({ field: 'ip', op, value: [range, ...rest.slice(1)] }));
    return values.map((value): LineClause => ({ field, op: value.length === 1 ? 'eq' : 'in', value }));
  });
const search: fc.Arbitrary<LineSearch> = fc.record({
  query: text,
  filters: fc.array(clause, { maxLength: 3 }),
  exclude: fc.array(clause, { maxLength: 2 }),
});

test('the line of a search is read as the same search', () => {
  assertProperty(
    fc.property(search, (conditions) => {
      const said = searchLineOf(conditions);
      expect(said).not.toBeNull();
      const read = parseSearchLine(said ?? '') as LineSearch;
      expect(read).toMatchObject({ filters: conditions.filters, exclude: conditions.exclude });
      expect(queryTerms(read.query).toSorted()).toEqual(queryTerms(conditions.query).toSorted());
      expect(searchLineOf(read)).toBe(said);
    }),
    { numRuns: propertyRuns(3_000) },
  );
});

test('a line is refused at a position within it, or is a search whose line is read as the same search', () => {
  assertProperty(
    fc.property(line, (given) => {
      const read = parseSearchLine(given);
      if ('fault' in read) {
        expect(read.position).toBeGreaterThanOrEqual(0);
        expect(read.position).toBeLessThanOrEqual(given.length);
        return;
      }
      const said = searchLineOf(read);
      expect(said).not.toBeNull();
      expect(parseSearchLine(said ?? '')).toEqual(read);
      expect(searchLineOf(read)).toBe(said);
    }),
    { numRuns: propertyRuns(3_000) },
  );
});

test('a quoted text is a value as it is, and a term wherever some query has it', () => {
  assertProperty(
    fc.property(text, fc.constantFrom(...DIMENSIONS), (value, field) => {
      const quoted = `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
      expect(parseSearchLine(`${field}:${quoted}`)).toEqual({ query: '', filters: [{ field, op: 'eq', value: [value] }], exclude: [] });
      const term = parseSearchLine(quoted);
      if (!('fault' in term)) expect(queryTerms(term.query)).toEqual(value === '' ? [] : [value]);
      else expect([queryTerms(value), queryTerms(`"${value}"`)]).not.toContainEqual([value]);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

test('a wildcard without a star has a line exactly where case is ignored', () => {
  assertProperty(
    fc.property(text, fc.constantFrom(...DIMENSIONS), (value, field) => {
      const said = searchLineOf({ query: '', filters: [{ field, op: 'wildcard', value: [value.replaceAll('*', '')] }], exclude: [] });
      expect(said !== null).toBe(CASE_IGNORED_FIELDS.has(field));
    }),
  );
});
