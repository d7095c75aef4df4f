import { hullOf, type SearchPlan, type TimeWindow } from '../../../query/plan/search-plan.ts';
import { eventsByFile, eventsFrom, eventsRelation } from '../../../sql/events-relation.ts';
import type { SqlFragment } from '../../../sql/statement.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import type { CheckedSegment, CheckSegments } from '../integrity/segment-checks.ts';
import { overlaps, rowsOfZones, type Segment } from '../segment/segment.ts';
import { type GrowingSegment, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';

/** The events in a window that were stored before the sequence `endSequence`. While `expiries` is the same, none of them has gone. */
export interface SearchExtent {
  readonly window: TimeWindow;
  readonly endSequence: bigint;
  readonly expiries: number;
}

/** Where a search reads. */
export interface ScopeSource {
  readonly snapshot: Snapshot;
  readonly aliases: PathAliases;
  readonly check: CheckSegments;
  readonly runner: StatementRunner;
  readonly signal: AbortSignal | undefined;
}

/**
 * The parts that one search reads, and the connection that it reads them on: the segments that can hold events of its zones and window, and
 * the growing segments that can hold events of its zones. A statement names all of them, however many; DuckDB reads as many at a time as it
 * has threads.
 */
export class SearchScope {
  readonly plan: SearchPlan;
  readonly segments: readonly CheckedSegment[];
  readonly growingSegments: readonly GrowingSegment[];
  readonly source: ScopeSource;
  readonly runner: StatementRunner;

  private constructor(plan: SearchPlan, segments: readonly CheckedSegment[], source: ScopeSource) {
    const { zones, window } = plan;
    this.plan = plan;
    this.segments = segments.filter(isIn(window));
    this.growingSegments = source.snapshot.growingSegments.filter((part) => zones === 'all' || zones.some((zone) => part.zones.has(zone)));
    this.source = source;
    this.runner = source.runner;
  }

  /** Checks the segments of the search first. Rejects as `check` does. */
  static async open(plan: SearchPlan, source: ScopeSource): Promise<SearchScope> {
    const segments = source.snapshot.segments.filter((segment) => rowsOfZones(segment, plan.zones) > 0).filter(isIn(plan.window));
    return new SearchScope(plan, await source.check(segments, plan.zones), source);
  }

  /** Another search of the same zones in the same window, or in a part of it. */
  asking(change: Partial<Omit<SearchPlan, 'zones'>>): SearchScope {
    const { fromMs, toMs } = this.plan.window;
    if (change.window !== undefined && (change.window.fromMs < fromMs || change.window.toMs > toMs)) {
      throw new Error('a search cannot ask about times of which no segment was checked');
    }
    return new SearchScope({ ...this.plan, ...change }, this.segments, this.source);
  }

  /** The same search, read on another connection. */
  on(runner: StatementRunner): SearchScope {
    return new SearchScope(this.plan, this.segments, { ...this.source, runner });
  }

  /** The events of the zones that this search has to count, apart from its predicate. */
  get extent(): SearchExtent {
    const { endSequence, expiries } = this.source.snapshot;
    return { window: this.plan.window, endSequence, expiries };
  }

  /**
   * The events of the zones that an earlier search of the same zones did not have and this one can have, or the other way round, and maybe
   * others. Undefined: there are none.
   */
  async eventsChangedSince(earlier: SearchExtent): Promise<SqlFragment | undefined> {
    const { window } = this.plan;
    const { window: before, endSequence } = earlier;
    const hull = hullOf(before, window);
    const isInOne = (part: Pick<Segment, 'minTimestamp' | 'maxTimestamp'>) =>
      overlaps(part, hull.fromMs, Math.max(before.fromMs, window.fromMs)) || overlaps(part, Math.min(before.toMs, window.toMs), hull.toMs);
    const { segments } = await SearchScope.open({ ...this.plan, window: hull }, this.source);
    const paths = this.#paths(segments.filter((segment) => segment.maxSequence >= endSequence || isInOne(segment)));
    const growing = this.growingSegments.filter((part) => part.lastSequence >= endSequence || isInOne(part));
    return paths.length + growing.length === 0 ? undefined : eventsRelation(sourcesOf(growing), paths, this.source.snapshot.endSequence);
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
  segmentsIn(window: TimeWindow, segments: readonly CheckedSegment[] = this.segments): CheckedSegment[] {
    return segments.filter(isIn(window));
  }

  /** The events of these segments, with `fileOf` their segment as `file`, and the unflushed events. */
  eventsByFile(segments: readonly CheckedSegment[]): SqlFragment {
    return eventsByFile(sourcesOf(this.growingSegments), this.#paths(segments), this.source.snapshot.endSequence);
  }

  /** The events of these segments, and no unflushed ones. */
  flushedEvents(segments: readonly CheckedSegment[]): SqlFragment {
    return eventsRelation([], this.#paths(segments), this.source.snapshot.endSequence);
  }

  /** The path by which DuckDB reads a segment. */
  fileOf(segment: CheckedSegment): string {
    return this.source.aliases.segmentAlias(segment);
  }

  /** The events that can lie in `window`, from these segments and the unflushed ones. */
  events(window: TimeWindow = this.plan.window, segments: readonly CheckedSegment[] = this.segments): SqlFragment {
    const paths = this.#paths(this.segmentsIn(window, segments));
    return eventsRelation(sourcesOf(this.growingSegments), paths, this.source.snapshot.endSequence);
  }

  /** The events from this sequence on that can lie in the window. Undefined: there are none. */
  async eventsStoredSince(sequence: bigint): Promise<SqlFragment | undefined> {
    const events = await this.eventsChangedSince({ ...this.extent, endSequence: sequence });
    return events && eventsFrom(events, sequence);
  }

  #paths(segments: readonly CheckedSegment[]): string[] {
    return segments.map((segment) => this.fileOf(segment));
  }
}

function isIn({ fromMs, toMs }: TimeWindow): (segment: Segment) => boolean {
  return (segment) => overlaps(segment, fromMs, toMs);
}
