import { expect, test } from 'vitest';
import { type CachedGroup, GroupByCacheEntry } from '../../../../store/embedded/cache/group-by-cache-entry.ts';
import { GroupFacts } from '../../../../store/embedded/search/group-facts.ts';

const LONG = 'x'.repeat(100_000);

function groupWith(change: (facts: GroupFacts) => void): CachedGroup {
  const facts = new GroupFacts(0);
  change(facts);
  return { facts, times: undefined, segments: new Set() };
}

const entry = () => new GroupByCacheEntry('groups_1', 0, { segments: [], fromMs: 0 }, undefined, () => undefined);

test.each<[string, readonly string[], (facts: GroupFacts) => void]>([
  ['key', [LONG], () => undefined],
  ['second part of its key', ['a', LONG], () => undefined],
  ['country', ['a'], (facts) => facts.addOrigin(LONG, null, 1)],
  ['autonomous system', ['a'], (facts) => facts.addOrigin(null, LONG, 1)],
  ['action', ['a'], (facts) => facts.addAction(LONG, null, 1)],
  ['feature', ['a'], (facts) => facts.addAction(null, LONG, 1)],
  ['rule', ['a'], (facts) => facts.addRules([LONG])],
])('the %s of a group counts with its length, once', (_what, key, change) => {
  const cached = entry();
  cached.add([key], [groupWith(change)]);
  expect(cached.bytes).toBeGreaterThan(200_000);
  expect(cached.bytes).toBeLessThan(203_000);
  cached.add([key], [groupWith(change)]);
  expect(cached.bytes).toBeLessThan(203_000);
});
