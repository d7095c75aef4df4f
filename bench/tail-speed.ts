// How far the live tail is behind the intake, and what it costs the intake:
//   node bench/tail-speed.ts [--events-per-second 20000] [--seconds 20] [--watchers 20] [--events 400000]
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inEmptyDataDir } from './data-dir.ts';
import { generateEvents } from './event-generator.ts';
import { count, line, ms } from './figure-line.ts';
import { integerOption } from './integer-option.ts';
import { percentile } from './percentile.ts';
import { type WatchedTail, watchTail } from './tail-clients.ts';

const { values } = parseArgs({
  options: {
    'events-per-second': { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '20' },
    watchers: { type: 'string', default: '20' },
    events: { type: 'string', default: '400000' },
  },
});
const rate = integerOption('events-per-second', values['events-per-second']);
const seconds = integerOption('seconds', values.seconds);
const watcherCount = integerOption('watchers', values.watchers);
const burst = integerOption('events', values.events);

const ZONES = 1_700;
const BATCHES_PER_SECOND = 20;
const BURST_BATCH = 2_000;
const SENDERS = 4;
const ID = /"logId":"([^"]+)"/;

/** What people look for: everything of a small zone, or something of a large one. */
const SEARCHES: readonly object[] = [
  {},
  { filters: [{ field: 'action', op: 'eq', value: ['blocked'] }] },
  { filters: [{ field: 'ip', op: 'cidr', value: ['203.0.0.0/8', '2001:db8::/34'] }] },
  { filters: [{ field: 'url', op: 'wildcard', value: ['*/login*', '*/wp-*'] }] },
  { query: 'sql mozilla' },
];

interface Batch {
  readonly bytes: Buffer;
  readonly logIds: readonly string[];
}

function* batches(seed: number, events: number, size: number): Iterable<Batch> {
  const nowMs = Date.now();
  let lines: Buffer[] = [];
  let logIds: string[] = [];
  for (const event of generateEvents({ seed, count: events, zones: ZONES, nowMs, spanMs: seconds * 1_000 })) {
    lines.push(event);
    logIds.push(ID.exec(event.toString('latin1', 0, 64))?.[1] ?? '');
    if (lines.length === size) {
      yield { bytes: Buffer.concat(lines), logIds };
      [lines, logIds] = [[], []];
    }
  }
}

async function send(url: string, { bytes }: Batch): Promise<void> {
  const response = await fetch(`${url}/ingest/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: bytes,
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`the intake answered ${response.status}: ${text}`);
}

/** Events a second, as fast as they are taken. */
async function sendAll(url: string, seed: number): Promise<number> {
  const all = [...batches(seed, burst, BURST_BATCH)];
  const began = performance.now();
  const queue = all.values();
  const sender = async () => {
    for (const batch of queue) await send(url, batch);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return (all.length * BURST_BATCH) / ((performance.now() - began) / 1000);
}

/** Sends at a steady rate, and notes when; resolves when all are taken in. */
async function sendSteadily(url: string, seed: number, sentAt: Map<string, number>): Promise<void> {
  const all = [...batches(seed, rate * seconds, Math.ceil(rate / BATCHES_PER_SECOND))];
  const began = performance.now();
  const sending: Promise<void>[] = [];
  for (const [index, batch] of all.entries()) {
    const aheadMs = (index * 1000) / BATCHES_PER_SECOND - (performance.now() - began);
    if (aheadMs > 0) await delay(aheadMs);
    const now = performance.now();
    for (const logId of batch.logIds) sentAt.set(logId, now);
    sending.push(send(url, batch));
  }
  await Promise.all(sending);
}

function watchAll(url: string, sentAt: ReadonlyMap<string, number>, idLength: number): Promise<WatchedTail[]> {
  return Promise.all(
    Array.from({ length: watcherCount }, (_, index) => {
      const search = new URLSearchParams({ search: JSON.stringify(SEARCHES[index % SEARCHES.length]) });
      const zone = 1 + Math.floor(index / SEARCHES.length);
      return watchTail(`${url}/shield/event-logs/${zone}/tail?${search}`, idLength, (logId) => sentAt.get(logId));
    }),
  );
}

/** Waits until nothing has come for a second. */
async function settled(tails: readonly WatchedTail[]): Promise<void> {
  const total = () => tails.reduce((sum, { events, dropped }) => sum + events + dropped, 0);
  for (let before = -1; before !== total(); ) {
    before = total();
    await delay(1_000);
  }
}

async function startProgram(dataDir: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    HOST: '127.0.0.1',
    DEMO: 'false',
    UV_THREADPOOL_SIZE: '16',
    MALLOC_ARENA_MAX: '2',
  };
  const child = spawn(process.execPath, ['src/main.ts', 'serve'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-10_000);
  });
  for (;;) {
    const url = /listening on (http:\/\/[^"\s]+)/.exec(log)?.[1];
    if (url !== undefined) return { child, url };
    if (child.exitCode !== null) throw new Error(`the program ended before it listened: ${log}`);
    await delay(20);
  }
}

async function measure(dataDir: string): Promise<string> {
  const { child, url } = await startProgram(dataDir);
  try {
    const idLength = [...batches(1, 1, 1)][0]?.logIds[0]?.length ?? 0;
    await sendAll(url, 1);
    const alone = await sendAll(url, 2);
    const sentAt = new Map<string, number>();
    const tails = await watchAll(url, sentAt, idLength);
    await sendSteadily(url, 3, sentAt);
    await settled(tails);
    const latenciesMs = tails.flatMap((tail) => tail.latenciesMs);
    const dropped = tails.reduce((sum, tail) => sum + tail.dropped, 0);
    sentAt.clear();
    const watched = await sendAll(url, 4);
    await settled(tails);
    const droppedThen = tails.reduce((sum, tail) => sum + tail.dropped, 0) - dropped;
    for (const tail of tails) tail.close();
    return [
      line(`${watcherCount} watchers at ${count(rate)} events/s: events seen`, count(latenciesMs.length)),
      line('from sending an event until a watcher has it: p50', ms(percentile(latenciesMs, 0.5))),
      line('  p99', ms(percentile(latenciesMs, 0.99))),
      line('  longest', ms(percentile(latenciesMs, 1))),
      line('  dropped', count(dropped)),
      line('intake as fast as it goes, nobody watching', `${count(alone)} events/s`),
      line(`intake as fast as it goes, ${watcherCount} watching`, `${count(watched)} events/s; ${count(droppedThen)} dropped`),
    ].join('\n');
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

process.stdout.write(`${await inEmptyDataDir('tail', measure)}\n`);
