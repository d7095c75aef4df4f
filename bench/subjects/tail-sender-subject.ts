// Sends events to a running program from a separate process, so that making them delays neither the program nor tail-speed.ts.
import { setTimeout as delay } from 'node:timers/promises';
import { generateEvents } from '../events/event-generator.ts';

export interface TailSenderOrder {
  readonly url: string;
  readonly seed: number;
  readonly events: number;
  readonly zones: number;
  /** Events in a request. */
  readonly batch: number;
  /** Events a second; null: at full speed. */
  readonly rate: number | null;
}

export interface TailSenderReport {
  /** From the first request to the last answer. */
  readonly eventsPerSecond: number;
  /** The requests with the times when each was sent and answered, Unix ms, and its events. Empty if `rate` is null. */
  readonly sent: readonly { readonly atMs: number; readonly answeredAtMs: number; readonly logIds: readonly string[] }[];
}

const AT_ONCE = 4;
/** The age of the oldest events when they are sent. */
const OLDEST_MS = 2_000;
/** The rate from which the times of events are made up if they are sent at full speed. */
const BURST_PER_SECOND = 20_000;
const ID = /"logId":"([^"]+)"/;

const { url, seed, events, zones, batch, rate } = JSON.parse(process.argv[2] ?? '') as TailSenderOrder;

async function send(bytes: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const response = await fetch(`${url}/ingest/events`, { method: 'POST', headers, body: new Uint8Array(bytes) });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`the intake answered ${response.status}: ${text}`);
}

/** The events, second by second. */
function* eventsInTime(): Iterable<Buffer> {
  const beganMs = Date.now();
  const perSecond = rate ?? BURST_PER_SECOND;
  for (let second = 0; second * perSecond < events; second += 1) {
    const count = Math.min(perSecond, events - second * perSecond);
    yield* generateEvents({ seed: seed * 10_000 + second, count, zones, nowMs: beganMs + second * 1_000, spanMs: OLDEST_MS });
  }
}

const lines = [...eventsInTime()];
const batches = Array.from({ length: Math.ceil(events / batch) }, (_, index) => lines.slice(index * batch, (index + 1) * batch));
const bodies = batches.map((some) => ({
  bytes: Buffer.concat(some),
  logIds: rate === null ? [] : some.map((line) => ID.exec(line.toString('latin1', 0, 64))?.[1] ?? ''),
}));
const began = performance.now();
const sent: TailSenderReport['sent'][number][] = [];
if (rate === null) {
  const queue = bodies.values();
  const sender = async (): Promise<void> => {
    for (const { bytes } of queue) await send(bytes);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
} else {
  const sending: Promise<void>[] = [];
  for (const [index, { bytes, logIds }] of bodies.entries()) {
    const aheadMs = (index * batch * 1000) / rate - (performance.now() - began);
    if (aheadMs > 0) await delay(aheadMs);
    const atMs = performance.timeOrigin + performance.now();
    sending.push(
      send(bytes).then(() => {
        sent.push({ atMs, answeredAtMs: performance.timeOrigin + performance.now(), logIds });
      }),
    );
  }
  await Promise.all(sending);
}
process.send?.({ eventsPerSecond: events / ((performance.now() - began) / 1000), sent } satisfies TailSenderReport);
