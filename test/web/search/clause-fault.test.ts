import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../../query/event-fields.ts';
import { FILTER_OP_NAMES } from '../../../query/filter-ops.ts';
import { compileSearch } from '../../../query/request/compile-search.ts';
import { InvalidSearchError } from '../../../query/request/request-errors.ts';
import { checkedLine, clauseFault } from '../../../web/search/clause-fault.ts';
import { assertProperty } from '../../random/assert-property.ts';

const NOW = 1_795_514_400_000;

/** Whether the program takes the clause. */
function isTaken(clause: unknown): boolean {
  try {
    const body = JSON.stringify({ from: NOW - 1000, to: NOW, filters: [clause] });
    compileSearch(new TextEncoder().encode(body), { zoneId: 1, nowMs: NOW });
    return true;
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) throw error;
    return false;
  }
}

describe('a clause that is typed', () => {
  test('is refused exactly where the program would refuse it', () => {
    const part = fc.constantFrom(
      '10.0.0.0',
      '/8',
      '/33',
      '::1',
      '2001:db8::',
      '/128',
      '/129',
      '',
      '*',
      'a',
      ' ',
      '1.2.3',
      '%eth0',
      'é'.repeat(512),
    );
    const value = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(''));
    assertProperty(
      fc.property(
        fc.constantFrom(...DIMENSIONS),
        fc.constantFrom(...FILTER_OP_NAMES),
        fc.array(value, { maxLength: 3 }),
        (field, op, values) => {
          expect([field, op, values, clauseFault(field, op, values) === null]).toEqual([
            field,
            op,
            values,
            isTaken({ field, op, value: values }),
          ]);
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    [['10.0.0.0/8', '10.0.0.0/40'], { index: 1, message: '"10.0.0.0/40" needs a prefix length of 0 to 32 in decimal digits' }],
    [['10.0.0'], { index: 0, message: expect.stringContaining('is no IPv4 or IPv6 address') }],
    [['2001:db8::/32'], null],
  ])('of networks is checked while it is typed: %j', (values, fault) => {
    expect(clauseFault('ip', 'cidr', values)).toEqual(fault);
  });
});

describe('a line that is entered', () => {
  test.each([
    ['a value that stands before it, too', '300.1.1.1/8 ip:300.1.1.1/8', 15],
    ['a value that is quoted in part', 'login ip:"300.1.1".1/8', 9],
    ['a value with an escaped character', 'ip:192.0.2.0/24,300\\.1.1.1/8', 16],
    ['one that excludes', 'ip:192.0.2.0/24 -ip:192.0.2.0/99', 20],
    ['a text that is too long to contain', `url:~a,${'é'.repeat(513)}`, 7],
    ['a wildcard of too many bytes', `login ua:${'é'.repeat(512)}*`, 9],
    ['too many texts to contain', `x url:~${Array(129).fill('a').join(',')}`, 2],
    ['a clause with too many values', `x country:${Array(1001).fill('NL').join(',')}`, 2],
  ])('is told the place of %s', (_what, line, position) => {
    expect(checkedLine(line)).toEqual({ position, fault: expect.stringMatching(new RegExp(`^character ${position + 1}: `)) });
  });

  test('is a search where nothing is wrong', () => {
    expect(checkedLine('login -ip:192.0.2.0/24')).toEqual({
      query: 'login',
      filters: [],
      exclude: [{ field: 'ip', op: 'cidr', value: ['192.0.2.0/24'] }],
    });
  });
});
