import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { killAll, runCli } from '../cli/cli-process.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';
import { idsIn } from '../sinks/sample-events.ts';
import { openTail, tailPath } from '../tail/tail-client.ts';

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp({ dataDir: join(folder, 'data') });
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const take = (...logIds: readonly string[]) => ingest(app, logIds.map((logId) => eventLine({ logId })).join(''));

/** Delivers what there is to a file, with one state for all programs. */
function feedOnce() {
  return runCli(['feed', '--url', app.url, '--zone', '7', '--to', join(folder, 'out'), '--once', '--state', join(folder, 'state')]);
}

const delivered = () => idsIn(readFileSync(join(folder, 'out'), 'utf8'));

/** Two events are in a copy of the folder, and two more are only delivered. Then a program runs on the copy, and takes others in. */
async function restore(...logIds: readonly string[]): Promise<void> {
  await take('a', 'b');
  await app.store.settle('flush');
  cpSync(app.dataDir, join(folder, 'copy'), { recursive: true });
  await take('lost-1', 'lost-2');
  expect((await feedOnce()).status).toBe(0);
  await app.stop();
  app = await startApp({ dataDir: join(folder, 'copy') });
  await take(...logIds);
}

test('shieldlog feed says that the program has gone back, and delivers all that came since', async () => {
  await restore('c', 'd', 'e', 'f');
  const { status, stderr } = await feedOnce();
  expect([status, stderr]).toEqual([0, expect.stringContaining('THE FEED HAS GONE BACK')]);
  expect(stderr).toMatch(/going on from where it says \(cursor \S{28}\)/);
  expect(delivered()).toEqual(['a', 'b', 'lost-1', 'lost-2', 'c', 'd', 'e', 'f']);
  expect((await feedOnce()).stderr).not.toContain('GONE BACK');
});

test('shieldlog feed does so, too, where less came since than was lost', async () => {
  await restore('c');
  expect((await feedOnce()).status).toBe(0);
  expect(delivered()).toEqual(['a', 'b', 'lost-1', 'lost-2', 'c']);
});

test('a live tail that comes back is told where it can go on', async () => {
  await restore('c', 'd', 'e', 'f');
  const { cursor } = JSON.parse(readFileSync(join(folder, 'state'), 'utf8'));
  for (const headers of [{ 'last-event-id': cursor }, {}]) {
    const path = tailPath('last-event-id' in headers ? {} : { lastEventId: cursor });
    const { status, body } = await ask(app, path, { headers: { accept: 'text/event-stream', ...headers } });
    expect([status, body.errorKey]).toEqual([416, 'feed.cursor_ahead']);
    const tail = await openTail(app, { lastEventId: body.oldestCursor });
    await eventually('what came since', () => tail.rows.length === 4);
    expect(tail.logIds()).toEqual(['c', 'd', 'e', 'f']);
  }
});
