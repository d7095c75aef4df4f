import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchPlan } from '../../../query/search-plan.ts';
import { SerialQueue } from '../../serial-queue.ts';
import type { StoreLogger } from '../../store-logger.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { IdleGate } from '../runtime/idle-gate.ts';
import type { ReadZone } from '../search/search-scope.ts';
import { dropCachedZone, loadZone } from '../segment/cached-zone.ts';
import { overlaps, type Segment } from '../segment/segment.ts';
import type { Snapshot, VersionSet } from '../snapshot/version-set.ts';
import { ZoneDemand } from './zone-demand.ts';
import { estimateBytes, type ZoneRowCacheLimits } from './zone-row-cache-limits.ts';

export interface ZoneRowCacheOptions {
  readonly versions: VersionSet;
  readonly aliases: PathAliases;
  /** Of its own: tables are made on it while searches go on. */
  readonly connection: DuckDBConnection;
  readonly gate: IdleGate;
  readonly limits: ZoneRowCacheLimits;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly logger: StoreLogger;
}

/** A cached zone that a search may read until it releases it. */
export interface ZoneLease extends ReadZone {
  release(): void;
}

interface Entry extends ReadZone {
  readonly bytes: number;
  usedAtMs: number;
  readers: number;
  isLeaving: boolean;
}

/**
 * Caches the rows of small zones that are searched again and again. The segments of such a zone are many and hold few of its rows, so
 * opening and decompressing them is what a search costs. No answer is kept; every search still looks at the rows.
 *
 * A table has all rows that its zone has in some segments, and is read in the place of those segments by searches whose snapshot has all of
 * them. Segments that came later are read beside it. A table is made in the background by the second search that reads several files, and
 * again once there are several beside it or one of its own is gone, but not more often than once a minute: where events come in fast,
 * segments do too. The search itself never waits for that, and while anybody searches the making waits, for a while.
 */
export class ZoneRowCache {
  readonly #options: ZoneRowCacheOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #demand: ZoneDemand;
  readonly #building = new Set<number>();
  readonly #queue = new SerialQueue();
  readonly #closing = new AbortController();
  #lastId = 0;

  constructor(options: ZoneRowCacheOptions) {
    this.#options = options;
    this.#demand = new ZoneDemand(options.limits, options.now);
  }

  get count(): number {
    return this.#entries.size;
  }

  /** What all of them are estimated to take. */
  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Returns the rows that this search may read, or undefined where it reads files. Counts the search either way. */
  acquire({ zoneId, window }: Pick<SearchPlan, 'zoneId' | 'window'>, snapshot: Snapshot): ZoneLease | undefined {
    const { now, limits } = this.#options;
    const segments = segmentsOf(zoneId, snapshot);
    const entry = this.#fitting(zoneId, segments);
    const files = segments.filter((segment) => !entry?.segments.has(segment) && overlaps(segment, window.fromMs, window.toMs));
    if (files.length >= limits.manyFiles) {
      this.#want(zoneId, segments);
    }
    if (entry === undefined) {
      return undefined;
    }
    entry.usedAtMs = now();
    entry.readers += 1;
    const release = () => {
      entry.readers -= 1;
      this.#dropIfUnread(entry);
    };
    return { table: entry.table, segments: entry.segments, release };
  }

  /** Resolves when no table is being made or dropped; for tests and tools. */
  async idle(): Promise<void> {
    await this.#queue.idle();
  }

  /** Evicts the zones that no search has used for a while. */
  evictUnused(): void {
    const { now, limits } = this.#options;
    const oldest = now() - limits.keptMs;
    for (const [zoneId, { usedAtMs }] of this.#entries) {
      if (usedAtMs < oldest) {
        this.#drop(zoneId);
      }
    }
    this.#demand.forgetOld();
  }

  /** Evicts all zones and reads none for a while, because memory is short or something is wrong. */
  evictAll(): void {
    this.#demand.pause();
    for (const zoneId of this.#entries.keys()) {
      this.#drop(zoneId);
    }
  }

