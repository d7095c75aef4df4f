// Measures the delay of the live tail after the intake, and its cost for the intake:
//   node bench/tail-speed.ts [--events-per-second 20000] [--seconds 15] [--watchers 20] [--events 200000] [--batch 1000]
import { once } from 'node:events';
import { glob, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BENCH_DATA, inEmptyDataDir } from './events/event-file.ts';
import { generateEvents } from './events/event-generator.ts';
import { givenOptions } from './options.ts';
import { count, line, ms, percentile, show, tell } from './report/figures.ts';
import type { EventSenderOrder, EventSenderReport } from './subjects/event-sender-subject.ts';
import { forkSubject } from './subjects/fork-subject.ts';
import { serveProgram } from './subjects/served-program.ts';

/** A client of a live tail and what it has received. */
interface WatchedTail {
  readonly events: number;
  /** Events that the program reported as dropped. */
  readonly dropped: number;
  /** The time of arrival of each event, Unix ms. */
  readonly arrivals: readonly { readonly logId: string; readonly atMs: number }[];
  close(): void;
}

const EVENT = 'data: {"logId":"';
const DROPPED = 'event: dropped\ndata: {"count":';

/** Opens a tail and parses as little of it as possible, because it shares the cores of the program. Every `logId` has `idLength`. */
async function watchTail(url: string, idLength: number): Promise<WatchedTail> {
  const request = get(url, { agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} was answered ${response.statusCode}`);
  const arrivals: { readonly logId: string; readonly atMs: number }[] = [];
  let [events, dropped, rest] = [0, 0, ''];
  response.setEncoding('latin1');
  response.on('error', () => {});
  response.on('data', (chunk: string) => {
    const atMs = performance.timeOrigin + performance.now();
    const text = rest + chunk;
    const end = text.lastIndexOf('\n\n') + 2;
    if (end < 2) {
      rest = text;
      return;
    }
    const whole = text.slice(0, end);
    rest = text.slice(end);
    for (let index = whole.indexOf(EVENT); index !== -1; index = whole.indexOf(EVENT, index + EVENT.length)) {
      events += 1;
      arrivals.push({ logId: whole.slice(index + EVENT.length, index + EVENT.length + idLength), atMs });
    }
    for (let index = whole.indexOf(DROPPED); index !== -1; index = whole.indexOf(DROPPED, index + DROPPED.length)) {
      dropped += Number.parseInt(whole.slice(index + DROPPED.length), 10);
    }
  });
  return {
    get events() {
      return events;
    },
    get dropped() {
      return dropped;
    },
    arrivals,
    close: () => request.destroy(),
  };
}

const {
  'events-per-second': rate,
  seconds,
  watchers: watcherCount,
  events: burst,
  batch,
} = givenOptions({ 'events-per-second': 20_000, seconds: 15, watchers: 20, events: 200_000, batch: 1_000 });

const ZONES = 1_700;
const [someEvent = Buffer.alloc(0)] = generateEvents({ seed: 1, count: 1, zones: ZONES, nowMs: Date.now(), spanMs: 1_000 });
const idLength = /"logId":"([^"]+)"/.exec(someEvent.toString('latin1'))?.[1]?.length ?? 0;

/** Searches of usual tails. */
const SEARCHES: readonly object[] = [
  {},
  { filters: [{ field: 'action', op: 'eq', value: ['blocked'] }] },
  { filters: [{ field: 'ip', op: 'cidr', value: ['203.0.0.0/8', '2001:db8::/34'] }] },
  { filters: [{ field: 'url', op: 'wildcard', value: ['*/login*', '*/wp-*'] }] },
  { query: 'sql mozilla' },
];

function sendFrom(order: Pick<EventSenderOrder, 'url' | 'seed' | 'events' | 'rate'>): Promise<EventSenderReport> {
  return forkSubject<EventSenderReport>('event-sender-subject.ts', { ...order, zones: ZONES, batch });
}

function watchAll(url: string): Promise<WatchedTail[]> {
  return Promise.all(
    Array.from({ length: watcherCount }, (_, index) => {
      const search = new URLSearchParams({ search: JSON.stringify(SEARCHES[index % SEARCHES.length]) });
      const zone = 1 + Math.floor(index / SEARCHES.length);
      return watchTail(`${url}/shield/event-logs/${zone}/tail?${search}`, idLength);
    }),
  );
}

/** Waits until nothing has arrived for a second. */
async function settled(tails: readonly WatchedTail[]): Promise<void> {
  const total = () => tails.reduce((sum, { events, dropped }) => sum + events + dropped, 0);
  for (let before = -1; before !== total(); ) {
    before = total();
    await delay(1_000);
  }
}

async function measure(dataDir: string): Promise<void> {
  const { child, url } = await serveProgram(dataDir);
  try {
    tell(`${count(burst)} events, nobody watching: once to warm up, once measured`);
    await sendFrom({ url, seed: 1, events: burst, rate: null });
    const alone = await sendFrom({ url, seed: 2, events: burst, rate: null });
    show(line('intake as fast as it goes, nobody watching', `${count(alone.eventsPerSecond)} events/s`));
    const tails = await watchAll(url);
    tell(`${count(rate)} events/s for ${seconds} s, ${watcherCount} watching`);
    const { sent } = await sendFrom({ url, seed: 3, events: rate * seconds, rate });
    await settled(tails);
    const timesOf = new Map(sent.flatMap((request) => request.logIds.map((logId) => [logId, request] as const)));
    const seen = tails.flatMap(({ arrivals }) =>
      arrivals.flatMap(({ logId, atMs }) => {
        const request = timesOf.get(logId);
        return request === undefined ? [] : [{ sinceSentMs: atMs - request.atMs, sinceAnswerMs: atMs - request.answeredAtMs }];
      }),
    );
    const dropped = tails.reduce((sum, tail) => sum + tail.dropped, 0);
    show(line(`${watcherCount} watchers at ${count(rate)} events/s: events seen`, count(seen.length)));
    const latencies = [
      ['the intake has answered until a watcher has an event', seen.map(({ sinceAnswerMs }) => sinceAnswerMs)],
      ['an event is sent until a watcher has it', seen.map(({ sinceSentMs }) => sinceSentMs)],
      ['events are sent until the intake has answered', sent.map((request) => request.answeredAtMs - request.atMs)],
    ] as const;
    for (const [what, times] of latencies) {
      show(line(`from when ${what}: p50`, ms(percentile(times, 0.5))));
      show(line('  p99', ms(percentile(times, 0.99))));
      show(line('  longest', ms(percentile(times, 1))));
    }
    show(line('  dropped', count(dropped)));
    tell(`${count(burst)} events, ${watcherCount} watching`);
    const watched = await sendFrom({ url, seed: 4, events: burst, rate: null });
    await settled(tails);
    const droppedThen = tails.reduce((sum, tail) => sum + tail.dropped, 0) - dropped;
    for (const tail of tails) tail.close();
    show(
      line(
        `intake as fast as it goes, ${watcherCount} watching`,
        `${count(watched.eventsPerSecond)} events/s; ${count(droppedThen)} dropped`,
      ),
    );
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

/** Removes the folders of runs that were killed. */
async function removeLeftovers(): Promise<void> {
  for await (const folder of glob('tail-*', { cwd: BENCH_DATA })) {
    tell(`removing ${folder} of an earlier run`);
    await rm(join(BENCH_DATA, folder), { recursive: true, force: true });
  }
}

await removeLeftovers();
await inEmptyDataDir('tail', measure);
