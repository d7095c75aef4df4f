import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { startForgetfulSite } from '../../openapi/forgetful-site.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { expectedIds, idsIn } from '../../sinks/sample-events.ts';
import { type CliProcess, killAll, runCli, startCli } from '../cli-process.ts';
import { type FaultyFeed, type FeedFault, faultyFeed } from './feed-faults.ts';

const KEY = 'key-of-every-zone-1';

let app: RunningApp;
let folder: string;
let proxy: FaultyFeed | null;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*,zone:${KEY}7:7` } });
  proxy = null;
});

afterEach(async () => {
  await killAll();
  await proxy?.stop();
  await app.stop();
});

const out = (name = 'out.ndjson'): string => join(folder, name);
const written = (name?: string): string[] => (existsSync(out(name)) ? idsIn(readFileSync(out(name), 'utf8')) : []);

/** Events `e<first>`… of a zone. */
async function takeIn(count: number, first = 0, zone = 7): Promise<void> {
  const lines = expectedIds(count, first).map((logId) => eventLine({ logId, shieldZoneId: zone }));
  expect((await ingest(app, lines.join(''), { accesskey: KEY })).body.accepted).toBe(count);
}

interface FeedRun {
  readonly to?: string;
  readonly zone?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
}

function command(args: readonly string[], { to = out(), zone = '7', url = app.url }: FeedRun): string[] {
  return ['feed', '--url', url, '--zone', zone, '--to', to, ...args];
}

const environment = (env: FeedRun['env']) => ({ SHIELDLOG_ACCESS_KEY: KEY, XDG_STATE_HOME: join(folder, 'state'), ...env });
const feedOnce = (args: readonly string[] = [], run: FeedRun = {}) => runCli(command(['--once', ...args], run), environment(run.env));
const follow = (args: readonly string[] = [], run: FeedRun = {}): CliProcess => startCli(command(args, run), environment(run.env));

async function faulty(...faults: FeedFault[]): Promise<string> {
  proxy = await faultyFeed(app.url, faults);
  return proxy.url;
}

describe('shieldlog feed', () => {
  test('writes what there is, in order, and goes on from there the next time', async () => {
    await takeIn(25);
    const first = await feedOnce(['--limit', '10']);
    expect(first).toEqual({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(/^shieldlog feed: 25 events delivered to .*out\.ndjson; state: .*\.json\n$/),
    });
    await takeIn(5, 25);
    expect((await feedOnce()).status).toBe(0);
    expect((await feedOnce()).status).toBe(0);
    expect(written()).toEqual(expectedIds(30));
    const [state] = readdirSync(join(folder, 'state', 'shieldlog')).filter((name) => name.endsWith('.json'));
    expect(state).toMatch(/^feed-[0-9a-f]{16}\.json$/);
  });

  test('follows the program: events are written as they come in, and SIGTERM ends it with status 0', async () => {
    const feed = follow();
    for (const first of [0, 3, 6]) {
      await takeIn(3, first);
      await eventually('the events are in the file', () => written().length === first + 3);
    }
    feed.child.kill('SIGTERM');
    expect(await feed.ended).toBe(0);
    expect(written()).toEqual(expectedIds(9));
    expect(feed.stderr()).toContain('9 events delivered');
  });

  test('takes several zones, or all that the key opens', async () => {
    await takeIn(2, 0, 7);
    await takeIn(2, 2, 8);
    await takeIn(2, 4, 9);
    await feedOnce([], { zone: '9,7', to: out('some') });
    await feedOnce([], { zone: 'all', to: out('all') });
    await feedOnce([], { zone: 'all', to: out('mine'), env: { SHIELDLOG_ACCESS_KEY: `${KEY}7` } });
    expect([written('some'), written('all'), written('mine')]).toEqual([['e0', 'e1', 'e4', 'e5'], expectedIds(6), ['e0', 'e1']]);
  });

  test('begins with what is to come where that is asked for and there is no state', async () => {
    await takeIn(3);
    await feedOnce(['--from-now']);
    await takeIn(2, 3);
    await feedOnce(['--from-now']);
    expect(written()).toEqual(['e3', 'e4']);
  });

  test('begins with the oldest where it is told that it has missed events, and not from where to go on', async () => {
    await takeIn(2);
    const { stderr } = await feedOnce(['--from-now'], { url: await faulty({ status: 416, body: '{}' }) });
    expect(stderr).toContain('EVENTS WERE MISSED');
    expect(written()).toEqual(expectedIds(2));
  });

  test('goes on at another address of the program with the same state', async () => {
    const url = await faulty();
    await takeIn(2);
    const feed = follow(['--wait', '1'], { url });
    await eventually('the first events are in the file', () => written().length === 2);
    await proxy?.stop();
    await eventually('the feed has noticed', () => feed.stderr().includes('nothing is listening'));
    await takeIn(2, 2);
    feed.child.kill('SIGINT');
    expect(await feed.ended).toBe(0);
    // At the same state, because that knows the feed by its address.
    const state = readdirSync(join(folder, 'state', 'shieldlog')).find((name) => name.endsWith('.json'));
    await feedOnce(['--state', join(folder, 'state', 'shieldlog', state ?? '')]);
    expect(written()).toEqual(expectedIds(4));
  });

  test.each<[string, FeedFault[], RegExp]>([
    ['ends before its last line', ['cut'], /broke off/],
    ['is reset in the middle', ['reset', 'reset'], /the connection to/],
    [
      'is a 503',
      [{ status: 503, headers: { 'retry-after': '1' }, body: '{"detail":"stopping"}' }],
      // The second that is asked for and up to another, in tenths: the longest are told as 2.0.
      /answered 503: stopping; trying again in (1\.\d|2\.0) s/,
    ],
    ['is a 429', [{ status: 429 }], /answered 429/],
    [
      'has another count in its last line',
      [{ status: 200, body: '{}\n{"cursor":"c","more":false,"count":7}\n' }],
      /has 1 lines, but its last line says 7/,
    ],
  ])('reads an answer again that %s', async (_what, faults, words) => {
    await takeIn(20);
    const { status, stderr } = await feedOnce([], { url: await faulty(...faults) });
    expect([status, stderr]).toEqual([0, expect.stringMatching(words)]);
    expect(stderr).toContain('works again');
    expect(written()).toEqual(expectedIds(20));
  });

  test('says so when the retention was faster, and goes on from the oldest event there is', async () => {
    const site = await startForgetfulSite();
    try {
      const state = join(folder, 'state.json');
      writeFileSync(state, JSON.stringify({ url: '', zone: '7', format: 'native', to: '', cursor: site.expiredCursor, position: null }));
      await ingest(site, eventLine({ logId: 'next', timestamp: Date.now() }));
      const { status, stderr } = await feedOnce(['--state', state], { url: site.url });
      expect([status, stderr]).toEqual([0, expect.stringContaining('EVENTS WERE MISSED')]);
      expect(stderr).toContain('raise RETENTION_HOURS');
      expect(written().at(-1)).toBe('next');
      expect((await feedOnce(['--state', state], { url: site.url })).stderr).not.toContain('MISSED');
    } finally {
      await site.stop();
    }
  });

  test.each([
    ['the key is unknown', { env: { SHIELDLOG_ACCESS_KEY: 'unknown-key-12345' } }, 'answered 401: '],
    ['the key does not open the zone', { env: { SHIELDLOG_ACCESS_KEY: `${KEY}7` }, zone: '8' }, 'answered 403: '],
  ] as const)('ends with status 1 where %s', async (_what, run, words) => {
    const { status, stderr } = await feedOnce([], run);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/shieldlog: GET http:\/\/127\.0\.0\.1:\d+\/shield\/event-logs\/[78]\/feed answered 40[13]: .+\n$/),
    ]);
    expect(stderr).toContain(words);
  });

  test('ends with status 1 where the state is of another program, and says what to do', async () => {
    await feedOnce([], { url: await faulty({ status: 200, body: '{"cursor":"AAAA","more":false,"count":0}\n' }) });
    const [state = ''] = readdirSync(join(folder, 'state', 'shieldlog')).filter((name) => name.endsWith('.json'));
    const { status, stderr } = await feedOnce(['--state', join(folder, 'state', 'shieldlog', state)]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/answered 400: .*; the state is of another program: remove it, or name another with --state\n$/),
    ]);
  });

  test('refuses a state that another one is using, and takes it over when that was killed', async () => {
    const state = join(folder, 'one.json');
    await takeIn(1);
    const first = follow(['--state', state]);
    await eventually('the first has begun', () => written().length === 1);
    const second = await feedOnce(['--state', state]);
    expect(second).toEqual({
      status: 1,
      stdout: '',
      stderr: `shieldlog: the state ${state} cannot be used: another shieldlog feed is using it; give each its own with --state\n`,
    });
    first.child.kill('SIGKILL');
    await first.ended;
    expect((await feedOnce(['--state', state])).status).toBe(0);
    expect(written()).toEqual(['e0']);
  });

  test.each([
    ['is of another zone', '{"zone":"8","cursor":null}', 'is of the feed of zone 8, not of zone 7; name'],
    ['is of a part', '{"zone":"7","part":"1/2","cursor":null}', 'is of the feed of zone 7, part 1/2, not of zone 7; name'],
    ['is nonsense', 'nonsense', 'is not one of shieldlog feed'],
  ])('refuses a state that %s', async (_what, text, words) => {
    writeFileSync(join(folder, 'state.json'), text);
    const { status, stderr } = await feedOnce(['--state', join(folder, 'state.json')]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(words)]);
  });
});

describe('shieldlog feed to standard output', () => {
  test('writes the events there and all else to standard error', async () => {
    await takeIn(3);
    const { status, stdout, stderr } = await feedOnce([], { to: '-' });
    expect([status, idsIn(stdout)]).toEqual([0, expectedIds(3)]);
    expect(stderr).toMatch(/^shieldlog feed: 3 events delivered to standard output; state: .*\n$/);
  });

  test('what it writes can be sent in again, and is the same', async () => {
    await takeIn(5);
    const first = await feedOnce([], { to: '-' });
    const other = await startApp();
    try {
      expect((await ingest(other, first.stdout)).body.accepted).toBe(5);
      const second = await feedOnce([], { to: '-', url: other.url });
      expect(second.stdout).toBe(first.stdout);
    } finally {
      await other.stop();
    }
  });

  test('ends quietly when its reader has gone, and has not counted what that did not take', async () => {
    await takeIn(3);
    const feed = follow([], { to: '-' });
    await eventually('the first events are there', () => idsIn(feed.stdout()).length === 3);
    feed.child.stdout?.destroy();
    await takeIn(2, 3);
    expect(await feed.ended).toBe(0);
    expect(feed.stderr()).toMatch(/^shieldlog feed: 3 events delivered to standard output; state: .*\n$/);
    expect(idsIn((await feedOnce([], { to: '-' })).stdout)).toEqual(['e3', 'e4']);
  });
});
