import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { seededBytes } from '../../random/run-seed.ts';
import { addressOf, killAll, startCli } from '../cli/cli-process.ts';
import { ask, eventLine, ingest } from '../running-app.ts';

afterEach(killAll);

const EVENTS = 40_000;
const UNREAD = 200;
const MEBIBYTE = 1024 * 1024;

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Asks for the feed and reads the head of the answer at most. */
function openUnread(url: string): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write('GET /shield/event-logs/7/feed?limit=100000 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return socket.pause();
}

test('two hundred feeds that nobody reads take little memory, and keep nobody from reading another', async () => {
  const cli = startCli(['serve', '--data-dir', temporaryFolder(), '--port', '0'], { MEMORY_LIMIT_MB: '256' });
  const url = await addressOf(cli);
  for (let from = 0; from < EVENTS; from += 4_000) {
    const lines = Array.from({ length: 4_000 }, (_, index) =>
      eventLine({ logId: `e${from + index}`, log: { body: seededBytes(750).toString('base64url') } }),
    );
    expect((await ingest({ url }, lines.join(''))).status).toBe(202);
  }
  const pid = cli.child.pid ?? 0;
  // One reader at a time needs this much anyway.
  expect((await ask({ url }, '/shield/event-logs/7/feed?limit=100000')).status).toBe(200);
  const before = residentBytes(pid);
  const reader = ask({ url }, '/shield/event-logs/7/feed?limit=100000');
  const unread = Array.from({ length: UNREAD }, () => openUnread(url));
  onTestFinished(() => {
    for (const socket of unread) socket.destroy();
  });
  const { text } = await reader;
  const lines = text.trimEnd().split('\n');
  expect(JSON.parse(lines.pop() ?? '')).toMatchObject({ count: EVENTS, more: false });
  expect(lines.every((line, index) => line.startsWith(`{"logId":"e${index}",`))).toBe(true);
  let most = 0;
  let quietLooks = 0;
  await eventually('the memory does not grow any more', () => {
    const now = residentBytes(pid);
    quietLooks = now > most ? 0 : quietLooks + 1;
    most = Math.max(most, now);
    return quietLooks >= 150;
  });
  // Runs differ by more than 100 MiB in what the reader before left behind. Where pages have no bound together it is more than 500.
  expect((most - before) / MEBIBYTE).toBeLessThan(350);
});
