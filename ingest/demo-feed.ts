import { setTimeout as sleep, setImmediate as yieldToOthers } from 'node:timers/promises';
import type { EventStore } from '../store/event-store.ts';
import type { StoreLogger } from '../store/store-logger.ts';
import { AppendWindow } from './append-window.ts';
import { BatchBuilder } from './batch-builder.ts';
import { demoEvent } from './demo-event.ts';
import { seededRandom } from './demo-random.ts';
import { campaignAt, campaignPercent, DemoDensity } from './demo-schedule.ts';

/**
 * The feed is a source like a Kafka partition; its offsets are seconds since 1970, so that the store knows how far it got.
 * A topic of Kafka has no blank in its name, so none can be taken for the feed.
 */
export const DEMO_TOPIC = 'demo feed';
const DEMO_PARTITION = 0;

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
  /** Events that the 72 hours before the first start get; of a shorter retention, its part of them. */
  readonly backfillEvents?: number;
  readonly liveEventsPerSecond?: number;
}

export interface DemoFeed {
  /** Resolves when the time up to the start is filled. Rejects where the store refused events. */
  readonly filled: Promise<void>;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/**
 * Fills the past 72 hours with made-up events and goes on with new ones every second. A store that has been fed before is fed on from where it
 * was: each second's events are made once.
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

class DemoFeeder {
  readonly #options: DemoFeedOptions;
  readonly #builder: BatchBuilder;
  readonly #seed: number;
  readonly #liveEventsPerSecond: number;
  /** The second that runs at the start: what is before it belongs to the past that is filled. */
  readonly #end: number;
  readonly #density: DemoDensity;
  /** The first second that has no events yet. */
  #next: number;

  constructor(options: DemoFeedOptions) {
    const { store, now, retentionMs, seed = 1, backfillEvents = 300_000, liveEventsPerSecond = 30 } = options;
    this.#options = options;
    this.#builder = new BatchBuilder(options);
    this.#seed = seed;
    this.#liveEventsPerSecond = liveEventsPerSecond;
    const startedMs = now();
    const historySeconds = Math.min(HISTORY_SECONDS, Math.floor(retentionMs / 1000));
    // A second late, so that none of the first events expires before it is stored.
    const first = Math.ceil(startedMs / 1000) - historySeconds + 1;
    this.#end = Math.floor(startedMs / 1000);
    this.#density = new DemoDensity(Math.round((backfillEvents * historySeconds) / HISTORY_SECONDS), first, this.#end);
    this.#next = Math.max(first, Number(store.position(DEMO_TOPIC, DEMO_PARTITION) ?? 0n));
  }

  async fill(signal: AbortSignal): Promise<void> {
    const { store, logger } = this.#options;
    const appends = new AppendWindow(store, 2);
    const startedAt = performance.now();
    let [events, sinceYield] = [0, 0];
    while (this.#next < this.#end && !signal.aborted) {
      const added = this.#addSecond(this.#density.eventsAt(this.#next));
      events += added;
      sinceYield += added;
      if (this.#builder.eventCount >= BATCH_EVENTS || this.#next === this.#end) {
        await appends.room();
        const batch = this.#builder.take();
        appends.start(batch, () => this.#builder.release(batch));
      }
      if (sinceYield >= EVENTS_AT_ONCE) {
        sinceYield = 0;
        await yieldToOthers();
      }
    }
    await appends.drained();
    if (events > 0) {
      logger.info({ events, ms: Math.round(performance.now() - startedAt) }, 'the demo feed has filled the past with events');
    }
  }

  async feedLive(signal: AbortSignal): Promise<void> {
    const { store, now, logger } = this.#options;
    while (!signal.aborted) {
      const from = this.#next;
      const end = Math.floor(now() / 1000);
      while (this.#next < end) {
        const random = seededRandom(this.#seed, this.#next, -1);
        this.#addSecond(Math.round(this.#liveEventsPerSecond * (0.5 + random.below(1000) / 1000)));
      }
      if (!this.#builder.isEmpty) {
        const batch = this.#builder.take();
        try {
          await store.append(batch);
        } catch (error) {
          // The same seconds are made again, and are the same events.
          this.#next = from;
          logger.warn({ err: error }, 'the demo feed could not add events and tries again');
        } finally {
          this.#builder.release(batch);
        }
      }
      await sleep(LIVE_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Makes the events of the next second; returns their number. */
  #addSecond(events: number): number {
    const second = this.#next;
    const random = seededRandom(this.#seed, second);
    const campaign = campaignAt(second);
    const percent = campaignPercent(second);
    for (let place = 0; place < events; place++) {
      const timestampMs = second * 1000 + random.below(1000);
      const event = demoEvent(`demo-${this.#seed}-${second}-${place}`, timestampMs, random.chance(percent) ? campaign : null, random);
      this.#builder.addEvent('file', Buffer.from(event));
    }
    this.#next = second + 1;
    this.#builder.moveTo(DEMO_TOPIC, DEMO_PARTITION, BigInt(this.#next));
    return events;
  }
}
