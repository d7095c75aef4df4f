import { describe, expect, test } from 'vitest';
import { GROUP_DIMENSIONS, type GroupDimension } from '../../../../query/event-fields.ts';
import type { ExplorePlan, FacetOrder, FacetRequest, Selection } from '../../../../query/plan/explore-plan.ts';
import { DEFAULT_FACET_VALUES, MAX_FACET_VALUES } from '../../../../query/search-limits.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import type { StoreTuning } from '../../../../store/embedded/store-options.ts';
import { explored, rowsOf } from '../../../fixtures/answered-rows.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW, ZONE } from '../stored-events.ts';
import { actionIs, explorePlan } from './explore-plan.ts';

/** In an hour that ended long enough ago for its segments to be merged. */
const FROM = Math.floor(NOW / HOUR) * HOUR - 5 * HOUR + 1_000;
const WINDOW = { fromMs: FROM, toMs: FROM + 100 };

/** One event every ten milliseconds of the window, and one at each of its ends that is outside. */
const EVENTS: readonly CanonicalEvent[] = [
  event('before', FROM - 1, { country: 'XX' }),
  event('a', FROM, { country: 'DE', action: 'blocked', url: 'https://a.example/?q=1', ip: '10.0.0.1' }),
  event('b', FROM + 10, { ruleId: 'r2', country: 'DE', action: 'Blocked', url: 'https://a.example/?q=1', ip: '10.0.0.2' }),
  event('c', FROM + 20, { ruleId: 'r2', ruleName: 'a name', country: 'DE', action: 'logged', url: 'https://a.example/?q=2' }),
  event('d', FROM + 30, { ruleId: 'r1', ruleName: '', country: 'FR', action: 'logged', url: 'https://a.example/' }),
  event('e', FROM + 40, { ruleId: '', ruleName: 'of no rule', country: 'FR', action: 'blocked', url: '' }),
  event('f', FROM + 50, { country: '', shieldZoneId: 8 }),
  event('g', FROM + 60, { ruleId: 'r2', ruleName: 'z name', action: 'logged', shieldZoneId: 8, url: 'https://a.example/' }),
  event('h', FROM + 70, { country: '\u{1F600}', action: 'blocked', shieldZoneId: 8 }),
  event('i', FROM + 80, { ruleId: '\uFEFFbom', ruleName: '\uFEFFname', country: '\uFF5E', action: 'blocked', shieldZoneId: 10 }),
  event('j', FROM + 99, { ruleId: '\uFEFFbom', country: '\uFEFFbom', action: 'logged', shieldZoneId: 10 }),
  event('after', FROM + 100, { country: 'XX' }),
];

const ZONES = [ZONE, 8, 10];

/** Brings the events into a state of the data, and returns the store with them. */
type State = (folder: string) => Promise<OpenStore>;

const STATES: readonly (readonly [string, State])[] = [
  ['in the memtable', async (folder) => await filled(folder, [EVENTS])],
  ['flushed', async (folder) => await flushed(folder, [EVENTS])],
  ['partly flushed', async (folder) => await partlyFlushed(folder)],
  ['merged', async (folder) => await merged(folder)],
  ['after a restart', async (folder) => await restarted(folder)],
];

async function filled(folder: string, batches: readonly (readonly CanonicalEvent[])[], tuning: StoreTuning = {}): Promise<OpenStore> {
  const store = await embeddedStoreIn(folder, tuning);
  for (const events of batches) {
    await store.append(canonicalBatch(events));
  }
  return store;
}

async function flushed(folder: string, batches: readonly (readonly CanonicalEvent[])[], tuning: StoreTuning = {}): Promise<OpenStore> {
  const store = await filled(folder, [], tuning);
  for (const events of batches) {
    await store.append(canonicalBatch(events));
    await store.flushNow();
  }
  return store;
}

const everyThird = (rest: number) => EVENTS.filter((_, index) => index % 3 === rest);

async function partlyFlushed(folder: string, tuning: StoreTuning = {}): Promise<OpenStore> {
  const store = await flushed(folder, [everyThird(0), everyThird(1)], tuning);
  await store.append(canonicalBatch(everyThird(2)));
  return store;
}

