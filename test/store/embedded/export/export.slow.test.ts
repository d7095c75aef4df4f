import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SearchPlan } from '../../../../query/plan/search-plan.ts';
import type { EventStore } from '../../../../store/event-store.ts';
import { PIECE_BYTES } from '../../../../store/event-store.ts';
import { HOSTILE_STRINGS } from '../../../corpus/hostile-strings.ts';
import { type AnsweredRow, exportedRows, rowsOf, withLogText } from '../../../fixtures/answered-rows.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, idsOf, inAnswerOrder, NOW, rowsPlan } from '../stored-events.ts';

const exported = (store: EventStore, plan: SearchPlan = rowsPlan()) => exportedRows(store, plan);

/** All pages of the same search, in order. */
async function searched(store: EventStore, plan: SearchPlan = rowsPlan()): Promise<AnsweredRow[]> {
  const rows: AnsweredRow[] = [];
  for (let index = 0; ; index += 1) {
    const page = await rowsOf(await store.search({ ...plan, page: { index, size: 500 } }));
    if (page.length === 0) {
      return rows;
    }
    rows.push(...page);
  }
}

function withLog(events: readonly CanonicalEvent[]): CanonicalEvent[] {
  return events.map((each, index) => ({
    ...each,
    action: index % 3 === 0 ? 'blocked' : 'logged',
    url: `/${each.logId}?n=${index}`,
    log: { n: index, id: each.logId },
  }));
}

const PLANS: readonly (readonly [what: string, plan: SearchPlan])[] = [
  ['everything', rowsPlan()],
  ['one action', rowsPlan({ where: { kind: 'equals', column: 'action', values: ['blocked'], folded: true } })],
  ['a few events', rowsPlan({ where: { kind: 'contains', column: 'url', needle: 'e7?n=' } })],
  ['nothing', rowsPlan({ where: { kind: 'contains', column: 'url', needle: 'nowhere' } })],
  ['part of the time', rowsPlan({ window: { fromMs: NOW - 20 * HOUR, toMs: NOW - 3 * HOUR } })],
  ['the crowd alone', rowsPlan({ window: { fromMs: NOW - 3 * HOUR, toMs: NOW - 3 * HOUR + 1 } })],
  ['a zone without events', rowsPlan({ zones: [999] })],
];

test('an export has the pages of the search put together, from memtables, from segments, and from both', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const crowd = Array.from({ length: 300 }, (_, index) => event(`same${index}`, NOW - 3 * HOUR));
  const events = withLog([...crowd, ...eventSeries('e', 700, NOW - 40 * HOUR, HOUR / 20), event('foreign', NOW, { shieldZoneId: 8 })]);
  const same = async (): Promise<void> => {
    for (const [what, plan] of PLANS) {
      expect(await exported(store, plan), what).toEqual(await searched(store, plan));
    }
  };
  await store.append(canonicalBatch(events.filter((_, index) => index % 2 === 0)));
  await same();
  await store.flushNow();
  await same();
  await store.append(canonicalBatch(events.filter((_, index) => index % 2 === 1)));
  await same();
  expect(await exported(store)).toHaveLength(1000);
});

test('many pieces follow each other without a gap, and so do those of a millisecond that holds more than one', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const crowd = Array.from({ length: 12_000 }, (_, index) => event(`c${(index * 7919) % 12_000}`, NOW - HOUR));
  const dense = eventSeries('d', 6_000, NOW - HOUR + 1, 1);
  const sparse = eventSeries('s', 3_000, NOW - 70 * HOUR, 70_000);
  const all = [...crowd, ...dense, ...sparse].map((each) => ({ ...each, log: { id: each.logId } }));
  await store.append(canonicalBatch(all.slice(0, 11_000)));
  await store.flushNow();
  await store.append(canonicalBatch(all.slice(11_000)));
  const rows = await exported(store);
  expect(idsOf(rows as never)).toEqual(inAnswerOrder(all));
  expect(rows.filter(({ logId, logJson }) => JSON.parse(logJson).id !== logId)).toEqual([]);
});

test('events of very different size come whole, in pieces that stay small', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const large = Array.from({ length: 40 }, (_, index) =>
    event(`l${index}`, NOW - HOUR - index, { url: `/${'u'.repeat(20_000)}${index}`, log: { body: 'x'.repeat(900_000), index } }),
  );
  const small = withLog(eventSeries('s', 6_000, NOW - 50 * 60_000, 10));
  await store.append(canonicalBatch([...small, ...large.slice(0, 25)]));
  await store.flushNow();
  await store.append(canonicalBatch(large.slice(25)));
  const parts: number[] = [];
  const ids: string[] = [];
  for await (const part of store.readAll(rowsPlan())) {
    const rows = Array.from(part, withLogText);
    parts.push(rows.reduce((sum, { logJson }) => sum + logJson.length, 0));
    ids.push(...rows.map(({ logId }) => logId));
    for (const { logId, logJson } of rows.filter(({ logId }) => logId.startsWith('l'))) {
      expect([logJson.length > 900_000, JSON.parse(logJson).index]).toEqual([true, Number(logId.slice(1))]);
    }
  }
  expect(ids).toEqual(inAnswerOrder([...small, ...large]));
  expect(Math.max(...parts)).toBeLessThanOrEqual(PIECE_BYTES);
});

