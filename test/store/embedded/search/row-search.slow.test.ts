import { expect, test } from 'vitest';
import type { RowPiece } from '../../../../query/plan/search-result.ts';
import { RowPieces } from '../../../../store/embedded/search/row-pieces.ts';
import { PIECE_BYTES } from '../../../../store/event-store.ts';
import { answered, rowsOf, withLogText } from '../../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, rowsPlan, storedIds } from '../stored-events.ts';

test('every page is a slice of one order, across memtables and segments, whatever the page size', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const crowd = Array.from({ length: 300 }, (_, index) => event(`same${index}`, NOW - 3 * HOUR));
  const spread = eventSeries('e', 400, NOW - 40 * HOUR, HOUR / 10);
  await store.append(canonicalBatch([...crowd.slice(0, 150), ...spread.filter((_, index) => index % 2 === 0)]));
  await store.flushNow();
  await store.append(canonicalBatch([...crowd.slice(150), ...spread.filter((_, index) => index % 2 === 1)]));
  const expected = inAnswerOrder([...crowd, ...spread]);
  for (const size of [1, 7, 50, 500]) {
    const plan = rowsPlan({ page: { index: 0, size } });
    const ids = size === 1 ? expected : await storedIds(store, plan);
    expect(ids).toEqual(expected);
  }
  const deep = await store.search(rowsPlan({ page: { index: 690, size: 1 } }));
  expect(await answered(deep)).toMatchObject({ rows: [{ logId: expected[690] }], total: 700 });
});

test('a page in a crowd of events that no division of time makes smaller is still right', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const crowd = Array.from({ length: 25_000 }, (_, index) => event(`c${String(index).padStart(5, '0')}`, NOW));
  await store.append(canonicalBatch([...crowd, event('newer', NOW + 1), event('older', NOW - 1)]));
  const page = await store.search(rowsPlan({ page: { index: 49, size: 500 } }));
  expect((await rowsOf(page)).map(({ logId }) => logId)).toEqual(
    ['newer', ...crowd.map(({ logId }) => logId), 'older'].slice(24_500, 25_000),
  );
});

test('the window takes its start in and leaves its end out, also where it cuts through a segment', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch(eventSeries('e', 100, NOW, 1)));
  await store.flushNow();
  const plan = rowsPlan({ window: { fromMs: NOW + 10, toMs: NOW + 13 } });
  expect(await storedIds(store, plan)).toEqual(['e12', 'e11', 'e10']);
});

test('a row has the log as it was and the fields the event has', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const one = { logId: 'a', shieldZoneId: 7, timestamp: NOW, ip: '::1', ruleName: '' };
  const log = '{"n":12345678901234567890123,"s":"\\u0000"}';
  await store.append({ ...canonicalBatch([one]), logs: [Buffer.from(`${log}\n`)] });
  const result = await store.search(rowsPlan());
  expect((await rowsOf(result))[0]).toEqual({
    zoneId: 7,
    logId: 'a',
    timestamp: NOW,
    logJson: log,
    fields: { ip: '::1', ruleName: '' },
  });
});

test('a search is interrupted with the reason of its signal, before and while it runs, and the store goes on', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const events = eventSeries('e', 100_000, NOW - 10 * HOUR, 100).map((one) => ({ ...one, url: `/${'ab'.repeat(100)}` }));
  for (let first = 0; first < events.length; first += 10_000) {
    await store.append(canonicalBatch(events.slice(first, first + 10_000)));
  }
  const slow = rowsPlan({
    where: { kind: 'any', of: Array.from({ length: 200 }, (_, n) => ({ kind: 'contains', column: 'url', needle: `b${n}` })) },
  });
  const reason = new Error('the deadline has passed');
  await expect(store.search(slow, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  const running = store.search(slow, { signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await expect(running).rejects.toBe(reason);
  expect((await store.search(rowsPlan())).total).toBe(100_000);
});

test('a wildcard of many stars takes no time that grows with every star', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch([event('a', NOW, { url: `/${'a'.repeat(2000)}` })]));
  for (const special of ['', '_', '%', '\\', '\0']) {
    const parts = ['', ...Array<string>(200).fill('a'), `${special}b`, ''];
    expect(await storedIds(store, rowsPlan({ where: { kind: 'wildcard', column: 'url', parts } }))).toEqual([]);
  }
});

test('searches under way when the store closes are interrupted', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch(eventSeries('e', 1000, NOW, 1)));
  const searches = Promise.allSettled(Array.from({ length: 20 }, () => store.search(rowsPlan())));
  await store.close();
  const outcomes = await searches;
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.map(({ reason }) => reason.code)).toEqual(refused.map(() => 'closed'));
  await expect(store.search(rowsPlan())).rejects.toMatchObject({ code: 'closed' });
});

