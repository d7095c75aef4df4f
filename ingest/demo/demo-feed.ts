import { setTimeout as sleep, setImmediate as yieldToOthers } from 'node:timers/promises';
import type { EventStore } from '../../store/event-store.ts';
import type { StoreLogger } from '../../store/store-logger.ts';
import { AppendWindow } from '../event/append-window.ts';
import { BatchBuilder } from '../event/batch-builder.ts';
import { demoEvent } from './demo-event.ts';
import { seededRandom } from './demo-random.ts';
import { campaignAt, campaignPercent, DemoDensity } from './demo-schedule.ts';

/**
 * The feed is a source like a Kafka partition; its offsets are seconds since 1970, so that the store knows how far it got.
 * A topic of Kafka has no blank in its name, so none can be taken for the feed.
 */
export const DEMO_TOPIC = 'demo feed';
const DEMO_PARTITION = 0;

export const DEMO_SEED = 1;
export const DEMO_EVENTS_PER_DAY = 100_000;
const HISTORY_SECONDS = 72 * 3600;
const BATCH_EVENTS = 5000;
/** After so many events searches get their turn. */
const EVENTS_AT_ONCE = 200;
const LIVE_PAUSE_MS = 500;

export interface DemoFeedOptions {
  readonly store: EventStore;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  readonly logger: StoreLogger;
  /** The same seed makes the same events at the same times. */
  readonly seed?: number;
  /** How many events a day has, past or live. */
  readonly eventsPerDay?: number;
}

export interface DemoFeed {
  /** Resolves when the time up to the start is filled. Rejects where the store refused events. */
  readonly filled: Promise<void>;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/**
 * Fills the past 72 hours with made-up events and goes on with new ones as the seconds pass, at the same rate.
 * It goes on where it was in a store that was fed before, so each second's events are made once.
 */
export function startDemoFeed(options: DemoFeedOptions): DemoFeed {
  const feeder = new DemoFeeder(options);
  const stopping = new AbortController();
  const filled = feeder.fill(stopping.signal);
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

/** The raw events of a second since 1970. The same seed and density make the same ones. */
export function eventsOfSecond(second: number, density: DemoDensity, seed: number): readonly string[] {
  const random = seededRandom(seed, second);
  const campaign = campaignAt(second);
  const percent = campaignPercent(second);
  return Array.from({ length: density.eventsAt(second) }, (_, index) => {
    const timestampMs = second * 1000 + random.below(1000);
    return demoEvent(`demo-${seed}-${second}-${index}`, timestampMs, random.chance(percent) ? campaign : null, random);
  });
}

class DemoFeeder {
  readonly #options: DemoFeedOptions;
  readonly #builder: BatchBuilder;
  readonly #seed: number;
  /** The second that runs at the start: what is before it belongs to the past that is filled. */
  readonly #end: number;
  readonly #density: DemoDensity;
  /** The first second that has no events yet. */
  #next: number;

  constructor(options: DemoFeedOptions) {
    const { store, now, retentionMs, seed = DEMO_SEED, eventsPerDay = DEMO_EVENTS_PER_DAY } = options;
    this.#options = options;
    this.#builder = new BatchBuilder(options);
    this.#seed = seed;
    const startedMs = now();
    const historySeconds = Math.min(HISTORY_SECONDS, Math.floor(retentionMs / 1000));
    // A second late, so that none of the first events expires before it is stored.
    const first = Math.ceil(startedMs / 1000) - historySeconds + 1;
    this.#end = Math.floor(startedMs / 1000);
    this.#density = new DemoDensity(eventsPerDay);
    this.#next = Math.max(first, Number(store.sourceOffset(DEMO_TOPIC, DEMO_PARTITION) ?? 0n));
  }

  async fill(signal: AbortSignal): Promise<void> {
    const { store, logger } = this.#options;
    const appends = new AppendWindow(store, 2);
    const startedAt = performance.now();
    let [events, sinceYield] = [0, 0];
    if (this.#next < this.#end) logger.info({}, 'the demo feed is filling the past with events');
    while (this.#next < this.#end && !signal.aborted) {
      const added = this.#addSecond();
      events += added;
      sinceYield += added;
      if (this.#builder.eventCount >= BATCH_EVENTS || this.#next === this.#end) {
        await appends.room();
        const batch = this.#builder.take();
        appends.start(
          batch,
          () => {},
          () => this.#builder.release(batch),
        );
      }
      if (sinceYield >= EVENTS_AT_ONCE) {
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
      while (this.#next < end && this.#builder.eventCount < BATCH_EVENTS) this.#addSecond();
      let isBehind = this.#next < end;
      // A second without an event leaves nothing to store: made again after a restart, it is empty again.
      if (this.#builder.eventCount > 0) {
        const batch = this.#builder.take();
        try {
          await store.append(batch);
        } catch (error) {
          // The same seconds are made again, and are the same events.
          this.#next = from;
          isBehind = false;
          logger.warn({ err: error }, 'the demo feed could not add events and tries again');
        } finally {
          this.#builder.release(batch);
        }
      }
      if (!isBehind) await sleep(LIVE_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Makes the events of the next second; returns their number. */
  #addSecond(): number {
    const events = eventsOfSecond(this.#next, this.#density, this.#seed);
    for (const event of events) this.#builder.addEvent('file', Buffer.from(event));
    this.#next += 1;
    this.#builder.moveTo(DEMO_TOPIC, DEMO_PARTITION, BigInt(this.#next));
    return events.length;
  }
}