async function merged(folder: string): Promise<OpenStore> {
  const store = await flushed(folder, [everyThird(0), everyThird(1), everyThird(2)]);
  await store.compactNow();
  const { segments } = await store.stats();
  expect(segments).toBe(1);
  return store;
}

async function restarted(folder: string): Promise<OpenStore> {
  const before = await partlyFlushed(folder);
  await before.close();
  return await embeddedStoreIn(folder);
}

function facet(field: GroupDimension, limit: number = DEFAULT_FACET_VALUES, order: FacetOrder = 'count'): FacetRequest {
  return { field, limit, order };
}

const DURING = (fromMs: number, toMs: number): Selection => ({
  window: { fromMs: FROM + fromMs, toMs: FROM + toMs },
  where: { kind: 'everything' },
});

/** The values of the only facet as texts such as `DE 3/1`: count and, with a selection, the count in it. */
async function valuesOf(store: OpenStore, plan: ExplorePlan): Promise<string[]> {
  const [only] = (await store.explore(plan)).facets ?? [];
  return (only?.values ?? []).map(({ value, count, selected }) => `${value} ${count}${selected === null ? '' : `/${selected}`}`);
}

const inWindow = (more: Partial<ExplorePlan>) => explorePlan({ zones: ZONES, window: WINDOW }, more);

