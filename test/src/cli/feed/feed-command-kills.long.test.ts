import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { seededRandom } from '../../../../ingest/demo/seeded-random.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { runSeed } from '../../../random/run-seed.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { hecListener } from '../../sinks/hec-listener.ts';
import { httpListener } from '../../sinks/http-listener.ts';
import { expectedIds, idsIn } from '../../sinks/sample-events.ts';
import { syslogListener } from '../../sinks/syslog-listener.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli } from '../cli-process.ts';

const EVENTS = 300;
const LIMIT = 7;
/** For the slower receivers half as many. */
const KILLS = 8;

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

async function takeIn(url: string, count: number, first = 0): Promise<void> {
  const lines = expectedIds(count, first).map((logId) => eventLine({ logId }));
  expect((await ingest({ url }, lines.join(''))).body.accepted).toBe(count);
}

const feedArgs = (to: string, ...more: string[]): string[] => [
  ...['feed', '--url', app.url, '--zone', '7', '--to', to, '--limit', String(LIMIT), '--state', join(folder, 'state.json')],
  ...more,
];
const environment = { SHIELDLOG_SINK_TOKEN: 'hec-token' };
const start = (to: string, ...more: string[]): CliProcess => startCli(feedArgs(to, ...more), environment);

/**
 * Waits until there are so many, for as long as they become more within a minute: the feed may pause for half of one between two attempts.
 */
async function grown(what: string, count: () => number, until: number): Promise<void> {
  for (let now = count(); now < until; now = count()) {
    await eventually(`${what}: more than ${now} of ${until}`, () => count() > now);
  }
}

/** Returns the content of the files, in the order in which they were written. */
function idsInFiles(): string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith('out'));
  const number = (name: string): number => Number(/-(\d+)\.ndjson$/.exec(name)?.[1] ?? Number.MAX_SAFE_INTEGER);
  try {
    return names.sort((a, b) => number(a) - number(b)).flatMap((name) => idsIn(readFileSync(join(folder, name), 'utf8')));
  } catch (error) {
    // The feed has given a file another name since they were listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return idsInFiles();
    }
    throw error;
  }
}

/**
 * Holds what a receiver got against what was sent: everything, in order; where something came twice, it goes back by no more than a batch,
 * and no more often than somebody was killed.
 */
function expectOnlySeams(ids: readonly string[], kills: number): void {
  let [next, seams] = [0, 0];
  for (const id of ids) {
    const number = Number(id.slice(1));
    if (number !== next) {
      seams += 1;
      expect([id, number < next && number >= next - LIMIT]).toEqual([id, true]);
    }
    next = number + 1;
  }
  expect(next).toBe(EVENTS);
  expect(seams).toBeLessThanOrEqual(kills);
}

const random = seededRandom(runSeed());

/** Starts the feed again and again, and kills it once `progress` has grown by so much, any number from nothing to some batches. */
async function killAgainAndAgain(kills: number, to: string, progress: () => number, ...more: string[]): Promise<void> {
  for (let kill = 0; kill < kills; kill += 1) {
    const until = Math.min(EVENTS, progress() + random.below(4 * LIMIT));
    const feed = start(to, ...more);
    await grown('the feed has got so far', () => (feed.child.exitCode === null ? progress() : until), until);
    feed.child.kill('SIGKILL');
    await feed.ended;
  }
  const { status, stderr } = await runCli(feedArgs(to, '--once', ...more), environment);
  expect([status, stderr]).toEqual([0, expect.stringContaining('events delivered')]);
}

describe('shieldlog feed, killed at any moment,', () => {
  test('has every event in the files exactly once, in order, no line torn', async () => {
    await takeIn(app.url, EVENTS);
    const rotation = ['--rotate-size', '3000', '--rotate-name', '{stem}-{n}{ext}'];
    await killAgainAndAgain(KILLS, join(folder, 'out.ndjson'), () => idsInFiles().length, ...rotation);
    expect(idsInFiles()).toEqual(expectedIds(EVENTS));
    expect(readdirSync(folder).length).toBeGreaterThan(10);
  });

  test('loses nothing on the way to an HTTP receiver', async () => {
    await takeIn(app.url, EVENTS);
    const listener = await httpListener(() => ({ status: 200 }));
    onTestFinished(() => listener.stop());
    const ids = (): string[] => listener.received.flatMap(({ body }) => idsIn(body));
    await killAgainAndAgain(KILLS, listener.url.href, () => ids().length);
    expectOnlySeams(ids(), KILLS);
  });

  test('loses nothing on the way to a syslog receiver', async () => {
    await takeIn(app.url, EVENTS);
    const listener = await syslogListener(() => 'read');
    onTestFinished(() => listener.stop());
    await killAgainAndAgain(KILLS / 2, `syslog+tcp://127.0.0.1:${listener.port}`, () => listener.messages.length);
    const ids = listener.messages.map((message) => JSON.parse(message.slice(message.indexOf('{'))).logId as string);
    expectOnlySeams(ids, KILLS / 2);
  });

  test('loses nothing on the way to Splunk', async () => {
    await takeIn(app.url, EVENTS);
    const listener = await hecListener({ acknowledges: (question) => question % 3 > 0 });
    onTestFinished(() => listener.stop());
    await killAgainAndAgain(KILLS / 2, `splunk-hec+${listener.url.href}`, () => listener.events.length);
    expectOnlySeams(
      listener.events.map(({ event }) => (event as { readonly logId: string }).logId),
      KILLS / 2,
    );
  });
});

