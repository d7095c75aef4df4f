import { expect, test } from 'vitest';
import { sequenceOf } from '../../../../store/embedded/feed/feed-positions.ts';
import { HOSTILE_STRINGS } from '../../../corpus/hostile-strings.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, idsOf, NOW } from '../stored-events.ts';
import { fedEvent, wholeFeed } from './whole-feed.ts';

/** Events of many zones in an order that is not that of their times. */
function shuffled(prefix: string, count: number): CanonicalEvent[] {
  return Array.from({ length: count }, (_, index) =>
    event(`${prefix}${index}`, NOW - 30 * HOUR + ((index * 7919) % 10_007) * 10_000, { shieldZoneId: (index * 31) % 13, log: { index } }),
  );
}

test('events come in the order in which they were taken in, unflushed or flushed or merged, in pages of any size', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const all: CanonicalEvent[] = [];
  for (let round = 0; round < 4; round += 1) {
    const events = shuffled(`r${round}-`, 500);
    all.push(...events);
    await store.append(canonicalBatch(events));
    if (round < 3) await store.flushNow();
    if (round === 1) await store.compactNow();
    for (const limit of [3, 100, 10_000]) {
      const read = await wholeFeed(store, { limit });
      expect(idsOf(read as never)).toEqual(idsOf(all));
      expect(read.map(({ sequence }) => Number(sequence))).toEqual(all.map((_, index) => index + 1));
    }
  }
});

test.each([
  ['one zone', [5]],
  ['a few', [12, 0, 5, 5]],
  ['many', [1, 2, 3, 4, 5, 6, 7]],
  ['one that has no events', [99]],
])('%s: exactly its events, unflushed and flushed', async (_, zones) => {
  const store = await embeddedStoreIn(temporaryFolder());
  const events = shuffled('e', 3_000);
  const expected = idsOf(events.filter(({ shieldZoneId }) => zones.includes(shieldZoneId)));
  for (const part of [events.slice(0, 1_000), events.slice(1_000, 2_000), events.slice(2_000)]) {
    await store.flushNow();
    await store.append(canonicalBatch(part));
  }
  for (const limit of [10, 5_000]) expect(idsOf((await wholeFeed(store, { zones, limit })) as never)).toEqual(expected);
  await store.flushNow();
  for (const limit of [10, 5_000]) expect(idsOf((await wholeFeed(store, { zones, limit })) as never)).toEqual(expected);
});

test('an event that comes late, and one that comes twice, are where they were first taken in', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch(eventSeries('a', 10, NOW - HOUR, 1)));
  await store.flushNow();
  await store.append(canonicalBatch([...eventSeries('late', 5, NOW - 20 * HOUR, 1), event('a3', NOW - HOUR + 3)]));
  await store.append(canonicalBatch([event('z', NOW, { shieldZoneId: 9, url: 'https://x/?y=1' })]));
  const events = await wholeFeed(store);
  expect(events.map(({ sequence, logId }) => `${sequence} ${logId}`)).toEqual([
    ...Array.from({ length: 10 }, (_, index) => `${index + 1} a${index}`),
    ...Array.from({ length: 5 }, (_, index) => `${index + 11} late${index}`),
    '17 z',
  ]);
  expect(events.at(-1)).toMatchObject({ zoneId: 9, timestamp: NOW, fields: { url: 'https://x/?y=1' }, logJson: '{}' });
  expect(sequenceOf(await store.positions.newest())).toBe(17n);
  expect(await store.stats()).toMatchObject({ storedEvents: 16, duplicateEvents: 1 });
});

test('hostile texts come out as they went in, unflushed and flushed; none is taken for what separates events', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const texts = [...HOSTILE_STRINGS.map(({ text }) => text), '\x1e', 'a\x1fb', '\x1f\x1f\x1e', ''];
  const events = texts.map((text, index) =>
    event(`${index}-${text}`, NOW - (index % 3), { ua: text, url: `${text}?${text}`, ruleName: '', ip: `\ufeff${text}`, log: { text } }),
  );
  const plain = eventSeries('plain', 50, NOW - HOUR, 1);
  const expectSame = async (): Promise<void> => {
    for (const limit of [3, 10_000]) {
      const read = await wholeFeed(store, { limit });
      expect(read.slice(50).map(({ logId, timestamp, fields }) => ({ logId, timestamp, fields }))).toEqual(
        events.map(({ logId, timestamp, ua, url, ruleName, ip }) => ({ logId, timestamp, fields: { ua, url, ruleName, ip } })),
      );
      expect(read.slice(50).map(({ logJson }) => JSON.parse(logJson))).toEqual(events.map(({ log }) => log));
    }
  };
  await store.append(canonicalBatch([...plain, ...events]));
  await expectSame();
  await store.flushNow();
  await expectSame();
});

