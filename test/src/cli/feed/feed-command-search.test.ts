import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { idsIn } from '../../sinks/sample-events.ts';
import { killAll, runCli } from '../cli-process.ts';

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp();
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const out = (): string => join(folder, 'out.ndjson');

const take = (...events: readonly Readonly<Record<string, unknown>>[]) => ingest(app, events.map(eventLine).join(''));

function feed(...more: readonly string[]) {
  const args = ['feed', '--url', app.url, '--zone', '7', '--to', out(), '--once', '--state', join(folder, 'state.json')];
  return runCli([...args, ...more], {});
}

const BLOCKED = ['--search', 'action:blocked -country:NL'];

test('a feed with a search passes on what it finds, once, and goes on behind what it does not', async () => {
  await take({ logId: 'a', action: 'blocked' }, { logId: 'b', action: 'blocked', country: 'NL' }, { logId: 'c', action: 'logged' });
  expect(await feed(...BLOCKED)).toMatchObject({ status: 0 });
  await take({ logId: 'd', action: 'logged' }, { logId: 'e', action: 'blocked' });
  expect((await feed(...BLOCKED)).stderr).toContain('1 events delivered');
  expect(idsIn(readFileSync(out(), 'utf8'))).toEqual(['a', 'e']);
});

test.each([
  [BLOCKED, [], 'is of the feed of zone 7, search "action:blocked -country:NL", not of zone 7;'],
  [[], BLOCKED, 'is of the feed of zone 7, not of zone 7, search "action:blocked -country:NL";'],
  [BLOCKED, ['--search', 'action:logged'], 'not of zone 7, search "action:logged";'],
])('a state with the search %j is refused with %j, which would have left other events out', async (first, second, words) => {
  await take({ logId: 'a', action: 'blocked' });
  expect((await feed(...first)).status).toBe(0);
  expect(await feed(...second)).toMatchObject({ status: 1, stderr: expect.stringContaining(words) });
});

test('what a search says otherwise than it looks is told, and one that the program refuses ends the feed', async () => {
  expect((await feed('--search', 'zone:8')).stderr).toContain('zone');
  const { status, stderr } = await feed('--search', 'ip:~', '--state', join(folder, 'other.json'));
  expect([status, stderr]).toEqual([2, expect.stringContaining('ip:~')]);
});
