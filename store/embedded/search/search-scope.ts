import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import type { SearchPlan, TimeWindow } from '../../../query/search-plan.ts';
import { eventsByFile, eventsRelation } from '../../../sql/events-relation.ts';
import type { SqlFragment } from '../../../sql/fragment.ts';
import type { SqlStatement } from '../../../sql/statement.ts';
import { runStatement, streamStatement } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import { type BlobFile, blobFileWithNumber } from '../segment/blob-file.ts';
import type { CachedZone } from '../segment/cached-zone.ts';
import { overlaps, type Segment } from '../segment/segment.ts';
import { type GrowingSegment, logOfGrowing, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';

/** Flushed events that never change: a segment, or what the zone has in several of them, read into memory. */
export type FlushedPart = Segment | CachedZone;

/** A cached zone, and the segments whose rows of the zone are in it. */
export interface ReadZone {
  readonly table: CachedZone;
  readonly segments: ReadonlySet<Segment>;
}

/**
 * What one search may read and how: the segments that can hold events of its zone and window, the growing segments that can hold such of
 * its zone, one connection.
 */
export class SearchScope {
  readonly plan: SearchPlan;
  readonly segments: readonly Segment[];
  /** What those of the segments' events are read from that can lie in the window. */
  readonly flushed: readonly FlushedPart[];
  readonly growingSegments: readonly GrowingSegment[];
  readonly aliases: PathAliases;
  readonly #snapshot: Snapshot;
  readonly #connection: DuckDBConnection;
  readonly signal: AbortSignal | undefined;
  readonly #zone: ReadZone | undefined;

  /** With `zone` its table is read instead of its segments, all of which are in the snapshot. */
  constructor(
    plan: SearchPlan,
    snapshot: Snapshot,
    aliases: PathAliases,
    connection: DuckDBConnection,
    signal: AbortSignal | undefined,
    zone?: ReadZone,
  ) {
    this.plan = plan;
    this.segments = snapshot.segments.filter(
      (segment) => segment.zoneRows.has(plan.zoneId) && overlaps(segment, plan.window.fromMs, plan.window.toMs),
    );
    this.#zone = zone;
    this.flushed = this.flushedIn(plan.window, this.#inMemory(this.segments, plan.window));
    this.growingSegments = snapshot.growingSegments.filter(({ zones }) => zones.has(plan.zoneId));
    this.#snapshot = snapshot;
    this.aliases = aliases;
    this.#connection = connection;
    this.signal = signal;
  }

  /** The same search within a part of its window. */
  during(window: TimeWindow): SearchScope {
    return new SearchScope({ ...this.plan, window }, this.#snapshot, this.aliases, this.#connection, this.signal, this.#zone);
  }

  run(statement: SqlStatement): Promise<DuckDBValue[][]> {
    return this.aliases.withOriginalPaths(runStatement(this.#connection, statement, this.signal));
  }

  /** Hands over a statement's one column of doubles, piece by piece. */
  async streamNumbers(statement: SqlStatement, take: (numbers: readonly number[]) => void): Promise<void> {
    const streaming = streamStatement(this.#connection, statement, this.signal, (chunk) => {
      take(chunk.getColumnValues(0) as number[]);
      return true;
    });
    await this.aliases.withOriginalPaths(streaming);
  }

  /** Those of the snapshot, whatever their zone and time. */
  get currentSegments(): ReadonlySet<number> {
    return new Set(this.#snapshot.segments.map(({ id }) => id));
  }

  /** The blob file with this number. Throws `corrupt` where there is none. */
  blobFile(number: number): BlobFile {
    return blobFileWithNumber(this.#snapshot.blobFiles, number);
  }

  /** The packed log of an unflushed event. Throws `corrupt` where there is none. */
  growingLog(sequence: bigint): Buffer {
    return logOfGrowing(this.#snapshot.growingSegments, sequence);
  }

  /** No event of the zone that can lie in the window is later. */
  get newestMs(): number {
    return [...this.flushed, ...this.growingSegments].reduce(
      (newest, { maxTimestamp }) => Math.max(newest, maxTimestamp),
      Number.NEGATIVE_INFINITY,
    );
  }

  /** How many events of the zone are in the segments; not all of them need lie in the window. */
  get flushedRows(): number {
    return this.rowsIn(this.segments);
  }

  rowsIn(segments: readonly Segment[]): number {
    return segments.reduce((sum, { zoneRows }) => sum + (zoneRows.get(this.plan.zoneId) ?? 0), 0);
  }

  /** Those that can hold events of the zone in `window`. */
  flushedIn({ fromMs, toMs }: TimeWindow, flushed: readonly FlushedPart[] = this.flushed): FlushedPart[] {
    return flushed.filter((part) => overlaps(part, fromMs, toMs));
  }

  /** The events of these parts and the unflushed ones that can lie in the plan's window, with the `fileOf` their part as `file`. */
  eventsByFile(flushed: readonly FlushedPart[]): SqlFragment {
    const { paths, tables } = this.#sources(flushed);
    return eventsByFile(sourcesOf(this.growingSegments), paths, this.#snapshot.endSequence, tables);
  }

  /** The events of these segments that can lie in the plan's window, and no unflushed ones. */
  flushedEvents(segments: readonly Segment[]): SqlFragment {
    const { paths, tables } = this.#sources(this.#inMemory(segments, this.plan.window));
    return eventsRelation([], paths, this.#snapshot.endSequence, tables);
  }

  /** The path that a segment is read by, the name of a table. */
  fileOf(part: FlushedPart): string {
    return 'file' in part ? this.aliases.segmentAlias(part.file) : part.table;
  }

  /** The events that can lie in `window`, from these parts and the unflushed ones. */
  events(window: TimeWindow = this.plan.window, flushed: readonly FlushedPart[] = this.flushed): SqlFragment {
    const { paths, tables } = this.#sources(this.flushedIn(window, this.#inMemory(flushed, window)));
    return eventsRelation(sourcesOf(this.growingSegments), paths, this.#snapshot.endSequence, tables);
  }

  /**
   * The cached zone in the place of its segments, where all of them are wanted that can hold anything in the window; else what is wanted,
   * as it is.
   */
  #inMemory(flushed: readonly FlushedPart[], { fromMs, toMs }: TimeWindow): readonly FlushedPart[] {
    const zone = this.#zone;
    const held = [...(zone?.segments ?? [])].filter((segment) => overlaps(segment, fromMs, toMs));
    if (zone === undefined || held.length === 0 || !held.every((segment) => flushed.includes(segment))) {
      return flushed;
    }
    return [zone.table, ...flushed.filter((part) => !('file' in part && zone.segments.has(part)))];
  }

  #sources(flushed: readonly FlushedPart[]): { readonly paths: string[]; readonly tables: string[] } {
    const paths = flushed.filter((part) => 'file' in part).map((part) => this.fileOf(part));
    const tables = flushed.filter((part) => 'table' in part).map(({ table }) => table);
    return { paths, tables };
  }
}
