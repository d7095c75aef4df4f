import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRow } from '../../../web/api/parsed-row.ts';
import type { StreamTurn } from '../../../web/live/stream-turn.ts';
import { type TailState, type WatchOptions, watchTail } from '../../../web/live/watch-tail.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../src/running-app.ts';

let stop: AbortController;
let rows: string[];
let dropped: string[];
let states: TailState[];
let unwatched: (readonly [from: number, to: number])[];
/** What the tail takes for the time. */
let time: number;
const cleanUps: (() => unknown)[] = [];

beforeEach(() => {
  stop = new AbortController();
  rows = [];
  dropped = [];
  states = [];
  unwatched = [];
  time = 0;
});

afterEach(async () => {
  stop.abort();
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const ALWAYS = (): Promise<StreamTurn> => Promise.resolve({ signal: stop.signal, end: () => {} });

function watch(url: () => string, silenceMs?: number, takeTurn: WatchOptions['takeTurn'] = ALWAYS): Promise<void> {
  return watchTail({
    takeTurn,
    fetchStream: (headers, signal) => fetch(url(), { headers, signal }),
    onUnwatched: (from, to) => unwatched.push([from, to]),
    now: () => time,
    onRow: (text) => rows.push(readRow(text).logId),
    onDropped: (count, reason) => dropped.push(`${count} ${reason}`),
    onState: (state) => states.push(state),
    signal: stop.signal,
    ...(silenceMs === undefined ? {} : { silenceMs }),
  });
}

const kinds = (): readonly string[] => states.map(({ kind }) => kind);

async function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(answer as never);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('events come in, and after a restart of the program those that came meanwhile', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-watch-'));
  cleanUps.push(() => rmSync(dataDir, { recursive: true, force: true }));
  let app: RunningApp = await startApp({ dataDir });
  cleanUps.push(() => app.stop());
  const ended = watch(() => `${app.url}/shield/event-logs/all/tail`);
  await expect.poll(kinds).toEqual(['connecting', 'watching']);
  await ingest(app, eventLine({ logId: 'a' }));
  await expect.poll(() => rows).toEqual(['a']);
  await app.stop();
  await expect.poll(kinds).toContain('lost');
  app = await startApp({ dataDir });
  await ingest(app, eventLine({ logId: 'b' }));
  await expect.poll(() => rows).toEqual(['a', 'b']);
  stop.abort();
  await ended;
});

test('a request that is refused is not made again, and the program says why', async () => {
  const app = await startApp();
  cleanUps.push(() => app.stop());
  await watch(() => `${app.url}/shield/event-logs/7/tail?search=%7B%22query%22%3A5%7D`);
  expect(kinds()).toEqual(['connecting', 'refused']);
  expect(states[1]?.detail).toContain('query');
});

test('events that are no longer kept are said, and it goes on with the oldest that are', async () => {
  const asked: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    if (asked.length === 2) return void response.writeHead(416).end('{"detail":"too old","oldestCursor":"c5"}');
    response.writeHead(200).end(`retry: 1\nid: c${asked.length}\nevent: dropped\ndata: {"count":${asked.length},"reason":"costly"}\n\n`);
  });
  void watch(() => url);
  await expect.poll(() => asked.slice(0, 3)).toEqual([undefined, 'c1', 'c5']);
  await expect.poll(() => dropped.slice(0, 2)).toEqual(['1 costly', '3 costly']);
  expect(states.slice(0, 4)).toEqual([
    { kind: 'connecting', detail: '' },
    { kind: 'watching', detail: '' },
    { kind: 'lost', detail: 'the program has ended the stream' },
    { kind: 'connecting', detail: '' },
  ]);
  expect(states[4]).toEqual({ kind: 'expired', detail: 'too old' });
});

test('a connection on which nothing comes counts as lost', async () => {
  const url = await serve((_request, response) => void response.writeHead(200).write('retry: 1\n\n'));
  void watch(() => url, 50);
  await expect.poll(kinds).toEqual(expect.arrayContaining(['watching', 'lost', 'connecting']));
  expect(states.find(({ kind }) => kind === 'lost')?.detail).toBe('nothing has come for 0 s');
});

test('an answer that is no JSON is an error of its status, and is asked for again', async () => {
  let count = 0;
  const url = await serve((_request, response) => {
    count += 1;
    response.writeHead(502).end('<h1>Bad gateway</h1>');
  });
  void watch(() => url);
  await expect.poll(() => states[1]).toEqual({ kind: 'lost', detail: 'The program answered 502' });
  await expect.poll(() => count).toBeGreaterThan(1);
});

test.each([
  { minutes: 5, goesOn: 'c1', gap: [] },
  { minutes: 5.1, goesOn: undefined, gap: [[0, 306_000]] },
])('a tail that had no turn for $minutes minutes goes on behind $goesOn, and says what it has missed', async ({ minutes, goesOn, gap }) => {
  const asked: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200).write(`id: c${asked.length}\nevent: ready\ndata: {}\n\n`);
    response.write(`id: c${asked.length}\nevent: dropped\ndata: {"count":${asked.length},"reason":"unread"}\n\n`);
  });
  const ended: number[] = [];
  const turns = [new AbortController(), new AbortController()];
  let taken = 0;
  void watch(
    () => url,
    undefined,
    (onWait) => {
      const at = taken;
      taken += 1;
      if (at === 1) {
        onWait();
        time += minutes * 60_000;
      }
      const signal = AbortSignal.any([stop.signal, (turns[at] ?? stop).signal]);
      return Promise.resolve({ signal, end: () => ended.push(at) });
    },
  );
  await expect.poll(() => dropped).toEqual(['1 unread']);
  turns[0]?.abort();
  await expect.poll(() => dropped).toEqual(['1 unread', '2 unread']);
  expect([asked, ended, unwatched]).toEqual([[undefined, goesOn], [0], gap]);
  expect(kinds()).toEqual(['connecting', 'watching', 'hidden', 'queued', 'connecting', 'watching']);
});
