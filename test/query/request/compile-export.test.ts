import { describe, expect, test } from 'vitest';
import { compileMatcher, matchSubject } from '../../../query/match/match-event.ts';
import { compileConditions, compileExport } from '../../../query/request/compile-search.ts';
import { type FieldError, InvalidSearchError } from '../../../query/request/request-errors.ts';
import { errorsWith, HOUR, NOW } from './compile-text.ts';

const bodyWith = (fields: object) => new TextEncoder().encode(JSON.stringify({ from: NOW - HOUR, to: NOW, ...fields }));

const exported = (fields: object) => compileExport(bodyWith(fields), { zones: [3, 7], nowMs: NOW });

function exportErrors(fields: object): readonly FieldError[] {
  try {
    exported(fields);
  } catch (error) {
    if (error instanceof InvalidSearchError) return error.errors;
    throw error;
  }
  return [];
}

const clause = (field: string, op: string, ...value: string[]) => ({ field, op, value });
const times = <Item>(length: number, item: Item): Item[] => Array.from({ length }, () => item);
const matcherOf = (conditions: object) => compileMatcher(compileConditions(Buffer.from(JSON.stringify(conditions))));

describe('an export that is compiled', () => {
  test('has the zones that it is given', () => {
    expect(exported({}).zones).toEqual([3, 7]);
    expect(compileExport(bodyWith({}), { zones: 'all', nowMs: NOW }).zones).toBe('all');
  });

  test.each([null, []])('keeps nothing out where exclude is %j', (exclude) => {
    expect(exported({ exclude })).toEqual(exported({}));
  });

  test('negates each clause of exclude beside the filters', () => {
    const exclude = [clause('action', 'in', 'logged', 'allowed'), clause('url', 'wildcard', '/a*')];
    expect(exported({ filters: [clause('ruleId', 'eq', 'r1')], exclude }).where).toEqual({
      kind: 'all',
      of: [
        { kind: 'equals', column: 'ruleId', values: ['r1'], folded: false },
        { kind: 'not', of: { kind: 'equals', column: 'action', values: ['logged', 'allowed'], folded: true } },
        { kind: 'not', of: { kind: 'wildcard', column: 'url', parts: ['/a', ''] } },
      ],
    });
  });
});

describe('exclude', () => {
  test('is no property of a search', () => {
    expect(errorsWith({ exclude: 5 })).toEqual([
      {
        field: 'exclude',
        message: 'is not a property of this object; allowed are from, to, query, filters, groupBy, buckets, page, pageSize',
      },
    ]);
  });

  test.each([
    ['text', 'exclude', 'must be an array of filter clauses, not "text"'],
    [[5], 'exclude[0]', 'must be an object with the properties field, op, value, not 5'],
    [[clause('shieldZoneId', 'eq', '7')], 'exclude[0].field', /^must be one of .*, not "shieldZoneId"$/],
    [[clause('ip', 'regex', 'x')], 'exclude[0].op', /^must be one of .*, not "regex"$/],
    [[clause('ip', 'eq')], 'exclude[0].value', 'must have at least one string'],
    [[clause('ip', 'eq', 'x'), clause('ip', 'cidr', '10.0.0.0/33')], 'exclude[1].value[0]', /not "10\.0\.0\.0\/33"$/],
    [[clause('ua', 'cidr', '10.0.0.0/8')], 'exclude[0].op', 'must not be cidr on the field ua: only ip has addresses'],
    [[clause('ua', 'contains', '')], 'exclude[0].value[0]', /^must not be empty/],
    [times(101, clause('ip', 'eq', 'x')), 'exclude', 'must have at most 100 elements, not 101'],
  ])('that is wrong is refused with its path: %j', (exclude, field, message) => {
    const expected = [{ field, message: typeof message === 'string' ? message : expect.stringMatching(message) }];
    expect(exportErrors({ exclude })).toEqual(expected);
  });

  const most = (limit: number, what: string, given: number) =>
    `must have at most ${limit} ${what} together with those of filters, not ${given}`;
  const searched = 'words of query and values of contains and wildcard';

  test.each([
    ['clauses', 50, clause('ip', 'eq', 'x'), clause('ip', 'eq', 'x'), most(100, 'clauses', 101)],
    ['values', 5, clause('ip', 'in', ...times(500, 'x')), clause('ip', 'eq', 'x'), most(5000, 'values in all its clauses', 5001)],
    [
      'texts that are searched for',
      1,
      clause('ua', 'contains', ...times(64, 'x')),
      clause('ua', 'wildcard', 'x'),
      most(128, searched, 129),
    ],
    [
      'bytes that are searched for',
      2,
      clause('ua', 'wildcard', ...times(4, 'é'.repeat(512))),
      clause('ip', 'contains', 'x'),
      most(16_384, `bytes in ${searched}`, 16_385),
    ],
  ])('shares the limit of %s with filters', (_what, half, each, oneMore, message) => {
    const [filters, exclude] = [times(half, each), times(half, each)];
    expect(exportErrors({ filters, exclude })).toEqual([]);
    expect(exportErrors({ filters, exclude: [...exclude, oneMore] })).toEqual([{ field: 'exclude', message }]);
  });
});

describe('a tail', () => {
  const event = { ua: 'curl 8', url: '/shop' };

  test.each([
    [{ exclude: [clause('ua', 'contains', 'CURL')] }, false],
    [{ exclude: [clause('ua', 'contains', 'wget')] }, true],
    [{ exclude: [clause('country', 'eq', 'DE')] }, true],
    [{ query: 'shop', exclude: [clause('ua', 'eq', 'curl 8'), clause('ip', 'eq', '::1')] }, false],
    [{ exclude: [clause('ip', 'cidr', '::/0'), clause('country', 'wildcard', '*')] }, true],
  ])('of the conditions %j: %j', (conditions, isMatch) => {
    expect(matcherOf(conditions).matches(matchSubject(event))).toBe(isMatch);
  });

  test('pays for what it excludes as for what it looks for', () => {
    const clauses = [clause('ua', 'wildcard', '*a*b*'), clause('url', 'contains', 'x', 'y')];
    const [looking, excluding] = [matcherOf({ filters: clauses }), matcherOf({ exclude: clauses })];
    expect(excluding.scans).toEqual(looking.scans);
    expect(excluding.scans).toEqual(
      new Map([
        ['ua', 1],
        ['url', 1],
      ]),
    );
    expect(excluding.maxWork(matchSubject(event))).toBe(looking.maxWork(matchSubject(event)));
    const subject = matchSubject(event);
    excluding.matches(subject);
    expect(subject.work).toBeGreaterThan(0);
    expect(subject.work).toBeLessThan(excluding.maxWork(subject));
  });
});
