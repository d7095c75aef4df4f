import { SeededRandom } from '../../bench/events/seeded-random.ts';

/** How long the program keeps events while it is tortured. Its clock passes an hour in a minute or so. */
export const RETENTION_HOURS = 4;
export const RETENTION_MS = RETENTION_HOURS * 3_600_000;

/** The first of them has half of the events. */
export const ZONES: readonly number[] = [1, 2, 3, 40, 500, 6_000];

export const ACTIONS = ['blocked', 'challenged', 'logged', 'allowed'] as const;
export const COUNTRIES = ['DE', 'US', 'BR', 'CN', 'IN', 'NL', 'SG'] as const;

export type Way = 'HTTP' | 'Kafka';

/** Events that were sent together. Their content follows from these few numbers, so that millions of them need no memory. */
export interface Batch {
  readonly number: number;
  readonly way: Way;
  readonly count: number;
  /** Its events have these zones in turn. */
  readonly zones: readonly number[];
  /** The time of its first event, Unix milliseconds; each later one is `stepMs` later. */
  readonly startMs: number;
  readonly stepMs: number;
  /** Of one that was `sent`, or `produced` to Kafka, any event may be there; one that was acknowledged is there wholly. */
  state: 'sent' | 'produced' | 'acknowledged';
}

/** One event of a batch, as far as conditions of searches look at it. */
export interface SentEvent {
  readonly zone: number;
  readonly timestamp: number;
  readonly action: string;
  readonly country: string;
}

/** Something that the program must not have answered or done. The first one ends the run. */
export class Difference extends Error {
  override readonly name = 'Difference';
}

const BODIES = new SeededRandom(0).base64(48 * 1024);
const BODY_LENGTH = 400;

