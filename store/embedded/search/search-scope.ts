import { hullOf, type SearchPlan, type TimeWindow } from '../../../query/plan/search-plan.ts';
import { eventsByFile, eventsFrom, eventsRelation } from '../../../sql/events-relation.ts';
import type { SqlFragment } from '../../../sql/statement.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import { type BlobFile, blobFileWithNumber } from '../segment/blob-file.ts';
import { overlaps, rowsOfZones, type Segment } from '../segment/segment.ts';
import { type GrowingSegment, logOfGrowing, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';

/** The events in a window that were stored before the sequence `endSequence`. While `expiries` is the same, none of them has gone. */
export interface SearchExtent {
  readonly window: TimeWindow;
  readonly endSequence: bigint;
  readonly expiries: number;
}

/**
 * The parts that one search reads, and the connection that it reads them on: the segments that can hold events of its zones and window, and
 * the growing segments that can hold events of its zones. A statement names all of them, however many; DuckDB reads as many at a time as it
 * has threads.
 */
export class SearchScope {
  readonly plan: SearchPlan;
  readonly segments: readonly Segment[];
  readonly growingSegments: readonly GrowingSegment[];
  readonly aliases: PathAliases;
  readonly runner: StatementRunner;
  readonly #snapshot: Snapshot;
  readonly signal: AbortSignal | undefined;

  constructor(plan: SearchPlan, snapshot: Snapshot, aliases: PathAliases, runner: StatementRunner, signal: AbortSignal | undefined) {
    this.plan = plan;
    const { zones, window } = plan;
    this.segments = snapshot.segments.filter((segment) => rowsOfZones(segment, zones) > 0 && overlaps(segment, window.fromMs, window.toMs));
    this.growingSegments = snapshot.growingSegments.filter((segment) => zones === 'all' || zones.some((zone) => segment.zones.has(zone)));
    this.#snapshot = snapshot;
    this.aliases = aliases;
    this.runner = runner;
    this.signal = signal;
  }

  /** The same search within a part of its window. */
  during(window: TimeWindow): SearchScope {
    return this.asking({ window });
  }

  /** Another search of the same snapshot. */
  asking(change: Partial<SearchPlan>): SearchScope {
    return new SearchScope({ ...this.plan, ...change }, this.#snapshot, this.aliases, this.runner, this.signal);
  }

  /** The same search, read on another connection. */
  on(runner: StatementRunner): SearchScope {
    return new SearchScope(this.plan, this.#snapshot, this.aliases, runner, this.signal);
  }

  /** The events of the zones that this search has to count, apart from its predicate. */
  get extent(): SearchExtent {
    const { endSequence, expiries } = this.#snapshot;
    return { window: this.plan.window, endSequence, expiries };
  }

  /**
   * The events of the zones that an earlier search of the same zones did not have and this one can have, or the other way round, and maybe
   * others. Undefined: there are none.
   */
  eventsChangedSince(earlier: SearchExtent): SqlFragment | undefined {
    const { window } = this.plan;
    const { window: before, endSequence } = earlier;
    const hull = hullOf(before, window);
    const isInOne = (part: Pick<Segment, 'minTimestamp' | 'maxTimestamp'>) =>
      overlaps(part, hull.fromMs, Math.max(before.fromMs, window.fromMs)) || overlaps(part, Math.min(before.toMs, window.toMs), hull.toMs);
    const { segments, growingSegments } = this.during(hull);
    const paths = this.#paths(segments.filter((segment) => segment.maxSequence >= endSequence || isInOne(segment)));
    const growing = growingSegments.filter((part) => part.lastSequence >= endSequence || isInOne(part));
    return paths.length + growing.length === 0 ? undefined : eventsRelation(sourcesOf(growing), paths, this.#snapshot.endSequence);
  }

  /** The blob file with this number. Throws `corrupt` where there is none. */
  blobFile(number: number): BlobFile {
    return blobFileWithNumber(this.#snapshot.blobFiles, number);
  }

  /** The packed log of an unflushed event. Throws `corrupt` where there is none. */
  growingLog(sequence: bigint): Buffer {
    return logOfGrowing(this.#snapshot.growingSegments, sequence);
  }

  /** The highest time, in Unix milliseconds, that an event of the zones in these parts may have. */
  get newestMs(): number {
    return [...this.segments, ...this.growingSegments].reduce(
      (newest, { maxTimestamp }) => Math.max(newest, maxTimestamp),
      Number.NEGATIVE_INFINITY,
    );
  }

  /** Number of the zones' events in the segments. They need not all lie in the window. */
  get flushedRows(): number {
    return this.rowsIn(this.segments);
  }

  /** The most events of the zones that the window can hold. */
  get mostEvents(): number {
    return this.growingSegments.reduce((sum, { events }) => sum + events, this.flushedRows);
  }

  rowsIn(segments: readonly Segment[]): number {
    return segments.reduce((sum, segment) => sum + rowsOfZones(segment, this.plan.zones), 0);
  }

  /** The segments that can hold events of the zones in `window`. */
  segmentsIn({ fromMs, toMs }: TimeWindow, segments: readonly Segment[] = this.segments): Segment[] {
    return segments.filter((segment) => overlaps(segment, fromMs, toMs));
  }

  /** The events of these segments, with `fileOf` their segment as `file`, and the unflushed events. */
  eventsByFile(segments: readonly Segment[]): SqlFragment {
    return eventsByFile(sourcesOf(this.growingSegments), this.#paths(segments), this.#snapshot.endSequence);
  }

  /** The events of these segments, and no unflushed ones. */
  flushedEvents(segments: readonly Segment[]): SqlFragment {
    return eventsRelation([], this.#paths(segments), this.#snapshot.endSequence);
  }

  /** The path by which DuckDB reads a segment. */
  fileOf({ file }: Segment): string {
    return this.aliases.segmentAlias(file);
  }

  /** The events that can lie in `window`, from these segments and the unflushed ones. */
  events(window: TimeWindow = this.plan.window, segments: readonly Segment[] = this.segments): SqlFragment {
    const paths = this.#paths(this.segmentsIn(window, segments));
    return eventsRelation(sourcesOf(this.growingSegments), paths, this.#snapshot.endSequence);
  }

  /** The events from this sequence on that can lie in the window. Undefined: there are none. */
  eventsStoredSince(sequence: bigint): SqlFragment | undefined {
    const events = this.eventsChangedSince({ ...this.extent, endSequence: sequence });
    return events && eventsFrom(events, sequence);
  }

  #paths(segments: readonly Segment[]): string[] {
    return segments.map((segment) => this.fileOf(segment));
  }
}
