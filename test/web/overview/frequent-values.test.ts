import { describe, expect, test } from 'vitest';
import type { Facet } from '../../../query/plan/search-result.ts';
import { frequentValues } from '../../../web/overview/frequent-values.ts';
import { DEFAULT_STATE, type ExplorerState } from '../../../web/state/explorer-state.ts';
import { questionOf } from '../../../web/state/question.ts';

const NOW = 1_795_514_400_000;

const facet = (field: Facet['field'], distinct: number, counts: readonly number[]): Facet => ({
  field,
  distinct,
  values: counts.map((count) => ({ value: `${field} ${count}`, count, selected: 1, spellings: 1 })),
});

function answerOf(change: Partial<ExplorerState>, facets: readonly Facet[], now: number = NOW) {
  return { question: questionOf({ ...DEFAULT_STATE, ...change }, now), answer: { facets } };
}

const COMPARED: Partial<ExplorerState> = { comparison: { kind: 'value', field: 'asn', value: '64510' } };
const PLAIN = answerOf({}, [facet('country', 20, [90, 80])]);

describe('the most frequent values', () => {
  test('are those of an answer without a selection', () => {
    expect(frequentValues(PLAIN, null)).toEqual(PLAIN.answer.facets);
  });

  test('are, after a comparison, those of before it, if its events are the same', () => {
    const compared = answerOf({ ...COMPARED, groupBy: ['ip'], by: null }, [facet('country', 20, [5, 80])]);
    expect(frequentValues(compared, PLAIN)).toEqual(PLAIN.answer.facets);
  });

  test('are not known of a facet that is awaited', () => {
    const awaited = { field: 'url', distinct: null, values: null } as const;
    for (const change of [{}, COMPARED]) {
      const asked = { question: answerOf(change, []).question, answer: { facets: [awaited] } };
      expect(frequentValues(asked, null)).toEqual([awaited]);
    }
  });

  test.each([
    ['a later time', {}, NOW + 1],
    ['other zones', { zones: [7] }, NOW],
    ['another search', { search: { query: 'a', filters: [], exclude: [] } }, NOW],
  ])('are not those of before it where it is about %s, but known where a field has no other values', (_what, change, now) => {
    const country = facet('country', 20, [5, 80]);
    const feature = facet('feature', 9, [1, 9, 2, 8, 3, 7, 4, 6, 5]);
    const compared = answerOf({ ...COMPARED, ...change }, [country, feature], now);
    for (const plain of [PLAIN, null]) {
      const [first, second] = frequentValues(compared, plain);
      expect(first).toEqual({ field: 'country', distinct: 20, values: null });
      expect(second?.values?.map(({ count }) => count)).toEqual([9, 8, 7, 6, 5]);
    }
  });
});