describe.each(STATES)('%s', (_state, stateOf) => {
  const store = async () => await stateOf(temporaryFolder());

  test('only the total is asked for', async () => {
    const expected = {
      page: { kind: 'rows', rows: [], total: 10 },
      histogram: null,
      facets: null,
      selectedTotal: null,
      combinations: null,
    };
    expect(await explored(await (await store()).explore(inWindow({})))).toEqual(expected);
  });

  test('facets count missing and empty values as one, and order equal counts by code point', async () => {
    const plan = inWindow({ facets: [facet('country'), facet('url', 2), facet('shieldZoneId')] });
    expect((await (await store()).explore(plan)).facets).toEqual([
      {
        field: 'country',
        distinct: 6,
        values: [
          { value: 'DE', count: 3, selected: null, spellings: 1 },
          { value: '', count: 2, selected: null, spellings: 1 },
          { value: 'FR', count: 2, selected: null, spellings: 1 },
          { value: '\uFEFFbom', count: 1, selected: null, spellings: 1 },
          { value: '\uFF5E', count: 1, selected: null, spellings: 1 },
          { value: '\u{1F600}', count: 1, selected: null, spellings: 1 },
        ],
      },
      {
        field: 'url',
        distinct: 4,
        values: [
          { value: '', count: 5, selected: null, spellings: 1 },
          { value: 'https://a.example/', count: 2, selected: null, spellings: 1 },
        ],
      },
      {
        field: 'shieldZoneId',
        distinct: 3,
        values: [
          { value: '7', count: 5, selected: null, spellings: 1 },
          { value: '8', count: 3, selected: null, spellings: 1 },
          { value: '10', count: 2, selected: null, spellings: 1 },
        ],
      },
    ]);
  });

  test('a selection is counted beside all events', async () => {
    const selection: Selection = { window: { fromMs: FROM, toMs: FROM + 50 }, where: actionIs('blocked') };
    const result = await (await store()).explore(inWindow({ facets: [facet('country', 3), facet('action')], selection }));
    expect(result.selectedTotal).toBe(3);
    expect(result.facets).toEqual([
      {
        field: 'country',
        distinct: 6,
        values: [
          { value: 'DE', count: 3, selected: 2, spellings: 1 },
          { value: '', count: 2, selected: 0, spellings: 1 },
          { value: 'FR', count: 2, selected: 1, spellings: 1 },
        ],
      },
      {
        field: 'action',
        distinct: 3,
        values: [
          { value: 'blocked', count: 5, selected: 3, spellings: 2 },
          { value: 'logged', count: 4, selected: 0, spellings: 1 },
          { value: '', count: 1, selected: 0, spellings: 1 },
        ],
      },
    ]);
  });

  test('a histogram has a series for each value, and zeros where nothing was', async () => {
    const result = await (await store()).explore(inWindow({ histogram: { buckets: 5, by: 'action' } }));
    expect(result.histogram).toEqual({
      series: [
        { value: 'blocked', total: 5, counts: [2, 0, 1, 1, 1] },
        { value: 'logged', total: 4, counts: [0, 2, 0, 1, 1] },
        { value: '', total: 1, counts: [0, 0, 1, 0, 0] },
      ],
      other: null,
    });
  });

  test('a histogram without a field has one series', async () => {
    const result = await (await store()).explore(inWindow({ histogram: { buckets: 3, by: null } }));
    expect(result.histogram).toEqual({ series: [{ value: null, total: 10, counts: [4, 3, 3] }], other: null });
  });

  test('a histogram of more than the window has only events of that', async () => {
    const window = { fromMs: FROM - 10, toMs: FROM + 140 };
    const histogram = { buckets: 3, by: 'action', window } as const;
    expect((await (await store()).explore(inWindow({ histogram }))).histogram).toEqual({
      series: [
        { value: 'blocked', total: 5, counts: [2, 3, 0] },
        { value: 'logged', total: 4, counts: [2, 1, 1] },
        { value: '', total: 1, counts: [0, 1, 0] },
      ],
      other: null,
    });
  });

  test('the rules that have events, each with its most frequent name', async () => {
    const opened = await store();
    expect(await opened.activeRules(WINDOW, 'all')).toEqual([
      { ruleId: 'r2', ruleName: 'a name', events: 3 },
      { ruleId: '\uFEFFbom', ruleName: '\uFEFFname', events: 2 },
      { ruleId: 'r1', ruleName: '', events: 1 },
    ]);
    expect(await opened.activeRules(WINDOW, [8])).toEqual([{ ruleId: 'r2', ruleName: 'z name', events: 1 }]);
  });

  test('the zones that have events, the largest first', async () => {
    const opened = await store();
    const active = [
      { zoneId: 7, events: 5, lastMs: FROM + 40 },
      { zoneId: 8, events: 3, lastMs: FROM + 70 },
      { zoneId: 10, events: 2, lastMs: FROM + 99 },
    ];
    expect(await opened.activeZones(WINDOW, 'all')).toEqual(active);
    expect(await opened.activeZones(WINDOW, [8, 9, 10])).toEqual(active.slice(1));
    expect(await opened.activeZones({ fromMs: FROM + 50, toMs: FROM + 61 }, 'all')).toEqual([{ zoneId: 8, events: 2, lastMs: FROM + 60 }]);
    expect(await opened.activeZones({ fromMs: FROM + 41, toMs: FROM + 42 }, 'all')).toEqual([]);
  });

  test('the page, the histogram, the facets and the selection of all zones', async () => {
    const plan = explorePlan(
      { zones: 'all', window: WINDOW, where: actionIs('logged'), page: { index: 1, size: 3 } },
      { histogram: { buckets: 2, by: 'shieldZoneId' }, facets: [facet('url', 1)], selection: DURING(0, 50) },
    );
    const { page, ...rest } = await (await store()).explore(plan);
    expect((await rowsOf(page)).map(({ logId, zoneId }) => [logId, zoneId])).toEqual([['c', 7]]);
    expect(page.total).toBe(4);
    expect(rest).toEqual({
      histogram: {
        series: [
          { value: '7', total: 2, counts: [2, 0] },
          { value: '10', total: 1, counts: [0, 1] },
          { value: '8', total: 1, counts: [0, 1] },
        ],
        other: null,
      },
      facets: [{ field: 'url', distinct: 3, values: [{ value: 'https://a.example/', count: 2, selected: 1, spellings: 1 }] }],
      selectedTotal: 2,
      combinations: null,
    });
  });

  test('groups, and their number alone', async () => {
    const opened = await store();
    const output = { kind: 'groups', by: ['country', 'shieldZoneId'], buckets: 0 } as const;
    const search = { zones: ZONES, window: WINDOW, output };
    const { page } = await opened.explore(explorePlan({ ...search, page: { index: 0, size: 2 } }));
    expect(page.kind === 'groups' && page.groups.map(({ key, count }) => [key, count])).toEqual([
      [{ country: 'DE', shieldZoneId: '7' }, 3],
      [{ country: '', shieldZoneId: '8' }, 2],
    ]);
    expect(page.total).toBe(6);
    expect((await opened.explore(explorePlan(search))).page).toEqual({ kind: 'groups', groups: [], total: 6 });
  });

  test('nothing found', async () => {
    const plan = explorePlan(
      { zones: [9], window: WINDOW },
      { histogram: { buckets: 2, by: 'country' }, facets: [facet('url', 5, 'difference')], selection: DURING(0, 50) },
    );
    const opened = await store();
    expect(await explored(await opened.explore(plan))).toEqual({
      page: { kind: 'rows', rows: [], total: 0 },
      histogram: { series: [], other: null },
      facets: [{ field: 'url', distinct: 0, values: [] }],
      selectedTotal: 0,
      combinations: null,
    });
    expect((await opened.explore({ ...plan, histogram: { buckets: 2, by: null } })).histogram).toEqual({
      series: [{ value: null, total: 0, counts: [0, 0] }],
      other: null,
    });
  });
});