test('a page of many thousand rows has the log of each, unflushed or flushed', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const events = eventSeries('e', 6_000, NOW - HOUR, 100).map((each) => ({ ...each, log: { n: each.logId } }));
  await store.append(canonicalBatch(events.slice(0, 2_500)));
  await store.flushNow();
  await store.append(canonicalBatch(events.slice(2_500, 5_000)));
  await store.flushNow();
  await store.append(canonicalBatch(events.slice(5_000)));
  const result = await store.search(rowsPlan({ page: { index: 0, size: 10_000 } }));
  const rows = await rowsOf(result);
  expect(rows).toHaveLength(6_000);
  expect(rows.filter(({ logId, logJson }) => JSON.parse(logJson).n !== logId)).toEqual([]);
});

/** Events of the largest size, of which a page takes many pieces, in a segment and in the memtable. */
async function storeOfLargeEvents() {
  const store = await embeddedStoreIn(temporaryFolder());
  const large = Array.from({ length: 30 }, (_, index) => {
    const url = `/${'u'.repeat(index % 3 === 0 ? 900_000 : 20)}`;
    return event(`l${index}`, NOW - index, { url, log: { index, url, body: 'x'.repeat(index % 3 === 1 ? 900_000 : 20) } });
  });
  await store.append(canonicalBatch(large.slice(0, 20)));
  await store.flushNow();
  await store.append(canonicalBatch(large.slice(20)));
  return { store, large };
}

test('a page of the largest events is read in pieces of four mebibytes, from the snapshot of the first one', async () => {
  const { store, large } = await storeOfLargeEvents();
  const page = await store.search(rowsPlan());
  const pieces: RowPiece[] = [];
  if (page.kind === 'rows') {
    for await (const piece of page.rows) {
      pieces.push(piece);
      await store.append(canonicalBatch([event(`new${pieces.length}`, NOW)]));
      await store.flushNow();
      await store.compactNow();
    }
  }
  expect(page.total).toBe(30);
  expect(pieces.length).toBeGreaterThan(4);
  expect(Math.max(...pieces.map(({ bytes }) => bytes))).toBeLessThanOrEqual(PIECE_BYTES);
  expect(pieces.map(({ isLast }) => isLast)).toEqual(pieces.map((_, index) => index === pieces.length - 1));
  const rows = pieces.flatMap((piece) => Array.from(piece, withLogText));
  expect(rows.map(({ logId }) => logId)).toEqual(inAnswerOrder(large));
  expect(rows.map(({ logJson, fields }) => [JSON.parse(logJson), fields['url']])).toEqual(large.map(({ log, url }) => [log, url]));
});

test('a page of usual size is one piece', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch(eventSeries('e', 500, NOW, 1).map((each) => ({ ...each, log: { body: 'x'.repeat(1_000) } }))));
  const page = await store.search(rowsPlan());
  const pieces: RowPiece[] = [];
  if (page.kind === 'rows') for await (const piece of page.rows) pieces.push(piece);
  expect(pieces).toMatchObject([{ length: 500, isLast: true }]);
});

test('a page that is not read to its end gives everything back, and one that nobody reads keeps no store open', async () => {
  const { store } = await storeOfLargeEvents();
  const [read, unread] = [await store.search(rowsPlan()), await store.search(rowsPlan())];
  if (read.kind !== 'rows' || unread.kind !== 'rows') throw new Error('a search for rows found groups');
  const pieces = read.rows[Symbol.asyncIterator]();
  await pieces.next();
  await pieces.return?.();
  expect(await pieces.next()).toEqual({ value: undefined, done: true });
  await store.close();
  await expect(unread.rows[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'closed' });
});

test('a page whose caller has gone when its first piece is there gives everything back', async () => {
  let isGivenBack = false;
  const held = {
    [Symbol.dispose]: () => {
      isGivenBack = true;
    },
  };
  const reason = new Error('gone');
  const pieces = new RowPieces({ read: () => Promise.reject(new Error('read')), ended: AbortSignal.abort(reason), held });
  await expect.poll(() => isGivenBack).toBe(true);
  await expect(pieces.next()).rejects.toBe(reason);
});
