import { setTimeout as sleep, setImmediate as yieldToOthers } from 'node:timers/promises';
import type { EventStore, StoreLogger } from '../../store/event-store.ts';
import { BatchBuilder } from '../event/batch-builder.ts';
import { PendingAppends } from '../event/pending-appends.ts';
import { demoEvent } from './demo-event.ts';
import { attackAt, attackPercent, DemoDensity } from './demo-schedule.ts';
import { seededRandom } from './seeded-random.ts';

/**
 * The demo feed is a source like a Kafka partition, with seconds since 1970 as offsets, so that the store remembers its progress. No topic
 * of Kafka has this name, because it contains a blank.
 */
export const DEMO_TOPIC = 'demo feed';
const DEMO_PARTITION = 0;

export const DEMO_SEED = 1;
export const DEMO_EVENTS_PER_DAY = 100_000;
const HISTORY_SECONDS = 72 * 3600;
const MAX_BATCH_EVENTS = 5000;
/** After so many events the feed yields to other work, such as searches. */
const YIELD_AFTER_EVENTS = 200;
const LIVE_PAUSE_MS = 500;

export interface DemoFeedOptions {
  readonly store: EventStore;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  readonly logger: StoreLogger;
  /** The same seed makes the same events at the same times. */
  readonly seed?: number;
  /** The number of events a day, past and live. */
  readonly eventsPerDay?: number;
}

export interface DemoFeed {
  /** Resolves when the past is filled with events. Rejects where the store refuses events. */
  readonly filled: Promise<void>;
  /** Stops the feed, and resolves when no append is under way. */
  stop(): Promise<void>;
}

/**
 * Fills the past 72 hours with generated events, and then adds events as the seconds pass, at the same rate. In a store that was fed
 * before, it continues at the stored offset, so that each second's events are made once.
 */
export function startDemoFeed(options: DemoFeedOptions): DemoFeed {
  const feeder = new DemoFeeder(options);
  const stopping = new AbortController();
  const filled = feeder.resume().then(() => feeder.fill(stopping.signal));
  const running = filled
    .then(() => feeder.feedLive(stopping.signal))
    .catch((error: unknown) => {
      options.logger.warn({ err: error }, 'the demo feed has stopped');
    });
  return {
    filled,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Makes the raw events of a second since 1970. The same seed and density make the same events. */
export function eventsOfSecond(second: number, density: DemoDensity, seed: number): readonly string[] {
  const random = seededRandom(seed, second);
  const attack = attackAt(second);
  const percent = attackPercent(second);
  return Array.from({ length: density.eventsAt(second) }, (_, index) => {
    const timestampMs = second * 1000 + random.below(1000);
    return demoEvent(`demo-${seed}-${second}-${index}`, timestampMs, random.chance(percent) ? attack : null, random);
  });
}

class DemoFeeder {
  readonly #options: DemoFeedOptions;
  readonly #builder: BatchBuilder;
  readonly #seed: number;
  /** The second of the start. `fill` makes the events of the seconds before it. */
  readonly #end: number;
  readonly #density: DemoDensity;
  /** The first second without events. */
  #next: number;

  constructor(options: DemoFeedOptions) {
    const { now, retentionMs, seed = DEMO_SEED, eventsPerDay = DEMO_EVENTS_PER_DAY } = options;
    this.#options = options;
    this.#builder = new BatchBuilder(options);
    this.#seed = seed;
    const startedMs = now();
    const historySeconds = Math.min(HISTORY_SECONDS, Math.floor(retentionMs / 1000));
    this.#end = Math.floor(startedMs / 1000);
    this.#density = new DemoDensity(eventsPerDay);
    // One second later, so that the first events do not expire before they are stored.
    this.#next = Math.ceil(startedMs / 1000) - historySeconds + 1;
  }

  /** Goes on with the second where the store was left. */
  async resume(): Promise<void> {
    const stored = await this.#options.store.sourceOffset(DEMO_TOPIC, DEMO_PARTITION);
    this.#next = Math.max(this.#next, Number(stored ?? 0n));
  }

  async fill(signal: AbortSignal): Promise<void> {
    const { store, logger } = this.#options;
    const appends = new PendingAppends();
    const startedAt = performance.now();
    let [events, sinceYield] = [0, 0];
    if (this.#next < this.#end) logger.info({}, 'the demo feed is filling the past with events');
    while (this.#next < this.#end && !signal.aborted) {
      const added = this.#addSecond();
      events += added;
      sinceYield += added;
      if (this.#builder.eventCount >= MAX_BATCH_EVENTS || this.#next === this.#end) {
        await appends.room();
        const batch = this.#builder.take();
        appends.add(store.append(batch), { onSettled: () => this.#builder.release(batch) });
      }
      if (sinceYield >= YIELD_AFTER_EVENTS) {
        sinceYield = 0;
        await yieldToOthers();
      }
    }
    await appends.drained();
    if (events > 0 && !signal.aborted) {
      logger.info({ events, ms: Math.round(performance.now() - startedAt) }, 'the demo feed has filled the past with events');
    }
  }

  async feedLive(signal: AbortSignal): Promise<void> {
    const { store, now, logger } = this.#options;
    while (!signal.aborted) {
      const from = this.#next;
      const end = Math.floor(now() / 1000);
      while (this.#next < end && this.#builder.eventCount < MAX_BATCH_EVENTS) this.#addSecond();
      let hasMore = this.#next < end;
      // A second without events stores nothing; after a restart it is made again, and is empty again.
      if (this.#builder.eventCount > 0) {
        const batch = this.#builder.take();
        try {
          await store.append(batch);
        } catch (error) {
          // The next round makes the same events again.
          this.#next = from;
          hasMore = false;
          logger.warn({ err: error }, 'the demo feed could not add events and tries again');
        } finally {
          this.#builder.release(batch);
        }
      }
      if (!hasMore) await sleep(LIVE_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Makes the events of the next second, and returns their number. */
  #addSecond(): number {
    const events = eventsOfSecond(this.#next, this.#density, this.#seed);
    for (const event of events) this.#builder.addEvent('file', Buffer.from(event));
    this.#next += 1;
    this.#builder.moveTo(DEMO_TOPIC, DEMO_PARTITION, BigInt(this.#next));
    return events.length;
  }
}