describe.each<[string, StoreTuning]>([
  ['', {}],
  [
    ', where only the most frequent value is known',
    { valueCountLimits: { values: 1, urls: 1, together: 100, listed: 0, listBytes: 1e6, valueBytes: 1e6 } },
  ],
])('by difference%s', (_limits, tuning) => {
  const byDifference = (selection: Selection, limit = 10) => inWindow({ facets: [facet('country', limit, 'difference')], selection });

  test.each<[string, Selection, string[]]>([
    // DE 2/5 - 1/5, \u{1F600} and others 0 - 1/5, FR 2/5 - 0.
    ['the part after 25 ms', DURING(25, 75), [' 2/2', 'FR 2/2', '\u{1F600} 1/1', '\uFEFFbom 1/0', '\uFF5E 1/0', 'DE 3/0']],
    // DE 2/5 - 1/5, FR 1/5 - 1/5, '' 1/5 - 1/5.
    [
      'two equal halves',
      { window: WINDOW, where: actionIs('blocked') },
      ['DE 3/2', '\uFF5E 1/1', '\u{1F600} 1/1', 'FR 2/1', '\uFEFFbom 1/0', ' 2/0'],
    ],
    ['all of it', DURING(0, 100), ['DE 3/3', ' 2/2', 'FR 2/2', '\uFEFFbom 1/1', '\uFF5E 1/1', '\u{1F600} 1/1']],
    ['nothing of it', DURING(5, 10), ['\uFEFFbom 1/0', '\uFF5E 1/0', '\u{1F600} 1/0', ' 2/0', 'FR 2/0', 'DE 3/0']],
    ['an empty window', DURING(50, 50), ['\uFEFFbom 1/0', '\uFF5E 1/0', '\u{1F600} 1/0', ' 2/0', 'FR 2/0', 'DE 3/0']],
  ])('%s', async (_name, selection, expected) => {
    const store = await partlyFlushed(temporaryFolder(), tuning);
    expect(await valuesOf(store, byDifference(selection))).toEqual(expected);
    expect(await valuesOf(store, byDifference(selection, 2))).toEqual(expected.slice(0, 2));
  });

  test('shares that differ by less than a double can tell', async () => {
    // 1/3 - 1/6 of `a` and 2/3 - 3/6 of `b` are equal; as doubles they are not. The greater count decides.
    const shares = [...'abb', ...'abbbcc'].map((country, index) => event(`e${index}`, FROM + index, { country }));
    expect(1 / 3 - 1 / 6).not.toBe(2 / 3 - 3 / 6);
    const store = await filled(temporaryFolder(), [shares], tuning);
    expect(await valuesOf(store, byDifference(DURING(0, 3)))).toEqual(['b 5/2', 'a 2/1', 'c 2/0']);
  });
});

const LONG_LIMITS = { values: 100, urls: 100, together: 100, listBytes: 60_000, valueBytes: 20_000 };

