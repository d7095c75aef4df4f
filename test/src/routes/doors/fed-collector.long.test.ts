import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli } from '../../cli/cli-process.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';

const EVENTS = 2_000;
const KILLS = 3;
const KEY = 'key-of-the-other-one';

let app: RunningApp;
let folder: string;
let port: string;
let other: CliProcess;

async function startOther(at: string): Promise<string> {
  other = startCli(['serve', '--port', at, '--data-dir', join(folder, 'data')], { ACCESS_KEYS: `feed:${KEY}:*` });
  return await addressOf(other);
}

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp();
  const lines = Array.from({ length: EVENTS }, (_, index) => eventLine({ logId: `fed-${index}`, log: { text: `"${index}" ü` } }));
  expect((await ingest(app, lines.join(''))).body.accepted).toBe(EVENTS);
  ({ port } = new URL(await startOther('0')));
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const args = (...more: string[]): string[] => [
  ...['feed', '--url', app.url, '--zone', '7', '--to', `splunk-hec+http://127.0.0.1:${port}`, '--limit', '50'],
  ...['--state', join(folder, 'state.json'), ...more],
];
const environment = { SHIELDLOG_SINK_TOKEN: KEY };

/** The ids of the events that the other program has, in the order of its feed. */
async function idsThere(): Promise<readonly string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/shield/event-logs/7/feed?limit=100000`, { headers: { accesskey: KEY } });
  return [...(await answer.text()).matchAll(/"logId":"(fed-\d+)"/g)].map(([, id = '']) => id);
}

async function expectAllOnce(): Promise<void> {
  const { status, stderr } = await runCli(args('--once'), environment);
  expect([status, stderr]).toEqual([0, expect.stringContaining('events delivered')]);
  const ids = await idsThere();
  expect([ids.length, new Set(ids).size]).toEqual([EVENTS, EVENTS]);
  const letters = await fetch(`http://127.0.0.1:${port}/ingest/dead-letters`, { headers: { accesskey: KEY } });
  expect(await letters.json()).toMatchObject({ deadLetters: [] });
}

describe('the feed of one program into the collector of another gives it each event once', () => {
  test('where the feed is killed', async () => {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const feed = startCli(args(), environment);
      await eventually('the feed has got further', async () => (await idsThere()).length > (EVENTS / (KILLS + 2)) * (kill - 1));
      feed.child.kill('SIGKILL');
      await feed.ended;
    }
    await expectAllOnce();
  });

  test('where the other program is killed', async () => {
    const feed = startCli(args(), environment);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await eventually('the feed has got further', async () => (await idsThere()).length > (EVENTS / (KILLS + 2)) * (kill - 1));
      other.child.kill('SIGKILL');
      await other.ended;
      await startOther(port);
    }
    feed.child.kill('SIGTERM');
    await feed.ended;
    await expectAllOnce();
  });
});