test('hostile texts come out as they went in, as ids, fields and logs, unflushed and flushed', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const hostile = HOSTILE_STRINGS.filter(({ text }) => text !== '' && text.length < 500);
  const events = hostile.map(({ text }, index) =>
    event(text, NOW - (index % 3), { ua: text, url: `${text}?${text}`, ruleName: '', ip: `\ufeff${text}`, log: { text, [text]: index } }),
  );
  const expectSame = async (): Promise<void> => {
    const rows = await exported(store);
    expect(rows).toEqual(await searched(store));
    const byId = new Map(rows.map((row) => [row.logId, row]));
    for (const { logId, timestamp, log, ua, url, ruleName, ip } of events) {
      const row = byId.get(logId);
      expect(row).toMatchObject({ logId, timestamp, fields: { ua, url, ruleName, ip } });
      expect(JSON.parse(row?.logJson ?? '')).toEqual(log);
    }
    expect(rows).toHaveLength(events.length);
  };
  await store.append(canonicalBatch(events));
  await expectSame();
  await store.flushNow();
  await expectSame();
});

test('digits of a log are not lost', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const log = '{"n":12345678901234567890123,"s":"\\u0000"}';
  await store.append({ ...canonicalBatch([{ logId: 'a', shieldZoneId: 7, timestamp: NOW }]), logs: [Buffer.from(`${log}\n`)] });
  expect(await exported(store)).toEqual([{ zoneId: 7, logId: 'a', timestamp: NOW, logJson: log, fields: {} }]);
  await store.flushNow();
  expect(await exported(store)).toEqual([{ zoneId: 7, logId: 'a', timestamp: NOW, logJson: log, fields: {} }]);
});

test('what is flushed, merged, dropped or taken in meanwhile changes nothing of an export under way', async () => {
  let now = NOW;
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir, { now: () => now });
  const events = withLog(eventSeries('e', 15_000, NOW - 30 * HOUR, 2_000));
  for (let first = 0; first < events.length; first += 5_000) {
    await store.append(canonicalBatch(events.slice(first, first + 5_000)));
    if (first < 10_000) {
      await store.flushNow();
    }
  }
  const expected = await searched(store);
  const iterator = store.readAll(rowsPlan())[Symbol.asyncIterator]();
  const rows: AnsweredRow[] = [];
  const take = async (): Promise<boolean> => {
    const next = await iterator.next();
    rows.push(...(next.done === true ? [] : Array.from(next.value, withLogText)));
    return next.done !== true;
  };
  await take();
  const held = readdirSync(join(dataDir, 'segments'));
  await store.append(canonicalBatch([event('new', NOW - HOUR), event('old', NOW - 40 * HOUR)]));
  await take();
  await store.flushNow();
  await store.compactNow();
  now = NOW + 80 * HOUR;
  await store.dropExpiredNow();
  expect(await store.stats()).toMatchObject({ events: 0, segments: 0 });
  expect(readdirSync(join(dataDir, 'segments'))).toEqual(expect.arrayContaining(held));
  while (await take());
  expect(rows).toEqual(expected);
  await expect.poll(() => readdirSync(join(dataDir, 'segments'))).toEqual([]);
});

/** An export whose first rows were read, and a count of the files of segments that were merged since, which only the export holds. */
async function holdingExport(signal?: AbortSignal) {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const events = withLog(eventSeries('e', 8_000, NOW - 30 * HOUR, 1_000));
  for (let part = 0; part < 4; part += 1) {
    await store.append(canonicalBatch(events.filter((_, index) => index % 4 === part)));
    await store.flushNow();
  }
  const files = () => readdirSync(join(dataDir, 'segments')).filter((file) => !file.includes('log'));
  const iterator = store.readAll(rowsPlan(), signal === undefined ? {} : { signal })[Symbol.asyncIterator]();
  expect((await iterator.next()).done).toBe(false);
  await store.compactNow();
  const stale = async () => files().length - (await store.stats()).segments;
  expect(await stale()).toBeGreaterThan(0);
  return { store, iterator, stale };
}

test('an export that is not read to its end gives everything back', async () => {
  const { iterator, stale } = await holdingExport();
  await iterator.return?.();
  await expect.poll(stale).toBe(0);
});

test('an aborted export gives everything back, also while nobody asks for more, and ends with the reason', async () => {
  const controller = new AbortController();
  const { iterator, stale } = await holdingExport(controller.signal);
  const reason = new Error('enough');
  controller.abort(reason);
  await expect.poll(stale).toBe(0);
  await expect(iterator.next()).rejects.toBe(reason);
});

test('a store closes under an export that nobody reads on, and the export ends as closed', async () => {
  const { store, iterator } = await holdingExport();
  await store.close();
  await expect(iterator.next()).rejects.toMatchObject({ code: 'closed' });
});

test('an export that is aborted before it is asked for reads nothing', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const reason = new Error('too late');
  const iterator = store.readAll(rowsPlan(), { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
  await expect(iterator.next()).rejects.toBe(reason);
});

test('many exports that nobody reads keep no search waiting', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch(withLog(eventSeries('e', 20_000, NOW - 30 * HOUR, 1_000))));
  const iterators = Array.from({ length: 12 }, () => store.readAll(rowsPlan())[Symbol.asyncIterator]());
  onTestFinished(async () => {
    await Promise.all(iterators.map((iterator) => iterator.return?.()));
  });
  await Promise.all(iterators.map((iterator) => iterator.next()));
  const results = await Promise.all(Array.from({ length: 8 }, () => store.search(rowsPlan({ page: { index: 0, size: 1 } }))));
  expect(results.map(({ total }) => total)).toEqual(Array(8).fill(20_000));
});
