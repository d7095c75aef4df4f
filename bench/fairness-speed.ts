// Measures what other callers notice of one that asks for as much as it can:
//   node bench/fairness-speed.ts [--events 1000000] [--clients 60] [--seconds 20]
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '../query/durations.ts';
import { inEmptyDataDir } from './events/event-file.ts';
import { generateEvents } from './events/event-generator.ts';
import { givenOptions } from './options.ts';
import { count, line, ms, percentile, show, tell } from './report/figures.ts';
import { forkSubject } from './subjects/fork-subject.ts';
import type { SearchLoadOrder, SearchLoadReport } from './subjects/search-load-subject.ts';
import { serveProgram } from './subjects/served-program.ts';

const { events, clients, seconds } = givenOptions({ events: 1_000_000, clients: 60, seconds: 20 });

const ZONES = 1_700;
/** More than are taken in one batch of a hundred after the other. */
const MOST_SENT_PER_SECOND = 15_000;
const KEYS = { heavy: 'the-key-that-asks-for-much', light: 'the-key-of-somebody-else', sender: 'the-key-that-sends-events' };
const ACCESS_KEYS = Object.entries(KEYS)
  .map(([name, key]) => `${name}:${key}:*`)
  .join(',');

async function send(url: string, body: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson', accesskey: KEYS.sender };
  const response = await fetch(`${url}/ingest/events`, { method: 'POST', headers, body: new Uint8Array(body) });
  if (response.status !== 202) throw new Error(`the intake answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** Generated events, so many in a body. */
function* bodies(seed: number, total: number, each: number, spanMs: number): Iterable<Buffer> {
  let some: Buffer[] = [];
  for (const event of generateEvents({ seed, count: total, zones: ZONES, nowMs: Date.now(), spanMs })) {
    some.push(event);
    if (some.length === each) {
      yield Buffer.concat(some);
      some = [];
    }
  }
  if (some.length > 0) yield Buffer.concat(some);
}

/** The first page of a small zone, as somebody looks at it. */
async function lightSearch(url: string): Promise<number> {
  const now = Date.now();
  const began = performance.now();
  const response = await fetch(`${url}/shield/event-logs/900/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accesskey: KEYS.light },
    body: JSON.stringify({ from: now - DAY_MS, to: now, pageSize: 20 }),
  });
  if (response.status !== 200) throw new Error(`a light search was answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  return performance.now() - began;
}

async function health(url: string): Promise<number> {
  const began = performance.now();
  await (await fetch(`${url}/healthz`)).arrayBuffer();
  return performance.now() - began;
}

interface Noticed {
  readonly lightMs: readonly number[];
  readonly healthMs: readonly number[];
  /** Of batches of 100 events, one after the other. */
  readonly intakePerSecond: number;
}

/** What callers notice for some seconds. All of it is in this process, which has little to do. */
async function notice(url: string, seed: number): Promise<Noticed> {
  const batches = [...bodies(seed, MOST_SENT_PER_SECOND * seconds, 100, 60_000)];
  const beganMs = performance.now();
  const endMs = beganMs + seconds * 1000;
  const every = async (pauseMs: number, ask: (url: string) => Promise<number>): Promise<number[]> => {
    const times: number[] = [];
    while (performance.now() < endMs) {
      times.push(await ask(url));
      await delay(pauseMs);
    }
    return times;
  };
  let sent = 0;
  const sendAll = async (): Promise<void> => {
    for (const body of batches) {
      if (performance.now() >= endMs) return;
      await send(url, body);
      sent += 100;
    }
  };
  const [lightMs, healthMs] = await Promise.all([every(50, lightSearch), every(20, health), sendAll()]);
  return { lightMs, healthMs, intakePerSecond: sent / ((performance.now() - beganMs) / 1000) };
}

function showNoticed(when: string, { lightMs, healthMs, intakePerSecond }: Noticed): void {
  show(`${when}`);
  show(line('  a light search of another key: p50', ms(percentile(lightMs, 0.5))));
  show(line('    p95', ms(percentile(lightMs, 0.95))));
  show(line('  /healthz: p99', ms(percentile(healthMs, 0.99))));
  show(line('  intake in batches of 100', `${count(intakePerSecond)} events/s`));
}

/** Milliseconds until ten light searches in a row take no longer than before. */
async function untilBack(url: string, usualMs: number): Promise<number> {
  const began = performance.now();
  for (let inARow = 0; inARow < 10; ) {
    inARow = (await lightSearch(url)) <= usualMs ? inARow + 1 : 0;
    await delay(20);
  }
  return performance.now() - began;
}

async function measure(dataDir: string): Promise<void> {
  const { child, url } = await serveProgram(dataDir, { ACCESS_KEYS });
  try {
    tell(`${count(events)} events to begin with`);
    for (const body of bodies(1, events, 2_000, DAY_MS)) await send(url, body);
    await notice(url, 2);
    const alone = await notice(url, 3);
    showNoticed('alone', alone);
    tell(`${clients} clients of one key`);
    const order: SearchLoadOrder = { url, accessKey: KEYS.heavy, clients, seconds: 2 * seconds, spanMs: DAY_MS };
    const load = forkSubject<SearchLoadReport>('search-load-subject.ts', order);
    const beside = await notice(url, 4);
    showNoticed(`beside ${clients} clients of one key`, beside);
    show(
      line('  the light search, p95 to p95', `${(percentile(beside.lightMs, 0.95) / percentile(alone.lightMs, 0.95)).toFixed(1)} times`),
    );
    show(line('  the intake', `${((100 * beside.intakePerSecond) / alone.intakePerSecond).toFixed(0)}%`));
    const { statuses } = await load;
    show(line('  answers to those clients, by status', JSON.stringify(statuses)));
    show(line('until light searches are as fast as before', ms(await untilBack(url, percentile(alone.lightMs, 0.95)))));
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

await inEmptyDataDir('fairness', measure);
