import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, type RunningApp, startApp } from '../running-app.ts';
import { tailPath, take, watchers } from './tail-client.ts';

const web = join(import.meta.dirname, '../../../web');

// The page's own scripts, as the browser gets them; they have no types.
const { messageReader, watchTail } = await import(join(web, 'live-stream.js'));
const { liveList, liveWords } = await import(join(web, 'live.js'));

describe('the stream is read', () => {
  const STREAM =
    'retry: 250\nid: 1\nevent: ready\ndata: {}\n\n: alive\nid: 2\n\n' +
    'id: 3\nevent: event\ndata: {"a":"ä🦆:"}\n\nevent: dropped\ndata: {"count":4}\n\nid: 5\nevent: event\ndata: cut';

  test.each([1, 2, 7, 1_000])('in pieces of %i characters, and a message that is cut off counts for nothing', (size) => {
    const said: unknown[] = [];
    const read = messageReader({
      onMessage: (message: unknown) => said.push(message),
      onId: (id: string) => said.push(id),
      onRetry: (ms: number) => said.push(ms),
    });
    for (let at = 0; at < STREAM.length; at += size) read(STREAM.slice(at, at + size));
    expect(said).toEqual([
      250,
      { event: 'ready', data: '{}' },
      '1',
      '2',
      { event: 'event', data: '{"a":"ä🦆:"}' },
      '3',
      { event: 'dropped', data: '{"count":4}' },
    ]);
  });
});

describe('the list', () => {
  test('has the newest first, and no more than it should', () => {
    const list = liveList(3);
    for (const row of [1, 2, 3, 4, 5]) list.add(row);
    expect([list.rows, list.counts]).toEqual([[5, 4, 3], { seen: 5, dropped: 0 }]);
  });

  test('stays as it is while it is paused, and has what came meanwhile afterwards', () => {
    const list = liveList(3);
    list.add(1);
    list.pause(true);
    list.add(2);
    list.drop(7);
    expect([list.rows, list.waiting, list.isPaused]).toEqual([[1], 1, true]);
    expect(liveWords(list.counts, list)).toBe(
      '2 events; 7 dropped, because this page was too slow or its filter too costly; paused, 1 new',
    );
    list.pause(false);
    expect([list.rows, list.waiting]).toEqual([[2, 1], 0]);
    expect(liveWords(list.counts, list)).toBe('2 events; 7 dropped, because this page was too slow or its filter too costly');
  });

  test('keeps no more than it would show while it is paused', () => {
    const list = liveList(3);
    list.pause(true);
    for (let row = 0; row < 100; row += 1) list.add(row);
    expect([list.waiting, list.counts.seen]).toEqual([3, 100]);
    list.pause(false);
    expect(list.rows).toEqual([99, 98, 97]);
  });
});

describe('the page watches', () => {
  let app: RunningApp;

  afterEach(() => app.stop());

  /** What the page sees of a tail; `after` is told of each answer before it is read. */
  function watch(path = tailPath(), after: (response: Response) => Response = (response) => response) {
    const stop = new AbortController();
    const seen: string[] = [];
    const states: string[] = [];
    const done = watchTail({
      signal: stop.signal,
      fetchStream: async (headers: Readonly<Record<string, string>>) =>
        after(await fetch(`${app.url}${path}`, { headers, signal: stop.signal })),
      onRow: ({ logId }: { readonly logId: string }) => seen.push(logId),
      onDropped: (count: number) => seen.push(`dropped ${count}`),
      onState: (text: string) => states.push(text),
    });
    onTestFinished(() => stop.abort());
    return { seen, states, done, stop };
  }

  test('events as they come, until it has enough', async () => {
    app = await startApp();
    const { seen, done, stop } = watch();
    await eventually('it watches', async () => (await watchers(app)) === 1);
    await take(app, { logId: 'a' }, { logId: 'b' });
    await eventually('both', () => seen.length === 2);
    expect(seen).toEqual(['a', 'b']);
    stop.abort();
    await done;
    await eventually('nobody is left', async () => (await watchers(app)) === 0);
  });

  test('on, where a lost connection left it, and misses nothing', async () => {
    app = await startApp();
    let lose = () => {};
    const { seen, states } = watch(tailPath(), (response) => {
      const body = response.body as ReadableStream<Uint8Array>;
      const reader = body.getReader();
      const cut = new ReadableStream<Uint8Array>({
        start(controller) {
          lose = () => {
            void reader.cancel();
            controller.error(new Error('the connection was lost'));
          };
        },
        async pull(controller) {
          const { value, done } = await reader.read();
          if (value !== undefined) controller.enqueue(value);
          else if (done) controller.close();
        },
      });
      return new Response(cut, response);
    });
    await eventually('it watches', async () => (await watchers(app)) === 1);
    await take(app, { logId: 'a' });
    await eventually('the first', () => seen.length === 1);
    lose();
    await eventually('it knows', () => states.includes('the connection was lost'));
    await eventually('nobody is left', async () => (await watchers(app)) === 0);
    await take(app, { logId: 'b' }, { logId: 'c' });
    await eventually('what came meanwhile', () => seen.length === 3);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('nothing more where the program refuses, and says why', async () => {
    app = await startApp();
    const { states, done } = watch(`${tailPath()}?search=[`);
    await done;
    expect(states).toEqual([expect.stringContaining('must be JSON')]);
  });

  test('with scripts that the program serves', async () => {
    app = await startApp();
    for (const name of ['live.js', 'live-stream.js']) {
      const { status, headers, text } = await ask(app, `/${name}`);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
      expect(text).toBe(readFileSync(join(web, name), 'utf8'));
      const page = readFileSync(join(web, 'index.html'), 'utf8');
      for (const [, id] of text.matchAll(/'#(\w+)'/g)) expect(page).toContain(` id="${id}"`);
    }
  });
});