describe('shieldlog feed, when the other side is killed,', () => {
  test('goes on when the program is back, and has every event once', async () => {
    const data = join(folder, 'data');
    let program = startCli(['serve', '--port', '0', '--data-dir', data]);
    const url = await addressOf(program);
    const feed = startCli(feedArgs(join(folder, 'out.ndjson'), '--url', url));
    for (let round = 0; round < 2; round += 1) {
      await takeIn(url, 50, round * 50);
      // Somewhere in the middle of these.
      await eventually('some of it has come', () => idsInFiles().length > round * 50);
      program.child.kill('SIGKILL');
      await program.ended;
      program = startCli(['serve', '--port', new URL(url).port, '--data-dir', data]);
      await addressOf(program);
    }
    await grown('all of it has come', () => idsInFiles().length, 100);
    feed.child.kill('SIGTERM');
    expect(await feed.ended).toBe(0);
    expect(idsInFiles()).toEqual(expectedIds(100));
  });

  test('goes on when the receiver is back, and loses nothing', async () => {
    await takeIn(app.url, EVENTS);
    const ids = new Set<string>();
    const STOPS = 3;
    let port = 0;
    let feed: CliProcess | null = null;
    for (let stops = 0; stops <= STOPS; stops += 1) {
      const until = (EVENTS / (STOPS + 1)) * (stops + 1);
      const listener = await httpListener(
        ({ body }) => {
          for (const id of idsIn(body)) ids.add(id);
          // The last request that it takes it does not answer.
          return ids.size >= until && stops < STOPS ? 'reset' : { status: 200 };
        },
        { port },
      );
      port = Number(listener.url.port);
      feed ??= start(listener.url.href);
      await grown('it has so many', () => ids.size, until);
      if (stops === STOPS) {
        feed.child.kill('SIGTERM');
        expect(await feed.ended).toBe(0);
      }
      await listener.stop();
    }
    expect([...ids]).toEqual(expectedIds(EVENTS));
    expect(feed?.stderr()).toContain('works again');
  });
});

describe('shieldlog feed, told to stop,', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('by %s finishes the batch under way and has it in its state', async (signal) => {
    await takeIn(app.url, 3);
    let feed: CliProcess | null = null;
    const listener = await hecListener({
      // The signal comes while the batch is sent but not yet acknowledged.
      acknowledges: (question) => {
        if (question === 1) feed?.child.kill(signal);
        return question > 2;
      },
    });
    onTestFinished(() => listener.stop());
    feed = start(`splunk-hec+${listener.url.href}`);
    expect(await feed.ended).toBe(0);
    expect(feed.stderr()).toContain('3 events delivered');
    await runCli(feedArgs(`splunk-hec+${listener.url.href}`, '--once'), environment);
    expect(listener.events).toHaveLength(3);
  });

  test('gives a batch up that nobody accepts, and sends it the next time', async () => {
    await takeIn(app.url, 3);
    let acknowledges = false;
    const listener = await hecListener({ acknowledges: () => acknowledges });
    onTestFinished(() => listener.stop());
    const feed = start(`splunk-hec+${listener.url.href}`);
    await eventually('the batch is there', () => listener.events.length === 3);
    feed.child.kill('SIGTERM');
    expect(await feed.ended).toBe(0);
    expect(feed.stderr()).toContain('0 events delivered');
    acknowledges = true;
    await runCli(feedArgs(`splunk-hec+${listener.url.href}`, '--once'), environment);
    expect(listener.events).toHaveLength(6);
  });

  test('while it waits for a receiver that is away, ends at once', async () => {
    await takeIn(app.url, 3);
    const listener = await httpListener(() => ({ status: 503, headers: { 'retry-after': '3600' } }));
    onTestFinished(() => listener.stop());
    const feed = start(listener.url.href);
    await eventually('it waits', () => feed.stderr().includes('trying again in 36'));
    feed.child.kill('SIGTERM');
    expect(await feed.ended).toBe(0);
  });
});
