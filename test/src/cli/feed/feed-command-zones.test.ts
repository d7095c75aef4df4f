import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { expectedIds, idsIn } from '../../sinks/sample-events.ts';
import { killAll, runCli } from '../cli-process.ts';

/** Keys of one program, as one key that changes: the feed does not know which it was. */
const KEYS = { two: 'key-of-zones-7-and-8', one: 'key-of-one-zone-77', every: 'key-of-every-zone-1' };

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp({ env: { ACCESS_KEYS: `two:${KEYS.two}:7+8,one:${KEYS.one}:7,every:${KEYS.every}:*` } });
  const lines = expectedIds(4).map((logId, index) => eventLine({ logId, shieldZoneId: 7 + (index % 2) }));
  await ingest(app, lines.join(''), { accesskey: KEYS.every });
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const out = (): string => join(folder, 'out.ndjson');

function feedOf(key: keyof typeof KEYS, state = 'state.json') {
  const args = ['feed', '--url', app.url, '--zone', 'all', '--to', out(), '--once', '--state', join(folder, state)];
  return runCli(args, { SHIELDLOG_ACCESS_KEY: KEYS[key] });
}

test.each([
  ['one', '7'],
  ['two', '7,8'],
  ['every', 'all'],
] as const)('the feed of all zones names them: the key of %s has %s', async (key, zones) => {
  const { headers } = await ask(app, '/shield/event-logs/all/feed', { headers: { accesskey: KEYS[key] } });
  expect(headers.get('shield-zones')).toBe(zones);
});

test.each([
  ['two', '(8)'],
  ['every', '(every zone)'],
] as const)('a feed whose key comes to open more zones (%s) ends before it leaves out what these had', async (key, added) => {
  expect((await feedOf('one')).status).toBe(0);
  const { status, stderr } = await feedOf(key);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`the key opens more zones than before ${added}`)]);
  expect(stderr).toContain('state.json');
  expect(idsIn(readFileSync(out(), 'utf8'))).toEqual(['e0', 'e2']);
});

test('a feed whose key comes to open fewer zones goes on, and ends when they come back', async () => {
  expect((await feedOf('two')).status).toBe(0);
  await ingest(app, eventLine({ logId: 'e4' }), { accesskey: KEYS.every });
  expect((await feedOf('one')).status).toBe(0);
  expect(idsIn(readFileSync(out(), 'utf8'))).toEqual(expectedIds(5));
  expect((await feedOf('two')).stderr).toContain('the key opens more zones than before (8)');
});

test('feeds of parts go on from the state of all zones, each with its own, and not from that of another part', async () => {
  const all = ['feed', '--url', app.url, '--zone', 'all', '--once', '--state'];
  const feedOfPart = (part: string, state: string, file: string) =>
    runCli([...all, join(folder, state), '--to', join(folder, file), '--part', part], { SHIELDLOG_ACCESS_KEY: KEYS.every });
  expect((await feedOf('every')).status).toBe(0);
  for (const part of ['1', '2']) copyFileSync(join(folder, 'state.json'), join(folder, `state-${part}.json`));
  const more = [8, 7, -7, 9, 1_000].map((shieldZoneId) => eventLine({ logId: `of-${shieldZoneId}`, shieldZoneId }));
  await ingest(app, more.join(''), { accesskey: KEYS.every });
  for (const part of ['1', '2']) expect((await feedOfPart(`${part}/2`, `state-${part}.json`, `part-${part}`)).status).toBe(0);
  const read = ['1', '2'].map((part) => idsIn(readFileSync(join(folder, `part-${part}`), 'utf8')));
  expect(read).toEqual([
    ['of-8', 'of-1000'],
    ['of-7', 'of--7', 'of-9'],
  ]);
  const { status, stderr } = await feedOfPart('2/2', 'state-1.json', 'part-1');
  expect([status, stderr]).toEqual([1, expect.stringContaining('is of the feed of zone all, part 1/2, not of zone all, part 2/2')]);
});
