import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { CostedMatcher } from '../../query/match/match-event.ts';
import type { Predicate, ZoneSelection } from '../../query/plan/search-plan.ts';
import type { FeedPosition } from '../../store/event-store.ts';
import { droppedFrame } from './tail-frames.ts';
import { MAX_UNREAD_HEARTBEATS } from './tail-limits.ts';
import { WorkAllowance } from './tail-work.ts';

export interface TailWatcherOptions {
  readonly zones: ZoneSelection;
  readonly matcher: CostedMatcher;
  /** What the matcher finds, and maybe more: the store looks for it. */
  readonly where: Predicate;
  /** The client has every event up to here. */
  readonly position: FeedPosition;
  /** The response, with its headers sent. */
  readonly outlet: ServerResponse;
  /** A client with more unread bytes gets no events until it has read them. */
  readonly maxBufferedBytes: number;
}

/** A client of the live tail: its conditions, its position, and the writing of its messages. */
export class TailWatcher {
  readonly zones: ZoneSelection;
  readonly matcher: CostedMatcher;
  readonly where: Predicate;
  readonly work = new WorkAllowance();
  /** Every matching event up to here was written, or left out and counted. */
  position: FeedPosition;
  readonly #gone = new AbortController();
  readonly #zones: ReadonlySet<number>;
  readonly #outlet: ServerResponse;
  readonly #maxBufferedBytes: number;
  /** Events that were left out and not reported to the client yet. */
  #unreported = 0;
  /** Whether events are left out until the client has read what was written. */
  #isLeavingOut = false;
  /** Heartbeats in a row at which the client had unread bytes. */
  #unreadHeartbeats = 0;

  constructor({ zones, matcher, where, position, outlet, maxBufferedBytes }: TailWatcherOptions) {
    this.zones = zones;
    this.#zones = new Set(zones === 'all' ? [] : zones);
    this.matcher = matcher;
    this.where = where;
    this.position = position;
    this.#outlet = outlet;
    this.#maxBufferedBytes = maxBufferedBytes;
    outlet.once('close', () => this.#gone.abort());
    // A closed response emits no more events.
    if (outlet.closed) this.#gone.abort();
    // A client that reads while it catches up still has unread bytes at every heartbeat.
    outlet.on('drain', () => {
      this.#unreadHeartbeats = 0;
    });
  }

  /** Aborts when the client is gone, or its stream was ended. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  wants(zoneId: number): boolean {
    return this.zones === 'all' || this.#zones.has(zoneId);
  }

  /**
   * Writes the messages of a page with so many events and returns true, or leaves all of them out and returns false, if too many written
   * bytes are unread. A page is never cut: it is bounded, and a client that is about to read would lose events.
   */
  offer(frames: readonly Uint8Array[], events: number): boolean {
    if (frames.length === 0) return true;
    if (this.#isLeavingOut || this.#outlet.writableLength > this.#maxBufferedBytes) {
      this.#leaveOut(events);
      return false;
    }
    this.write(frames);
    return true;
  }

  /** Writes without regard to unread bytes. Writes nothing if the client is gone. */
  write(frames: readonly Uint8Array[]): void {
    if (frames.length === 0 || this.gone.aborted) return;
    this.#outlet.write(frames.length === 1 ? frames[0] : Buffer.concat(frames));
  }

  /** Writes a heartbeat, unless earlier bytes are unread. Ends the stream after {@link MAX_UNREAD_HEARTBEATS} such heartbeats in a row. */
  keepAlive(frame: Uint8Array): void {
    if (!this.#outlet.writableNeedDrain) {
      this.#unreadHeartbeats = 0;
      this.write([frame]);
      return;
    }
    this.#unreadHeartbeats += 1;
    if (this.#unreadHeartbeats >= MAX_UNREAD_HEARTBEATS) this.end();
  }

  /** Resolves when the client has read everything written; rejects when it is gone. */
  async drained(): Promise<void> {
    if (this.#outlet.writableNeedDrain) await once(this.#outlet, 'drain', { signal: this.gone });
  }

  /** Ends the stream in order if the client reads. A client with unread bytes is cut off, because it may never read them. */
  end(): void {
    this.#gone.abort();
    if (this.#outlet.writableNeedDrain) this.#outlet.destroy();
    else this.#outlet.end();
  }

  #leaveOut(events: number): void {
    this.#unreported += events;
    if (this.#isLeavingOut) return;
    this.#isLeavingOut = true;
    if (this.#outlet.writableNeedDrain) this.#outlet.once('drain', () => this.#reportLeftOut());
    else this.#reportLeftOut();
  }

  #reportLeftOut(): void {
    this.#isLeavingOut = false;
    this.write([droppedFrame(this.#unreported, 'unread')]);
    this.#unreported = 0;
  }
}