test('pages of large events end early, so that they take little memory; a single one is a page whatever its size', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const large = Array.from({ length: 60 }, (_, index) => event(`l${index}`, NOW - index, { log: { body: 'x'.repeat(900_000), index } }));
  const wide = Array.from({ length: 20 }, (_, index) => event(`w${index}`, NOW - index, { url: `${'u'.repeat(900_000)}${index}` }));
  // Nearly nothing of their logs is stored, because the fields repeat it.
  const repeating = Array.from({ length: 40 }, (_, index) => {
    const url = `${'r'.repeat(8_000)}${index}`;
    return event(`r${index}`, NOW - index, { url, log: { body: url.repeat(100) } });
  });
  const all = [
    ...eventSeries('s', 500, NOW - HOUR, 1),
    ...large,
    ...wide,
    ...repeating,
    event('giant', NOW, { log: { body: 'y'.repeat(5_000_000 / 2) } }),
  ];
  const sizes = async (): Promise<number[]> => {
    const pages: number[] = [];
    const ids: string[] = [];
    for (let after = await store.positions.oldest(), more = true; more; ) {
      const page = await store.readFeed({ zones: 'all', after, limit: 100_000 });
      const events = page.lines.map(fedEvent);
      ids.push(...events.map(({ logId }) => logId));
      pages.push(events.reduce((sum, { logJson, fields }) => sum + logJson.length + (fields.url?.length ?? 0), 0));
      ({ end: after, more } = page);
    }
    expect(ids).toEqual(idsOf(all));
    return pages;
  };
  await store.append(canonicalBatch(all.slice(0, 300)));
  await store.append(canonicalBatch(all.slice(300)));
  expect(Math.max(...(await sizes()))).toBeLessThan(5_000_000);
  await store.flushNow();
  expect(Math.max(...(await sizes()))).toBeLessThan(5_000_000);
});

test('an event says when its batch was taken in, unflushed, flushed, and after a restart', async () => {
  const dataDir = temporaryFolder();
  let now = NOW;
  const store = await embeddedStoreIn(dataDir, { now: () => now });
  const expected: number[] = [];
  for (const [count, laterMs] of [
    [3, 0],
    [1, 17],
    [5_000, 86_400_000 / 24],
    // The clock was set back.
    [2, -5_000],
    [1, 123_456],
  ] as const) {
    now += laterMs;
    await store.append(canonicalBatch(eventSeries(`at${now}-`, count, NOW - HOUR, 1)));
    expected.push(...Array.from({ length: count }, () => now));
  }
  const times = async (reader = store) => (await wholeFeed(reader, { limit: 10_000 })).map(({ ingestedAtMs }) => ingestedAtMs);
  expect(await times()).toEqual(expected);
  await store.flushNow();
  expect(await times()).toEqual(expected);
  await store.append(canonicalBatch([event('hot', NOW)]));
  expected.push(now);
  expect(await times()).toEqual(expected);
  await store.close();
  now += 1_000_000;
  expect(await times(await embeddedStoreIn(dataDir, { now: () => now }))).toEqual(expected);
});

test('a text that looks like the end of its event and the beginning of another is nothing but a text', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const endOfEvent = `${'\x1f'.repeat(5)}{}`;
  const beginning = ['2', '8', '1', '.forged', '', '', '', '', '', ''].join('\x1f');
  const events = [event('a', NOW), event('b', NOW, { ua: `agent${endOfEvent}\x1e${beginning}` })];
  await store.append(canonicalBatch(events));
  await store.flushNow();
  const read = await wholeFeed(store);
  expect(read.map(({ logId, zoneId, fields }) => [logId, zoneId, fields.ua])).toEqual([
    ['a', 7, undefined],
    ['b', 7, events[1]?.ua],
  ]);
});
