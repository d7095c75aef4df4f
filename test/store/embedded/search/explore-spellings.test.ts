import { describe, expect, test } from 'vitest';
import type { ExplorePlan, FacetOrder, Selection } from '../../../../query/plan/explore-plan.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import type { StoreTuning } from '../../../../store/embedded/store-options.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, NOW, ZONE } from '../stored-events.ts';
import { explorePlan } from './explore-plan.ts';

const FROM = NOW - 1_000;

const inWindow = (more: Partial<ExplorePlan>) => explorePlan({ zones: [ZONE], window: { fromMs: FROM, toMs: FROM + 100 } }, more);

const DURING = (fromMs: number, toMs: number): Selection => ({
  window: { fromMs: FROM + fromMs, toMs: FROM + toMs },
  where: { kind: 'everything' },
});

describe.each<[string, StoreTuning]>([
  ['by one statement', {}],
  ['by fields', { valueCountLimits: { values: 100, urls: 1, together: 1, listed: 0, listBytes: 1e6, valueBytes: 1e6 } }],
  ['listed', { valueCountLimits: { values: 100, urls: 1, together: 1, listed: 100, listBytes: 1e6, valueBytes: 1e6 } }],
  [
    'where only the most frequent value is known',
    { valueCountLimits: { values: 1, urls: 1, together: 1, listed: 0, listBytes: 1e6, valueBytes: 1e6 } },
  ],
])('spellings, counted %s', (_ways, tuning) => {
  // The most frequent spelling of the first is neither the first nor the last of them, and two of the second are equally frequent.
  const countries = ['de', 'De', 'De', 'DE', 'De', 'Fr', 'fR', 'FR', 'fR', 'FR', '', 'Ω', 'ω'];
  const events = countries.map((country, index) => event(`s${index}`, FROM + index, { country }));
  const filled = async (): Promise<OpenStore> => {
    const store = await embeddedStoreIn(temporaryFolder(), tuning);
    for (const some of [events.slice(0, 7), events.slice(7)]) {
      await store.append(canonicalBatch(some));
      await store.flushNow();
    }
    return store;
  };
  const named = (...values: readonly (readonly [string, number, number, number])[]) =>
    values.map(([value, count, selected, spellings]) => ({ value, count, selected, spellings }));

  test.each<[FacetOrder, Selection, ReturnType<typeof named>]>([
    ['count', DURING(0, 6), named(['De', 5, 5, 3], ['FR', 5, 1, 3], ['Ω', 2, 0, 2], ['', 1, 0, 1])],
    ['difference', DURING(5, 13), named(['FR', 5, 5, 3], ['Ω', 2, 2, 2], ['', 1, 1, 1], ['De', 5, 0, 3])],
  ])('are one value of a facet by %s, and of a series', async (order, selection, values) => {
    const store = await filled();
    const plan = inWindow({ facets: [{ field: 'country', limit: 10, order }], selection, histogram: { buckets: 10, by: 'country' } });
    const series = [
      { value: 'De', total: 5, counts: [5, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
      { value: 'FR', total: 5, counts: [5, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
      { value: 'Ω', total: 2, counts: [0, 2, 0, 0, 0, 0, 0, 0, 0, 0] },
      { value: '', total: 1, counts: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] },
    ];
    for (const _time of ['counted', 'remembered']) {
      const { facets, histogram } = await store.explore(plan);
      expect(facets).toEqual([{ field: 'country', distinct: 4, values }]);
      expect(histogram).toEqual({ series, other: null });
    }
    await store.append(canonicalBatch([event('more', FROM + 98, { country: 'Fr' }), event('again', FROM + 99, { country: 'fR' })]));
    const later = await store.explore(plan);
    expect(later.facets?.[0]?.values.find(({ spellings, count }) => spellings === 3 && count === 7)?.value).toBe('fR');
    expect(later.histogram?.series[0]).toEqual({ value: 'fR', total: 7, counts: [5, 0, 0, 0, 0, 0, 0, 0, 0, 2] });
  });
});
