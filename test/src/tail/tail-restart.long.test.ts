import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { addressOf, type CliProcess, killAll, startCli } from '../cli/cli-process.ts';
import { startForgetfulSite } from '../openapi/forgetful-site.ts';
import { ask, eventLine, ingest } from '../running-app.ts';
import { openTail, tailPath } from './tail-client.ts';

let folder: string;
let port: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-tail-'));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = String((server.address() as AddressInfo).port);
  await once(server.close(), 'close');
});

afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

const serve = (): CliProcess => startCli(['serve', '--port', port, '--data-dir', join(folder, 'data')]);

describe('a client whose program is started again', () => {
  test.each([
    ['SIGTERM', 'before any event'],
    ['SIGTERM', 'after some'],
    ['SIGKILL', 'before any event'],
    ['SIGKILL', 'after some'],
  ] as const)('after %s, %s, comes back by itself, misses nothing and repeats nothing', async (signal, when) => {
    let program = serve();
    const url = await addressOf(program);
    const take = async (...logIds: string[]) => {
      const lines = logIds.map((logId) => eventLine({ logId }));
      expect((await ingest({ url }, lines.join(''))).body.accepted).toBe(logIds.length);
    };
    await take('old');
    const tail = await openTail({ url });
    const expected: string[] = [];
    if (when === 'after some') {
      await take('a', 'b');
      expected.push('a', 'b');
      await eventually('the first events', () => tail.rows.length === 2);
    }
    program.child.kill(signal);
    await program.ended;
    program = serve();
    await addressOf(program);
    // The client waits two seconds before it comes back: these come in before.
    await take('c', 'd');
    await eventually('the client is back', () => tail.opened() === 2);
    await take('e');
    expected.push('c', 'd', 'e');
    await eventually('all events', () => tail.rows.length >= expected.length);
    expect(tail.logIds()).toEqual(expected);
  });
});

test('a client that comes back behind events which the retention has dropped is told where it can go on', async () => {
  const site = await startForgetfulSite();
  onTestFinished(() => site.stop());
  for (const headers of [{ 'last-event-id': site.expiredCursor }, {}]) {
    const path = tailPath('last-event-id' in headers ? {} : { lastEventId: site.expiredCursor });
    const { status, body } = await ask(site, path, { headers: { accept: 'text/event-stream', ...headers } });
    expect([status, body.errorKey]).toEqual([416, 'feed.cursor_expired']);
    const tail = await openTail(site, { lastEventId: body.oldestCursor });
    await ingest(site, eventLine({ logId: 'next', timestamp: Date.now() }));
    await eventually('the next event', () => tail.rows.length > 0);
  }
});