/** A number that looks drawn, always the same for the same event. */
function mixed(batch: number, index: number): number {
  let hash = Math.imul(batch + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

export function sentEvent({ number, zones, startMs, stepMs }: Batch, index: number): SentEvent {
  const mix = mixed(number, index);
  return {
    zone: zones[index % zones.length] ?? 0,
    timestamp: startMs + index * stepMs,
    action: ACTIONS[mix % ACTIONS.length] ?? '',
    country: COUNTRIES[(mix >>> 4) % COUNTRIES.length] ?? '',
  };
}

/** The event as JSON, letter by letter as the feed gives it back. */
export function eventText(batch: Batch, index: number): string {
  const { zone, timestamp, action, country } = sentEvent(batch, index);
  const mix = mixed(batch.number, index);
  const start = mix % (BODIES.length - BODY_LENGTH);
  const client = mix % 4_000;
  return JSON.stringify({
    logId: `t${batch.number}-${index}`,
    shieldZoneId: zone,
    timestamp,
    feature: client % 3 === 0 ? 'waf' : 'bot-detection',
    ruleId: `rule-${client % 40}`,
    ruleName: `Rule ${client % 40}`,
    ip: `10.${client % 7}.${client >>> 4}.${client % 250}`,
    ua: `agent/${client % 90}.0`,
    url: `https://zone-${zone}.example/path/${client % 60}?id=${mix}`,
    asn: String(1_000 + (client % 300)),
    country,
    action,
    log: { ServerZoneId: zone, Message: `by rule ${client % 40}`, UrlEncodedBody: BODIES.slice(start, start + BODY_LENGTH) },
  });
}

/** All batches that were ever sent. */
export class SentEvents {
  readonly #batches: Batch[] = [];
  readonly #counts: readonly number[];

  get batches(): readonly Batch[] {
    return this.#batches;
  }

  /** `counts` are the most events of a batch, of which one is drawn. */
  constructor(counts: readonly number[] = [10, 300, 2_500, 2_500, 10_000]) {
    this.#counts = counts;
  }

  /** A new batch of drawn content, whose events are past or present at `nowMs`. Three in ten are late by up to the whole retention. */
  draw(way: Way, random: SeededRandom, nowMs: number): Batch {
    const count = 1 + random.below(this.#counts[random.below(this.#counts.length)] ?? 1);
    const stepMs = [0, 1, 20][random.below(3)] ?? 0;
    const lateMs = random.below(10) < 3 ? random.below(RETENTION_MS - 15 * 60_000) : random.below(60_000);
    const zones = Array.from({ length: 1 + random.below(4) }, () => ZONES[random.below(2) * random.below(ZONES.length)] ?? 1);
    const startMs = nowMs - lateMs - count * stepMs;
    const batch: Batch = { number: this.#batches.length, way, count, zones, startMs, stepMs, state: 'sent' };
    this.#batches.push(batch);
    return batch;
  }

  /** The batches that are acknowledged by now. */
  acknowledged(): readonly Batch[] {
    return this.#batches.filter(({ state }) => state === 'acknowledged');
  }

  /** The batch and index of an id; undefined for one that was never sent. */
  find(logId: string): { readonly batch: Batch; readonly index: number } | undefined {
    const [, number, digits] = /^t(\d+)-(\d+)$/.exec(logId) ?? [];
    const batch = this.#batches[Number(number)];
    const index = Number(digits);
    return batch !== undefined && index < batch.count ? { batch, index } : undefined;
  }
}

/** How many events of these batches are as `matches` says. */
export function countEvents(batches: readonly Batch[], matches: (event: SentEvent) => boolean, fromMs = 0, toMs = Infinity): number {
  let count = 0;
  for (const batch of batches) {
    if (batch.startMs >= toMs || batch.startMs + batch.count * batch.stepMs < fromMs) continue;
    for (let index = 0; index < batch.count; index += 1) {
      const event = sentEvent(batch, index);
      if (event.timestamp >= fromMs && event.timestamp < toMs && matches(event)) count += 1;
    }
  }
  return count;
}

/** What one consumer of the feed has been given. */
export class Received {
  readonly #sent: SentEvents;
  readonly #zones: ReadonlySet<number> | 'all';
  /** By batch, a byte for each event. */
  readonly #batches = new Map<number, Uint8Array>();
  #count = 0;

  constructor(sent: SentEvents, zones: readonly number[] | 'all') {
    this.#sent = sent;
    this.#zones = zones === 'all' ? 'all' : new Set(zones);
  }

  get count(): number {
    return this.#count;
  }

  /** Takes a line of the feed. Throws `Difference` for an event that was never sent, is another one by now, or comes again. */
  add(line: string): void {
    const logId = /^\{"logId":"([^"]*)"/.exec(line)?.[1] ?? '';
    const found = this.#sent.find(logId);
    if (found === undefined) throw new Difference(`the feed has what was never sent: ${line.slice(0, 200)}`);
    const { batch, index } = found;
    const text = eventText(batch, index);
    if (line !== text) throw new Difference(`the feed has something else of ${logId}: ${line} instead of ${text}`);
    if (!this.#takes(sentEvent(batch, index).zone)) throw new Difference(`the feed has ${logId} of a zone that nobody asked for`);
    const seen = this.#batches.get(batch.number) ?? new Uint8Array(batch.count);
    this.#batches.set(batch.number, seen);
    if (seen[index] === 1) throw new Difference(`the feed has ${logId} twice`);
    seen[index] = 1;
    this.#count += 1;
  }

  /** Throws `Difference` where an event of these batches that is of `keptFromMs` or later was not received. */
  requireAll(batches: readonly Batch[], keptFromMs: number): void {
    for (const batch of batches) {
      const seen = this.#batches.get(batch.number);
      for (let index = 0; index < batch.count; index += 1) {
        const { zone, timestamp } = sentEvent(batch, index);
        if (timestamp < keptFromMs || !this.#takes(zone) || seen?.[index] === 1) continue;
        const when = new Date(timestamp).toISOString();
        throw new Difference(`the feed lacks t${batch.number}-${index} of ${when} (zone ${zone}, by ${batch.way}, ${batch.state})`);
      }
    }
  }

  #takes(zone: number): boolean {
    return this.#zones === 'all' || this.#zones.has(zone);
  }
}