  /** Interrupts what is being made and waits for its end. No table is dropped any more: they go with the engine. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue.idle();
  }

  /** A table some segments of which are gone is dropped, and counts as a search in files. */
  #fitting(zoneId: number, segments: readonly Segment[]): Entry | undefined {
    const entry = this.#entries.get(zoneId);
    if (entry === undefined || fits(entry, segments)) {
      return entry;
    }
    this.#drop(zoneId);
    return undefined;
  }

  #want(zoneId: number, segments: readonly Segment[]): void {
    const { maxRows, maxWaiting } = this.#options.limits;
    const canHave = zoneRowsIn(zoneId, segments) <= maxRows && !this.#building.has(zoneId) && this.#building.size < maxWaiting;
    if (canHave && this.#demand.isWorthCaching(zoneId)) {
      this.#building.add(zoneId);
      void this.#queue.run(() => this.#build(zoneId)).finally(() => this.#building.delete(zoneId));
    }
  }

  /** Never rejects: without a table a search reads files. */
  async #build(zoneId: number): Promise<void> {
    const { versions, aliases, connection, gate, limits, now, logger } = this.#options;
    const segments = segmentsOf(zoneId, versions);
    // No more than these: it may be a while.
    const release = versions.acquire(segments);
    const bytes = estimateBytes(zoneId, segments);
    try {
      if (
        this.#closing.signal.aborted ||
        segments.length === 0 ||
        zoneRowsIn(zoneId, segments) > limits.maxRows ||
        !this.#makeRoom(zoneId, bytes)
      ) {
        return;
      }
      this.#lastId -= 1;
      const order = { id: this.#lastId, zoneId, segments };
      const means = { aliases, connection, moment: gate.waiting(limits.maxWaitMs) };
      const table = await aliases.withOriginalPaths(loadZone(order, means, this.#closing.signal));
      const entry = { table, segments: new Set(segments), bytes, usedAtMs: now(), readers: 0, isLeaving: false };
      this.#drop(zoneId);
      this.#entries.set(zoneId, entry);
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        logger.warn({ err: error, zoneId }, 'the events of a zone could not be read into memory; its files are searched');
        this.evictAll();
      }
    } finally {
      release();
    }
  }

  /** False where that would drop tables that are in use. */
  #makeRoom(zoneId: number, bytes: number): boolean {
    const { limits, now } = this.#options;
    const others = [...this.#entries].filter(([id]) => id !== zoneId).sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
    let total = others.reduce((sum, [, entry]) => sum + entry.bytes, bytes);
    const least: number[] = [];
    for (const [id, entry] of others) {
      if (total <= limits.maxBytes || now() - entry.usedAtMs < limits.inUseMs) {
        break;
      }
      total -= entry.bytes;
      least.push(id);
    }
    if (total > limits.maxBytes) {
      return false;
    }
    for (const id of least) {
      this.#drop(id);
    }
    return true;
  }

  #drop(zoneId: number): void {
    const entry = this.#entries.get(zoneId);
    if (entry !== undefined) {
      this.#entries.delete(zoneId);
      entry.isLeaving = true;
      this.#dropIfUnread(entry);
    }
  }

  #dropIfUnread({ table, readers, isLeaving }: Entry): void {
    const { connection, logger } = this.#options;
    if (!isLeaving || readers > 0) {
      return;
    }
    this.#queue
      .run(async () => {
        if (!this.#closing.signal.aborted) {
          await dropCachedZone(table, connection);
        }
      })
      .catch((error: unknown) => {
        logger.error({ err: error }, 'a table that is not needed any more could not be dropped; it stays in memory until a restart');
      });
  }
}

function segmentsOf(zoneId: number, { segments }: Pick<Snapshot, 'segments'>): Segment[] {
  return segments.filter(({ zoneRows }) => zoneRows.has(zoneId));
}

function zoneRowsIn(zoneId: number, segments: readonly Segment[]): number {
  return segments.reduce((sum, { zoneRows }) => sum + (zoneRows.get(zoneId) ?? 0), 0);
}

function fits(entry: ReadZone, segments: readonly Segment[]): boolean {
  return segments.filter((segment) => entry.segments.has(segment)).length === entry.segments.size;
}