describe.each([
  ['at once', { ...LONG_LIMITS, listed: 0 }],
  ['of listed values', { ...LONG_LIMITS, listed: 2_000 }],
  ['counted apart', { ...LONG_LIMITS, listed: 0, together: 1 }],
])('values that are too long to be listed, %s', (_name, valueCountLimits) => {
  test.each([
    ['a long one', [30_000, 1, 1]],
    ['long together', [19_000, 19_000, 19_000, 19_000]],
    ['of one list only', [65_536, 65_536, 65_536, 2, 2]],
  ])('%s', async (_lengths, lengths) => {
    const events = lengths.map((length, index) => event(`e${index}`, FROM + index, { ua: `${index}`.padEnd(length, 'é'), country: 'DE' }));
    const plan = inWindow({
      ...{ facets: [facet('ua', 3, 'difference'), facet('country', 2), facet('url')], selection: DURING(1, 3) },
      histogram: { buckets: 2, by: 'ua' },
    });
    const store = await flushed(temporaryFolder(), [events], { valueCountLimits });
    const usual = await flushed(temporaryFolder(), [events], {
      valueCountLimits: { ...valueCountLimits, listBytes: 1e9, valueBytes: 1e9 },
    });
    const expected = await explored(await usual.explore(plan));
    expect(await explored(await store.explore(plan))).toEqual(expected);
    expect(await explored(await store.explore(plan))).toEqual(expected);
  });
});

test('only the twelve most frequent values have series; the others are added up', async () => {
  const countries = Array.from({ length: 14 }, (_, index) => String.fromCharCode('A'.charCodeAt(0) + index));
  const events = countries.flatMap((country, index) => [
    event(`${country}0`, FROM + index, { country }),
    ...(index === 13 ? [event('more', FROM + 99, { country })] : []),
  ]);
  const store = await partOfEach(events);
  const { histogram } = await store.explore(inWindow({ histogram: { buckets: 10, by: 'country' } }));
  expect(histogram?.series.map(({ value }) => value)).toEqual(['N', ...countries.slice(0, 11)]);
  expect(histogram?.series[0]).toEqual({ value: 'N', total: 2, counts: [0, 1, 0, 0, 0, 0, 0, 0, 0, 1] });
  expect(histogram?.other).toEqual({ total: 2, counts: [0, 2, 0, 0, 0, 0, 0, 0, 0, 0] });
});

async function partOfEach(events: readonly CanonicalEvent[]): Promise<OpenStore> {
  const store = await flushed(temporaryFolder(), [events.slice(0, 5), events.slice(5, 10)]);
  await store.append(canonicalBatch(events.slice(10)));
  return store;
}

test('every field is a facet, all of them in one answer and in the order in which they were asked for', async () => {
  const store = await partlyFlushed(temporaryFolder());
  const fields = GROUP_DIMENSIONS.toReversed();
  const { facets } = await store.explore(inWindow({ facets: fields.map((field) => facet(field, MAX_FACET_VALUES)) }));
  expect(facets?.map(({ field }) => field)).toEqual(fields);
  expect(facets?.map(({ values, distinct }) => values.length === distinct)).toEqual(fields.map(() => true));
  expect(facets?.map(({ values }) => values.reduce((sum, { count }) => sum + count, 0))).toEqual(fields.map(() => 10));
});

test('buckets are those of a sparkline where the window does not divide evenly', async () => {
  const store = await partlyFlushed(temporaryFolder());
  const window = { fromMs: FROM + 1, toMs: FROM + 98 };
  const search = {
    zones: [ZONE],
    window,
    page: { index: 0, size: 1 },
    output: { kind: 'groups', by: ['shieldZoneId'], buckets: 7 },
  } as const;
  const { page, histogram } = await store.explore(explorePlan(search, { histogram: { buckets: 7, by: null } }));
  const [group] = page.kind === 'groups' ? page.groups : [];
  expect(histogram?.series[0]?.counts).toEqual(group?.sparkline);
  expect(histogram?.series[0]?.total).toBe(4);
});

test('a signal that is aborted rejects', async () => {
  const store = await partlyFlushed(temporaryFolder());
  const signal = AbortSignal.abort(new Error('hung up'));
  await expect(store.explore(inWindow({ facets: [facet('url')] }), { signal })).rejects.toThrow('hung up');
  await expect(store.activeZones(WINDOW, 'all', { signal })).rejects.toThrow('hung up');
});
