// Sends events to a running program from a separate process, so that making them delays neither the program nor who measures it.
import { setTimeout as delay } from 'node:timers/promises';
import { type Attacks, pacedEvents } from '../events/paced-events.ts';

export interface EventSenderOrder {
  readonly url: string;
  readonly seed: number;
  readonly events: number;
  readonly zones: number;
  /** Events in a request. */
  readonly batch: number;
  /** Events a second; null: at full speed. */
  readonly rate: number | null;
  /** Default: none. */
  readonly attacks?: Attacks;
  /** The events whose `logId` begins with this text are told of; default: all. */
  readonly told?: string;
}

export interface EventSenderReport {
  /** From the first request to the last answer. */
  readonly eventsPerSecond: number;
  /** When the last request was answered, Unix ms. */
  readonly endedAtMs: number;
  /** The share of a core that the sender took in that time. */
  readonly coreShare: number;
  /** The requests with the times when each was sent and answered, Unix ms, and its events. Empty if `rate` is null. */
  readonly sent: readonly { readonly atMs: number; readonly answeredAtMs: number; readonly logIds: readonly string[] }[];
}

const AT_ONCE = 4;
/** The rate from which the times of events are made up if they are sent at full speed. */
const BURST_PER_SECOND = 20_000;
const ID = /"logId":"([^"]+)"/;

const order = JSON.parse(process.argv[2] ?? '') as EventSenderOrder;
const { url, seed, events, zones, batch, rate, attacks = { count: 0, events: 0 }, told = '' } = order;

async function send(bytes: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const response = await fetch(`${url}/ingest/events`, { method: 'POST', headers, body: new Uint8Array(bytes) });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`the intake answered ${response.status}: ${text}`);
}

interface Body {
  readonly bytes: Buffer;
  readonly logIds: readonly string[];
}

function bodyOf(lines: readonly Buffer[]): Body {
  const logIds = rate === null ? [] : lines.map((line) => ID.exec(line.toString('latin1', 0, 64))?.[1] ?? '');
  return { bytes: Buffer.concat(lines), logIds: logIds.filter((logId) => logId.startsWith(told)) };
}

/** All requests, made before the first is sent. */
function bodiesInTime(): Body[] {
  const bodies: Body[] = [];
  let lines: Buffer[] = [];
  for (const line of pacedEvents({ seed, zones, events, perSecond: rate ?? BURST_PER_SECOND, beganMs: Date.now(), attacks })) {
    lines.push(line);
    if (lines.length < batch) continue;
    bodies.push(bodyOf(lines));
    lines = [];
  }
  if (lines.length > 0) bodies.push(bodyOf(lines));
  return bodies;
}

const bodies = bodiesInTime();
const [began, cpu] = [performance.now(), process.cpuUsage()];
const sent: EventSenderReport['sent'][number][] = [];
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
const endedMs = performance.now();
const { user, system } = process.cpuUsage(cpu);
process.send?.({
  eventsPerSecond: (events + attacks.count * attacks.events) / ((endedMs - began) / 1000),
  endedAtMs: performance.timeOrigin + endedMs,
  coreShare: (user + system) / 1000 / (endedMs - began),
  sent,
} satisfies EventSenderReport);
