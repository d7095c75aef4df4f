import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreError } from '../../../store/store-error.ts';
import { derived } from '../../fixtures/derived.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type Answer, ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

let app: RunningApp;
/** Requests that wait for events. */
let waiting: Set<unknown>;

beforeEach(async () => {
  app = await startApp();
  waiting = new Set();
  const onEvents = app.store.onEvents.bind(app.store);
  app.store.onEvents = (listener) => {
    const stop = onEvents(listener);
    waiting.add(stop);
    return () => {
      waiting.delete(stop);
      stop();
    };
  };
});

afterEach(() => app.stop());

const feed = (zones: string, query: string, init: RequestInit = {}): Promise<Answer> =>
  ask(app, `/shield/event-logs/${zones}/feed${query}`, init as never);

const lastLine = ({ text }: Answer) => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');

test.each([
  ['its zones', '7', '?cursor=now&wait=30'],
  ['its part of the zones', 'all', '?cursor=now&wait=30&part=2/2'],
])('whoever waits is answered when an event of %s comes, not of others, which do not keep it reading', async (_, zones, query) => {
  let pages = 0;
  const readFeed = app.store.readFeed.bind(app.store);
  app.store.readFeed = (request, options) => {
    pages += 1;
    return readFeed(request, options);
  };
  const answer = feed(zones, query);
  let isAnswered = false;
  void answer.then(() => {
    isAnswered = true;
  });
  await eventually('it waits', () => waiting.size === 1);
  await ingest(app, eventLine({ logId: 'other', shieldZoneId: 8 }));
  // Another one that waits from here on, and is through with it: the first would be by now.
  expect((await feed('8', '?wait=30')).text).toContain('"other"');
  expect([isAnswered, waiting.size]).toEqual([false, 1]);
  // The two readers of this test have read once each, and at most once more for each time that they were told of events.
  expect(pages).toBeLessThan(8);
  await ingest(app, eventLine({ logId: 'wanted' }));
  expect((await answer).text).toContain('"wanted"');
  expect(lastLine(await answer)).toMatchObject({ more: false, count: 1 });
  expect(waiting.size).toBe(0);
});

test('when the time is up the answer is empty, with a cursor to go on with', async () => {
  const { cursor } = lastLine(await feed('7', ''));
  expect(lastLine(await feed('7', `?cursor=${cursor}&wait=1`))).toEqual({ cursor: derived.cursorAfterWait(cursor), more: false, count: 0 });
  expect(waiting.size).toBe(0);
});

test('a client that goes away is not waited for', async () => {
  const hangUp = new AbortController();
  const answer = feed('7', '?wait=30', { signal: hangUp.signal }).catch(() => undefined);
  await eventually('it waits', () => waiting.size === 1);
  hangUp.abort();
  await answer;
  await eventually('nobody waits', () => waiting.size === 0);
  expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('a program that stops answers whoever waits at once, with the same cursor', async () => {
  const { cursor } = lastLine(await feed('7', ''));
  const answer = feed('7', `?cursor=${cursor}&wait=30`);
  await eventually('it waits', () => waiting.size === 1);
  const closed = app.app.close();
  expect(lastLine(await answer)).toEqual({ cursor: derived.cursorAfterWait(cursor), more: false, count: 0 });
  await closed;
});

test('an answer whose store fails in the middle breaks off, without a last line', async () => {
  await ingest(app, Array.from({ length: 20_000 }, (_, index) => eventLine({ logId: `e${index}` })).join(''));
  const readFeed = app.store.readFeed.bind(app.store);
  let pages = 0;
  app.store.readFeed = (request, options) => {
    pages += 1;
    return pages === 2 ? Promise.reject(new StoreError('corrupt', 'the disk is broken')) : readFeed(request, options);
  };
  for (const encoding of ['identity', 'gzip', 'zstd']) {
    pages = 0;
    const response = await fetch(`${app.url}/shield/event-logs/7/feed?limit=20000`, { headers: { 'accept-encoding': encoding } });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  }
  expect(app.log.map(({ msg }) => msg)).toContain('an answer of the feed broke off');
});

test('a client that does not read holds up nothing, and little is read ahead of it', async () => {
  const line = (index: number) => eventLine({ logId: `e${index}`, log: { body: 'x'.repeat(10_000) } });
  for (let part = 0; part < 4; part += 1) {
    await ingest(app, Array.from({ length: 1_500 }, (_, index) => line(part * 1_500 + index)).join(''));
  }
  const readFeed = app.store.readFeed.bind(app.store);
  let events = 0;
  app.store.readFeed = async (request, options) => {
    const page = await readFeed(request, options);
    events += page.lines.length;
    return page;
  };
  const hangUp = new AbortController();
  const response = await fetch(`${app.url}/shield/event-logs/7/feed?limit=100000`, { signal: hangUp.signal });
  expect(response.status).toBe(200);
  // Others are served meanwhile.
  expect(lastLine(await feed('7', '?cursor=now')).count).toBe(0);
  expect(events).toBeLessThan(4_000);
  hangUp.abort();
});
