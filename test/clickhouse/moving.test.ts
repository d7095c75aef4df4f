import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { generateEvents } from '../../bench/events/event-generator.ts';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { HOUR_MS } from '../../query/durations.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { runSeed } from '../random/run-seed.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli } from '../src/cli/cli-process.ts';
import { clickhouseUrl, testDatabase } from './engine.ts';

const ZONES = 5;
const EVENTS = 10_000;
const MORE = 1_000;
/** The feed is killed once the target has so many, or up to as many more. */
const KILLED_FROM = 1_000;
const KILLED_WITHIN = 5_000;
const SPAN_MS = 50 * HOUR_MS;
const KEY = 'key-of-the-mover-1';
const ENV = { ACCESS_KEYS: `mover:${KEY}:*` };

afterEach(killAll);

/** Events without some of their fields, with texts in several scripts, and of several kinds of ids. */
function events(seed: number, count: number, nowMs: number): string[] {
  return [...generateEvents({ seed, count, zones: ZONES, nowMs, spanMs: SPAN_MS })].map((line, index) => {
    const event = JSON.parse(line.toString());
    if (index % 3 === 0) event.logId = `${seed}-${index}: ключ\t"鍵"`;
    if (index % 5 === 0) event.country = undefined;
    if (index % 7 === 0) event.ruleName = '';
    if (index % 11 === 0) event.log = { amount: 1.5e300, big: 12345678901234567890n.toString(), text: '\u2028🦊' };
    return `${JSON.stringify(event)}\n`;
  });
}

async function ask(url: string, path: string, type: string, body: string): Promise<string> {
  const headers = { accesskey: KEY, 'content-type': type, accept: 'application/x-ndjson, application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return text;
}

async function takeIn(url: string, lines: readonly string[]): Promise<void> {
  const { accepted } = JSON.parse(await ask(url, '/ingest/events', 'application/x-ndjson', lines.join('')));
  expect(accepted).toBe(lines.length);
}

test('shieldlog feed moves the events of a folder to ClickHouse and back, killed in the middle, while others come in', async () => {
  const random = new SeededRandom(runSeed());
  const folder = temporaryFolder();
  const nowMs = Date.now();
  const window = { from: nowMs - SPAN_MS - HOUR_MS, to: nowMs + 1 };
  const { name } = await testDatabase();
  const serve = (directory: string, env = {}) =>
    addressOf(startCli(['serve', '--port', '0', '--data-dir', join(folder, directory)], { ...ENV, ...env }));
  const total = async (url: string): Promise<number> =>
    JSON.parse(await ask(url, '/shield/event-logs/all/explore', 'application/json', JSON.stringify({ ...window, pageSize: 0 }))).total;
  /** The number of events and a checksum of them, by zone and hour. */
  const sums = async (url: string): Promise<Readonly<Record<string, string>>> => {
    const rows = await ask(url, '/shield/event-logs/all/export', 'application/json', JSON.stringify(window));
    const byHour = Map.groupBy(rows.trimEnd().split('\n'), (row) => {
      const { shieldZoneId, timestamp } = JSON.parse(row);
      return `${shieldZoneId} ${Math.floor(timestamp / HOUR_MS)}`;
    });
    const sumOf = (of: readonly string[]) => `${of.length} ${createHash('sha256').update(of.toSorted().join('\n')).digest('hex')}`;
    return Object.fromEntries([...byHour].map(([key, of]) => [key, sumOf(of)]));
  };
  const feedArgs = (from: string, to: string, state: string): string[] => [
    ...['feed', '--url', from, '--zone', 'all', '--to', `${to}/ingest/events`, '--limit', '1000', '--state', join(folder, state)],
  ];
  const keys = { SHIELDLOG_ACCESS_KEY: KEY, SHIELDLOG_SINK_TOKEN: KEY };
  const startFeed = (from: string, to: string, state: string): CliProcess => startCli(feedArgs(from, to, state), keys);
  /** Starts the feed, kills it somewhere in the middle, and starts it again. */
  const killedFeed = async (from: string, to: string, state: string): Promise<CliProcess> => {
    const until = KILLED_FROM + random.below(KILLED_WITHIN);
    const feed = startFeed(from, to, state);
    // It stands while it is asked how far it is, which may take longer than the rest of the way.
    await eventually(`${until} events are there`, async () => {
      if (feed.child.exitCode !== null) throw new Error(`the feed ended: ${feed.stderr()}`);
      feed.child.kill('SIGSTOP');
      const isThere = (await total(to)) >= until;
      feed.child.kill(isThere ? 'SIGKILL' : 'SIGCONT');
      return isThere;
    });
    await feed.ended;
    expect(await total(to)).toBeLessThan(EVENTS);
    return startFeed(from, to, state);
  };

  const old = await serve('old');
  const clickhouse = await serve('new', { STORE: 'clickhouse', CLICKHOUSE_URL: clickhouseUrl(), CLICKHOUSE_DATABASE: name });
  await takeIn(old, events(1, EVENTS, nowMs));
  const feed = await killedFeed(old, clickhouse, 'there.json');
  await takeIn(old, events(2, MORE, nowMs));
  // The senders switch, and some of them send again what the old program had.
  const late = events(3, MORE, nowMs);
  await takeIn(clickhouse, [...events(2, MORE, nowMs).slice(0, MORE / 2), ...late]);
  await eventually('everything is there', async () => (await total(clickhouse)) === EVENTS + 2 * MORE);
  feed.child.kill('SIGTERM');
  expect(await feed.ended, feed.stderr()).toBe(0);
  const drained = await runCli([...feedArgs(old, clickhouse, 'there.json'), '--once'], keys);
  expect([drained.status, drained.stderr]).toEqual([0, expect.stringContaining('shieldlog feed: 0 events delivered')]);
  await takeIn(old, late);
  const moved = await sums(clickhouse);
  expect(moved).toEqual(await sums(old));

  const back = await serve('back');
  const feedBack = await killedFeed(clickhouse, back, 'back.json');
  await eventually('everything is back', async () => (await total(back)) === EVENTS + 2 * MORE);
  feedBack.child.kill('SIGTERM');
  expect(await feedBack.ended, feedBack.stderr()).toBe(0);
  expect(await sums(back)).toEqual(moved);
});
