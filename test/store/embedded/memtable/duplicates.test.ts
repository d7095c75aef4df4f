import { describe, expect, test } from 'vitest';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, storedIds } from '../stored-events.ts';

const MINUTE = 60_000;
/** Sizes of journals: one that is searched as a file, and a smaller one. */
const [LARGE, SMALL] = [5_000, 50];

describe.each([
  ['what is known of events is kept', 1_000_000],
  ['too little of it can be kept', 100],
  ['none of it can be kept', 0],
])('where %s', (_, maxDedupEvents) => {
  test.each([
    ['a large batch, all of a minute', LARGE, 5],
    ['a large batch, of three days', LARGE, 50_000],
    ['a small batch, all of a minute', SMALL, 100],
    ['a small batch, of three days', SMALL, HOUR],
  ])('%s is stored once: sent again at once, with others, after a flush, a merge and a restart', async (__, count, everyMs) => {
    const dataDir = temporaryFolder();
    const events = eventSeries('e', count, NOW - count * everyMs, everyMs);
    const others = [event('new', NOW - MINUTE)];
    let store = await embeddedStoreIn(dataDir, { maxDedupEvents });
    await store.append(canonicalBatch(events));
    await store.append(canonicalBatch(events));
    await store.append(canonicalBatch([...events.slice(0, count - 1), ...others]));
    await store.flushNow();
    await store.append(canonicalBatch(events));
    await store.flushNow();
    await store.compactNow();
    await store.append(canonicalBatch([...others, ...events]));
    expect(await store.stats()).toMatchObject({ events: count + 1, duplicateEvents: 4 * count });
    await store.close();
    store = await embeddedStoreIn(dataDir, { maxDedupEvents });
    await store.append(canonicalBatch(events));
    expect(await store.stats()).toMatchObject({ events: count + 1 });
    expect(await storedIds(store)).toEqual(inAnswerOrder([...events, ...others]));
  });
});

test('events of one id are different ones at different times, in different zones, and in different forms of the id', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const id = '0123456789abcdef0123456789abcdef';
  const uuid = '01234567-89ab-cdef-0123-456789abcdef';
  const different = [
    event(id, NOW - 1),
    event(id, NOW - 2),
    event(id, NOW - 1, { shieldZoneId: 8 }),
    event(uuid, NOW - 1),
    event(id.toUpperCase(), NOW - 1),
    event('-', NOW - 1),
  ];
  await store.append(canonicalBatch(different));
  await store.append(canonicalBatch(different));
  expect(await store.stats()).toMatchObject({ events: 6, duplicateEvents: 6 });
});

test('a minute with more events than are read at once is known after a restart, wherever in it they are', async () => {
  const dataDir = temporaryFolder();
  const minute = Math.floor(NOW / MINUTE - 2) * MINUTE;
  // Two events in every millisecond.
  const halves = ['a', 'b'].map((id) => eventSeries(id, 60_000, minute, 1));
  let store = await embeddedStoreIn(dataDir);
  for (const half of halves) {
    await store.append(canonicalBatch(half));
  }
  await store.flushNow();
  await store.close();
  store = await embeddedStoreIn(dataDir);
  for (const [index, from] of [0, 29_995, 59_995].entries()) {
    const again = halves.flatMap((half) => half.slice(from, from + 5));
    await store.append(canonicalBatch([...again, ...eventSeries(`new-${index}`, LARGE, minute, 10)]));
  }
  expect(await store.stats()).toMatchObject({ events: 120_000 + 3 * LARGE, duplicateEvents: 30 });
});
