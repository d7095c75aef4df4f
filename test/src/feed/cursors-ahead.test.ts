import { expect, onTestFinished, test } from 'vitest';
import { feedPosition } from '../../../store/embedded/feed/feed-positions.ts';
import { ask, eventLine, ingest, startApp } from '../running-app.ts';

test.each([
  ['the feed by one event', feedPosition(4n, 0), feedPosition(3n, 0)],
  ['its retention', feedPosition(1n, 1), feedPosition(1n, 0)],
])('a cursor ahead of %s is refused with the one to go on with', async (_, ahead, end) => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  await ingest(app, ['a', 'b', 'c'].map((logId) => eventLine({ logId })).join(''));
  const { positions } = app.store;
  const feed = (cursor: string) => ask(app, `/shield/event-logs/7/feed?cursor=${cursor}`);
  const { status, body } = await feed(positions.encode(ahead));
  expect([status, body.errorKey, body.oldestCursor]).toEqual([416, 'feed.cursor_ahead', positions.encode(end)]);
  expect((await feed(body.oldestCursor)).status).toBe(200);
});
