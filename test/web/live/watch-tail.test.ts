import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRow } from '../../../web/api/parsed-row.ts';
import { type TailState, watchTail } from '../../../web/live/watch-tail.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../src/running-app.ts';

let stop: AbortController;
let rows: string[];
let dropped: string[];
let states: TailState[];
const cleanUps: (() => unknown)[] = [];

beforeEach(() => {
  stop = new AbortController();
  rows = [];
  dropped = [];
  states = [];
});

afterEach(async () => {
  stop.abort();
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function watch(url: () => string, silenceMs?: number): Promise<void> {
  return watchTail({
    fetchStream: (headers) => fetch(url(), { headers, signal: stop.signal }),
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
