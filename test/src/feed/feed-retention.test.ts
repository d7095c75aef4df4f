import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../../../src/app.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { type CanonicalEvent, canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { ask } from '../running-app.ts';

const HOUR = 3_600_000;

test('a reader who has missed events is told so with the cursor that goes on; one who has not goes on', async () => {
  const dataDir = temporaryFolder();
  let now = Date.now();
  const open = async () => {
    const store = await storeIn(dataDir, { now: () => now });
    const app = await buildApp({ store, config: loadConfig({}), now: () => now, logger: pino({ level: 'silent' }), kafka: null });
    onTestFinished(() => app.close());
    return { store, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
  };
  const feed = async (url: string, zones: string, cursor = '', limit = 100, part = '1/1') => {
    const query = `limit=${limit}&part=${part}${cursor && `&cursor=${cursor}`}`;
    const { status, text } = await ask({ url }, `/shield/event-logs/${zones}/feed?${query}`);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    return { status, last: lines.at(-1), ids: lines.slice(0, -1).map(({ logId }) => logId) };
  };
  const event = (logId: string, hoursAgo: number, shieldZoneId: number): CanonicalEvent => ({
    logId,
    shieldZoneId,
    timestamp: now - hoursAgo * HOUR,
  });
  const before = await open();
  const { last: start } = await feed(before.url, 'all');
  await before.store.append(canonicalBatch([event('kept-1', 1, 7), event('gone-2', 70, 7), event('kept-3', 2, 8), event('kept-4', 3, 7)]));
  await before.store.settle('flush');
  const { last: afterOne } = await feed(before.url, '7', start.cursor, 1);
  const { last: afterThree } = await feed(before.url, 'all', start.cursor, 3);
  await before.store.close();

  // Past the retention with the whole of its day.
  now += 48 * HOUR;
  const { url, store } = await open();
  await store.expire();
  // Zone 8 has lost nothing, and who is past what zone 7 lost has missed nothing.
  expect((await feed(url, '8', start.cursor)).ids).toEqual(['kept-3']);
  expect((await feed(url, 'all', start.cursor, 100, '1/2')).ids).toEqual(['kept-3']);
  expect((await feed(url, '7,8', start.cursor, 100, '1/2')).ids).toEqual(['kept-3']);
  expect((await feed(url, 'all', start.cursor, 100, '2/2')).status).toBe(416);
  expect((await feed(url, '7', start.cursor, 100, '1/2')).ids).toEqual([]);
  expect((await feed(url, 'all', afterThree.cursor)).ids).toEqual(['kept-4']);
  for (const [cursor, rest] of [
    [start.cursor, ['kept-1', 'kept-4']],
    [afterOne.cursor, ['kept-4']],
  ]) {
    const { status, last } = await feed(url, '7', cursor);
    expect([status, last.status, last.errorKey]).toEqual([416, 416, 'feed.cursor_expired']);
    expect((await feed(url, '7', last.oldestCursor)).ids).toEqual(rest);
  }
  // From the oldest on, page by page, although kept events lie before what was dropped.
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await feed(url, '7', cursor, 1);
    expect(page.status).toBe(200);
    ids.push(...page.ids);
    cursor = page.last.cursor;
    if (!page.last.more) break;
  }
  expect(ids).toEqual(['kept-1', 'kept-4']);
});
