import { expect, test } from 'vitest';
import { exploreCost, searchCost } from '../../../query/plan/read-cost.ts';
import type { Predicate, SearchPlan } from '../../../query/plan/search-plan.ts';

const EVERYTHING: Predicate = { kind: 'everything' };
const needle = (text: string): Predicate => ({ kind: 'contains', column: 'url', needle: text });
const plan = (where: Predicate, output: SearchPlan['output'] = { kind: 'rows' }): SearchPlan => ({
  zones: 'all',
  window: { fromMs: 0, toMs: 1 },
  where,
  page: { index: 0, size: 50 },
  output,
});
const many = (count: number, of: Predicate): Predicate => ({ kind: 'any', of: Array.from({ length: count }, () => of) });

test('a search costs more for each text that it looks for, each dimension and buckets', () => {
  const costs = [
    plan(EVERYTHING),
    plan({ kind: 'equals', column: 'country', values: ['DE'], folded: true }),
    plan(needle('a')),
    plan({ kind: 'not', of: many(2, needle('a')) }),
    plan(EVERYTHING, { kind: 'groups', by: ['country'], buckets: 0 }),
    plan(EVERYTHING, { kind: 'groups', by: ['country', 'asn'], buckets: 0 }),
    plan(EVERYTHING, { kind: 'groups', by: ['country', 'asn'], buckets: 5 }),
    plan({ kind: 'all', of: [many(64, needle('a')), { kind: 'wildcard', column: 'url', parts: ['a', 'b'] }] }),
  ].map((one) => searchCost(one).eventNs);
  expect(costs).toEqual([...costs].sort((a, b) => a - b));
  expect(new Set(costs).size).toBe(costs.length);
});

test('a question of the explorer costs its page, its histogram, its facets and its selection', () => {
  const search = plan(needle('a'));
  const nothing = { search, histogram: null, facets: [], selection: null };
  const costs = [
    nothing,
    { ...nothing, histogram: { buckets: 10, by: null } },
    {
      ...nothing,
      histogram: { buckets: 10, by: 'country' as const },
      facets: [{ field: 'asn' as const, limit: 10, order: 'count' as const }],
    },
    { ...nothing, facets: [], selection: { window: search.window, where: many(9, needle('b')) } },
    { ...nothing, selection: { window: search.window, where: many(9, needle('b')) }, combinations: [needle('c'), needle('d')] },
  ].map((one) => exploreCost(one).eventNs);
  expect(costs[0]).toBe(searchCost(search).eventNs);
  expect(costs).toEqual([...costs].sort((a, b) => a - b));
});

test('the texts of all conditions count as what a search holds while it waits', () => {
  const long = 'x'.repeat(10_000);
  const ranges = Array.from({ length: 100 }, () => ({ first: 0n, last: 1n }));
  expect(searchCost(plan(EVERYTHING)).bytes).toBe(0);
  expect(searchCost(plan(many(3, needle(long)))).bytes).toBeGreaterThan(30_000);
  expect(searchCost(plan({ kind: 'equals', column: 'url', values: [long, long], folded: false })).bytes).toBeGreaterThan(20_000);
  expect(searchCost(plan({ kind: 'addressIn', ranges })).bytes).toBeGreaterThan(1_000);
});
