import { describe, expect, test } from 'vitest';
import type { Dimension } from '../../../../query/event-fields.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import type { MaxKept } from '../../../../store/embedded/search/group-search.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, NOW, rowsPlan } from '../stored-events.ts';

async function storeOf(events: readonly CanonicalEvent[], maxKept: MaxKept): Promise<OpenStore> {
  const store = await embeddedStoreIn(temporaryFolder(), { maxKept });
  await store.append(canonicalBatch(events.filter((_, index) => index % 2 === 0)));
  await store.flushNow();
  await store.append(canonicalBatch(events.filter((_, index) => index % 2 === 1)));
  return store;
}

async function groupsOf(store: OpenStore, by: readonly Dimension[], page: { readonly index: number; readonly size: number }) {
  const result = await store.search(rowsPlan({ output: { kind: 'groups', by, buckets: 0 }, page }));
  if (result.kind !== 'groups') {
    throw new Error('asked for groups');
  }
  return { total: result.total, groups: result.groups.map(({ key, count }) => [...by.map((dimension) => key[dimension]), count]) };
}

/** Six events of one url, three of a url without a query string, two whose url is missing or empty, and `single` urls of one event. */
function events(single: number): CanonicalEvent[] {
  const urls = [
    ...Array.from({ length: 6 }, () => 'https://a.example/?q=1'),
    ...Array.from({ length: 3 }, () => 'https://a.example/'),
    '',
    undefined,
    ...Array.from({ length: single }, (_, index) => `https://b.example/path?id=${String(index).padStart(5, '0')}`),
  ];
  return urls.map((url, index) =>
    event(`e${index}`, NOW - index, { ...(url !== undefined && { url }), country: index % 2 === 0 ? 'DE' : 'FR' }),
  );
}

const LARGEST = [
  ['https://a.example/?q=1', 6],
  ['https://a.example/', 3],
  ['', 2],
];
const single = (index: number) => [`https://b.example/path?id=${String(index).padStart(5, '0')}`, 1];

/** Has groups found in the ways that are meant for many events. */
describe.each<[string, MaxKept]>([
  ['by their texts', { filtered: 0, otherwise: 0, singletons: { events: 0, share: 2 } }],
  ['by fingerprints', { filtered: 0, otherwise: 0, singletons: { events: 0, share: 0 } }],
])('counted %s', (_way, ways) => {
  test.each([
    ['few groups', 20],
    ['more singleton groups than are sorted one by one', 3_000],
  ])('the pages of groups by url follow each other: %s', async (_, count) => {
    const store = await storeOf(events(count), ways);
    expect(await groupsOf(store, ['url'], { index: 0, size: 3 })).toEqual({ total: count + 3, groups: LARGEST });
    expect(await groupsOf(store, ['url'], { index: 0, size: 5 })).toEqual({ total: count + 3, groups: [...LARGEST, single(0), single(1)] });
    expect(await groupsOf(store, ['url'], { index: 2, size: 5 })).toEqual({ total: count + 3, groups: [7, 8, 9, 10, 11].map(single) });
    expect(await groupsOf(store, ['url'], { index: count, size: 5 })).toEqual({ total: count + 3, groups: [] });
  });

  test('a url is told apart by what it is grouped with', async () => {
    const store = await storeOf(events(0), ways);
    expect(await groupsOf(store, ['url', 'country'], { index: 0, size: 10 })).toEqual({
      total: 6,
      groups: [
        ['https://a.example/?q=1', 'DE', 3],
        ['https://a.example/?q=1', 'FR', 3],
        ['https://a.example/', 'DE', 2],
        ['', 'DE', 1],
        ['', 'FR', 1],
        ['https://a.example/', 'FR', 1],
      ],
    });
  });

  test('nothing makes no groups', async () => {
    const store = await storeOf(
      events(0).map((one) => ({ ...one, shieldZoneId: 8 })),
      ways,
    );
    expect(await groupsOf(store, ['url'], { index: 0, size: 10 })).toEqual({ total: 0, groups: [] });
  });
});
