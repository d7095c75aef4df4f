import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { CostedMatcher } from '../../query/match-event.ts';
import type { FeedRequest } from '../../store/event-store.ts';
import type { FeedPosition } from '../feed/feed-cursor.ts';
import { droppedFrame } from './tail-frames.ts';
import { WorkAllowance } from './tail-work.ts';

/** A client that has read nothing between so many signs of life is cut off: it holds a place that another could have, and can resume. */
export const MAX_MISSED = 4;

export interface TailWatcherOptions {
  readonly zones: FeedRequest['zones'];
  readonly matcher: CostedMatcher;
  /** What the client has already. */
  readonly position: FeedPosition;
  /** Its headers are sent. */
  readonly outlet: ServerResponse;
  /** A client of which so much is still unread gets no more until it has read it. */
  readonly maxBufferedBytes: number;
}

/** A client of the live tail: what it wants, how far it is, and what of it went down the wire or was left out. */
export class TailWatcher {
  readonly zones: FeedRequest['zones'];
  readonly matcher: CostedMatcher;
  readonly work = new WorkAllowance();
  /** Up to here every event that matches was written, or was left out and counted. */
  after: bigint;
  /** As in a cursor of the feed. */
  readonly afterRuns: number;
  readonly #gone = new AbortController();
  readonly #zones: ReadonlySet<number>;
  readonly #outlet: ServerResponse;
  readonly #maxBufferedBytes: number;
  #untold = 0;
  #isBehind = false;
  #missed = 0;

  constructor({ zones, matcher, position, outlet, maxBufferedBytes }: TailWatcherOptions) {
    this.zones = zones;
    this.#zones = new Set(zones === 'all' ? [] : zones);
    this.matcher = matcher;
    this.after = position.sequence;
    this.afterRuns = position.afterRuns;
    this.#outlet = outlet;
    this.#maxBufferedBytes = maxBufferedBytes;
    outlet.once('close', () => this.#gone.abort());
    // A client that reads while it is brought up to date has more to read at every sign of life.
    outlet.on('drain', () => {
      this.#missed = 0;
    });
  }

  /** Aborts when the client is gone, or its stream was ended. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** How far the client is, as its ids say. */
  get position(): FeedPosition {
    return { sequence: this.after, afterRuns: this.afterRuns };
  }

  wants(zoneId: number): boolean {
    return this.zones === 'all' || this.#zones.has(zoneId);
  }

  /**
   * Writes the messages of a page with so many events, or leaves all of them out where too much of what was written before is still unread;
   * whether it did. A page is bounded, and cutting it would lose events of clients that are merely about to read.
   */
  offer(frames: readonly Uint8Array[], events: number): boolean {
    if (frames.length === 0) return true;
    if (this.#isBehind || this.#outlet.writableLength > this.#maxBufferedBytes) {
      this.#fallBehind(events);
      return false;
    }
    this.write(frames);
    return true;
  }

  /** Writes without asking for room; nothing, where nobody is left. */
  write(frames: readonly Uint8Array[]): void {
    if (frames.length === 0 || this.gone.aborted) return;
    this.#outlet.write(frames.length === 1 ? frames[0] : Buffer.concat(frames));
  }

  /** Writes a sign of life, unless there is something before it that the client does not read. */
  keepAlive(frame: Uint8Array): void {
    if (!this.#outlet.writableNeedDrain) {
      this.#missed = 0;
      this.write([frame]);
      return;
    }
    this.#missed += 1;
    if (this.#missed >= MAX_MISSED) this.end();
  }

  /** Resolves when the client has read what was written; rejects when it is gone. */
  async drained(): Promise<void> {
    if (this.#outlet.writableNeedDrain) await once(this.#outlet, 'drain', { signal: this.gone });
  }

  /**
   * A client that reads gets what is written and a proper end; one that does not is cut off, because nobody knows when it would be through.
   */
  end(): void {
    this.#gone.abort();
    if (this.#outlet.writableNeedDrain) this.#outlet.destroy();
    else this.#outlet.end();
  }

  #fallBehind(dropped: number): void {
    this.#untold += dropped;
    if (this.#isBehind) return;
    this.#isBehind = true;
    if (this.#outlet.writableNeedDrain) this.#outlet.once('drain', () => this.#goOn());
    else this.#goOn();
  }

  #goOn(): void {
    this.#isBehind = false;
    this.write([droppedFrame(this.#untold, 'unread')]);
    this.#untold = 0;
  }
}
