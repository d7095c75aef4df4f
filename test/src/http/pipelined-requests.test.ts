import { afterEach, expect, onTestFinished, test } from 'vitest';
import { eventLine, ingest, lastHour, type RunningApp, startApp } from '../running-app.ts';
import { metric, tailPath } from '../tail/tail-client.ts';
import { openConnection } from './raw-connection.ts';

let app: RunningApp;

afterEach(() => app.stop());

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

function post(path: string, body: string): string {
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return `${head}\r\n\r\n${body}`;
}

const HELD = ['tail_watchers', 'feed_readers', 'feed_waiting', 'exports_under_way'] as const;

async function held(): Promise<Readonly<Record<string, number>>> {
  const entries = HELD.map(async (name) => [name, await metric(app, `shieldlog_${name}`)] as const);
  return Object.fromEntries((await Promise.all(entries)).filter(([, count]) => count > 0));
}

test.each([
  ['a tail', () => get(tailPath()), { tail_watchers: 2 }],
  ['a read of the feed', () => get('/shield/event-logs/7/feed'), { tail_watchers: 1, feed_readers: 1 }],
  ['a wait for the feed', () => get('/shield/event-logs/8/feed?wait=30'), { tail_watchers: 1, feed_waiting: 1 }],
  ['an export', () => post('/shield/event-logs/7/export', lastHour()), { tail_watchers: 1, exports_under_way: 1 }],
] as const)(
  '%s that was asked for behind a tail holds nothing when the client leaves before its turn',
  async (_what, request, expected) => {
    app = await startApp();
    await ingest(app, eventLine({ logId: 'one' }));
    const socket = await openConnection(app);
    onTestFinished(() => void socket.destroy());
    socket.resume();
    socket.write(get(tailPath()) + request());
    await expect.poll(held).toEqual(expected);
    socket.destroy();
    await expect.poll(held).toEqual({});
  },
);
