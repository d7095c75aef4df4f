import type { ConnectionPool } from './connection-pool.ts';
import { isOutOfMemory } from './duckdb-engine.ts';
import type { FeedPage, FeedRequest } from './event-store.ts';
import { nextSealed, type SealedStretch } from './feed-plan.ts';
import { type FeedPiece, readRows } from './feed-rows.ts';
import { hotSource, sealedSource } from './feed-source.ts';
import { buildWindow, type FeedWindow, isUnderWay, readWindow } from './feed-window.ts';
import { FeedWindows } from './feed-windows.ts';
import type { LiveSet } from './live-set.ts';
import type { ReadLinks } from './read-links.ts';
import type { StoreLogger } from './store-logger.ts';

export interface FeedReaderOptions {
  readonly live: LiveSet;
  readonly links: ReadLinks;
  /** The feed's own: who reads everything is not to keep searches waiting. */
  readonly connections: ConnectionPool;
  readonly dropTable: (name: string) => void;
  readonly logger: StoreLogger;
}

type Zones = FeedRequest['zones'];

/** Reads the events of a store in the order of their sequence: the sealed ones from windows, the hot ones from their tables. */
export class FeedReader {
  readonly #options: FeedReaderOptions;
  readonly #windows: FeedWindows;
  readonly #closing = new AbortController();

  constructor(options: FeedReaderOptions) {
    this.#options = options;
    const { dropTable } = options;
    this.#windows = new FeedWindows({ build: (table, stretch) => this.#build(table, stretch), dropTable });
  }

  async read({ zones, afterSequence, limit }: FeedRequest, signal: AbortSignal): Promise<FeedPage> {
    signal.throwIfAborted();
    const wanted = zones === 'all' ? zones : [...new Set(zones)].sort((a, b) => a - b);
    let after = afterSequence;
    for (;;) {
      const last = this.#options.live.endSequence - 1n;
      if (!this.#hasMore(wanted, after)) {
        return { lines: [], lastSequence: after > last ? after : last, more: false };
      }
      const { lines, lastSequence } = await this.#readPiece(wanted, after, limit, signal);
      if (lines.length > 0) {
        return { lines, lastSequence, more: this.#hasMore(wanted, lastSequence) };
      }
      after = lastSequence;
    }
  }

  /** Interrupts what is being prepared. */
  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason);
    await this.#windows.close();
  }

  #hasMore(zones: Zones, after: bigint): boolean {
    const { live } = this.#options;
    return (zones === 'all' ? live.endSequence - 1n : live.zoneEnds.of(zones)) > after;
  }

  async #readPiece(zones: Zones, after: bigint, limit: number, signal: AbortSignal): Promise<FeedPiece> {
    const next = () => this.#nextSealed(zones, after);
    try {
      const piece = await this.#windows.use(zones, after, next, (window) => this.#readWindow(window, after, limit, signal));
      return piece ?? (await this.#readHot(zones, after, limit, signal));
    } catch (error) {
      const sealed = isOutOfMemory(error) ? next() : undefined;
      if (sealed === undefined) {
        throw error;
      }
      this.#options.logger.warn(
        { err: error },
        'there is no memory to put events of the feed in order; they are read one by one, which is slow',
      );
      return await this.#readSealed(zones, after, sealed.upTo, limit, signal);
    }
  }

  async #readWindow(window: FeedWindow, after: bigint, limit: number, signal: AbortSignal): Promise<FeedPiece> {
    const { zones, upTo } = window.stretch;
    const { connections } = this.#options;
    const piece = await connections.use((connection) => readWindow(window, after, limit, connection, signal), signal);
    if (piece.lastSequence >= upTo) {
      this.#windows.done(zones, after);
    } else if (isUnderWay(window, piece.lastSequence)) {
      this.#windows.prepare(zones, upTo, () => this.#nextSealed(zones, upTo));
    }
    return piece;
  }

  /** Sealed events one by one. Those that were dropped since the window was made are not among them. */
  async #readSealed(zones: Zones, after: bigint, upTo: bigint, limit: number, signal: AbortSignal): Promise<FeedPiece> {
    const { live, connections, links } = this.#options;
    return await connections.use(async (connection) => {
      const snapshot = live.snapshot();
      try {
        const source = (end: bigint) => sealedSource(snapshot, { zones, after, upTo: end }, links, connection, signal);
        return await links.explaining(readRows(source, upTo, limit, connection, signal));
      } finally {
        snapshot.release();
      }
    }, signal);
  }

  async #readHot(zones: Zones, after: bigint, limit: number, signal: AbortSignal): Promise<FeedPiece> {
    const { live, connections, links } = this.#options;
    return await connections.use(async (connection) => {
      const snapshot = live.snapshot();
      try {
        // What was hot may have been sealed while the connection was waited for.
        if (nextSealed(snapshot, zones, after) !== undefined) {
          return { lines: [], lastSequence: after };
        }
        const source = (upTo: bigint) => hotSource(snapshot, { zones, after, upTo });
        return await links.explaining(readRows(source, snapshot.endSequence - 1n, limit, connection, signal));
      } finally {
        snapshot.release();
      }
    }, signal);
  }

  #nextSealed(zones: Zones, after: bigint): SealedStretch | undefined {
    return nextSealed(this.#options.live, zones, after);
  }

  async #build(table: string, stretch: SealedStretch): Promise<FeedWindow> {
    const { live, connections, links } = this.#options;
    const { signal } = this.#closing;
    return await connections.use(async (connection) => {
      const snapshot = live.snapshot();
      try {
        return await links.explaining(buildWindow(table, stretch, snapshot, links, connection, signal));
      } finally {
        snapshot.release();
      }
    }, signal);
  }
}
