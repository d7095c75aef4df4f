import { describe, expect, test } from 'vitest';
import { BENCH_NOW_MS } from '../../../bench/events/event-file.ts';
import { QUESTIONS } from '../../../bench/modes/questions.ts';
import { DIMENSIONS } from '../../../query/event-fields.ts';
import { compileExplore } from '../../../query/request/compile-explore.ts';

function planOf(zone: number, body: object) {
  return compileExplore(Buffer.from(JSON.stringify(body)), { zones: [zone], nowMs: BENCH_NOW_MS });
}

describe.each(QUESTIONS)('the looks at the $title', ({ zone, otherZones, first, second }) => {
  const looks = [first, ...Array.from({ length: 20 }, (_, run) => second(run))].map((body) => planOf(zone, body));

  test('are about the same search and show the same', () => {
    const asked = looks.map(({ search: { page, ...search }, histogram, facets }) => ({ search, size: page.size, histogram, facets }));
    expect(new Set(asked.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(asked[0]?.facets).toHaveLength(DIMENSIONS.length);
  });

  test('differ in the page or the selection, which has six hours', () => {
    const [before, ...others] = looks.map(({ search, selection }) => JSON.stringify({ page: search.page, selection }));
    expect(others).not.toContain(before);
    expect(others[0]).not.toBe(others[1]);
    for (const { selection } of looks.filter((look) => look.selection !== null)) {
      expect((selection?.window.toMs ?? 0) - (selection?.window.fromMs ?? 0)).toBe(6 * 3_600_000);
    }
  });

  test('are about another zone than those that come before', () => {
    expect(otherZones).not.toContain(zone);
    expect(new Set(otherZones).size).toBeGreaterThan(3);
  });
});
