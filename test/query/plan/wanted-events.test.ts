import { describe, expect, test } from 'vitest';
import type { Predicate } from '../../../query/plan/search-plan.ts';
import { anyOf, MAX_LOOKED_AT, mostLookedAt, wantedKey, wholeValues } from '../../../query/plan/wanted-events.ts';

const EVERYTHING: Predicate = { kind: 'everything' };
const BLOCKED: Predicate = { kind: 'equals', column: 'action', values: ['blocked'], folded: true };
const RULE: Predicate = { kind: 'equals', column: 'ruleId', values: ['1'], folded: false };
const ADMIN: Predicate = { kind: 'contains', column: 'url', needle: 'admin' };
const WORDPRESS: Predicate = { kind: 'wildcard', column: 'url', parts: ['/wp-', ''] };
const NETWORK: Predicate = { kind: 'addressIn', ranges: [{ first: 1n, last: 2n }] };

describe('the whole values of a condition', () => {
  test.each<[string, Predicate, Predicate]>([
    ['everything', EVERYTHING, EVERYTHING],
    ['a value', BLOCKED, BLOCKED],
    ['a text', ADMIN, EVERYTHING],
    ['a wildcard', WORDPRESS, EVERYTHING],
    ['a network', NETWORK, EVERYTHING],
    ['a value and a text', { kind: 'all', of: [BLOCKED, ADMIN] }, BLOCKED],
    ['a text and a network', { kind: 'all', of: [ADMIN, NETWORK] }, EVERYTHING],
    ['one of two values', { kind: 'any', of: [BLOCKED, RULE] }, { kind: 'any', of: [BLOCKED, RULE] }],
    ['a value or a text', { kind: 'any', of: [BLOCKED, ADMIN] }, EVERYTHING],
    [
      'none of two values',
      { kind: 'not', of: { kind: 'any', of: [BLOCKED, RULE] } },
      { kind: 'not', of: { kind: 'any', of: [BLOCKED, RULE] } },
    ],
    ['not a value and a text together', { kind: 'not', of: { kind: 'all', of: [BLOCKED, ADMIN] } }, EVERYTHING],
    ['not a text', { kind: 'not', of: ADMIN }, EVERYTHING],
  ])('of %s', (_what, condition, expected) => {
    expect(wholeValues(condition)).toEqual(expected);
  });

  test('of several conditions are everything where one of them has none', () => {
    expect(anyOf([BLOCKED, RULE])).toEqual({ kind: 'any', of: [BLOCKED, RULE] });
    expect(anyOf([BLOCKED, EVERYTHING])).toEqual(EVERYTHING);
  });

  test('of several conditions are together where they are of one column, and each is there once', () => {
    const values = (given: readonly string[]): Predicate => ({ ...RULE, values: given });
    const both: Predicate = { kind: 'all', of: [BLOCKED, RULE] };
    expect(anyOf([values(['1', '2']), both, BLOCKED, values(['3', '1']), { ...RULE, folded: true }])).toEqual({
      kind: 'any',
      of: [values(['1', '2', '3']), BLOCKED, { ...RULE, folded: true }, both],
    });
  });
});

test('fewer events are looked at for a condition that costs more', () => {
  const costly: Predicate = { kind: 'any', of: Array.from({ length: 10_000 }, () => ADMIN) };
  expect([mostLookedAt({}), mostLookedAt({ where: BLOCKED })]).toEqual([MAX_LOOKED_AT, MAX_LOOKED_AT]);
  expect(mostLookedAt({ where: costly })).toBe(1_000);
});

test('what is wanted is told apart by its zones, its condition and whether it has logs', () => {
  const all = [{ zones: 'all' }, { zones: [7] }, { zones: [7], where: NETWORK }, { zones: [7], where: NETWORK, logs: false }] as const;
  expect(new Set(all.map(wantedKey)).size).toBe(4);
  expect(wantedKey({ zones: 'all', logs: true })).toBe(wantedKey({ zones: 'all' }));
});
