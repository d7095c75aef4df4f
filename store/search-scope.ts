import { join } from 'node:path';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import type { SearchPlan, TimeWindow } from '../query/search-plan.ts';
import { eventsByFile, eventsRelation } from '../sql/events-relation.ts';
import type { SqlFragment } from '../sql/fragment.ts';
import type { SqlStatement } from '../sql/statement.ts';
import type { Bundle } from './bundle.ts';
import { boundTo, interruptible, runStatement } from './duckdb-engine.ts';
import type { HotTable } from './hot-table.ts';
import type { Snapshot } from './live-set.ts';
import { overlaps, type Segment } from './segment.ts';
import { StoreError } from './store-error.ts';

/** What one search may read and how: the segments that can hold events of its zone and window, the hot tables that can hold such of its zone, one connection. */
export class SearchScope {
  readonly plan: SearchPlan;
  readonly segments: readonly Segment[];
  readonly hotTables: readonly HotTable[];
  readonly segmentsFolder: string;
  readonly #snapshot: Snapshot;
  readonly #connection: DuckDBConnection;
  readonly #signal: AbortSignal | undefined;

  constructor(plan: SearchPlan, snapshot: Snapshot, segmentsFolder: string, connection: DuckDBConnection, signal: AbortSignal | undefined) {
    this.plan = plan;
    this.segments = snapshot.segments.filter(
      (segment) => segment.zoneRows.has(plan.zoneId) && overlaps(segment, plan.window.fromMs, plan.window.toMs),
    );
    this.hotTables = snapshot.hotTables.filter(({ zones }) => zones.has(plan.zoneId));
    this.#snapshot = snapshot;
    this.segmentsFolder = segmentsFolder;
    this.#connection = connection;
    this.#signal = signal;
  }

  run(statement: SqlStatement): Promise<DuckDBValue[][]> {
    return runStatement(this.#connection, statement, this.#signal);
  }

  /** Hands over a statement's one column of doubles, piece by piece. */
  streamNumbers(statement: SqlStatement, take: (numbers: readonly number[]) => void): Promise<void> {
    return interruptible(this.#connection, this.#signal, async () => {
      const result = await this.#connection.stream(statement.text, ...boundTo(statement));
      for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
        take(chunk.getColumnValues(0) as number[]);
      }
    });
  }

  /** Those of the snapshot, whatever their zone and time. */
  get liveSegments(): ReadonlySet<number> {
    return new Set(this.#snapshot.segments.map(({ id }) => id));
  }

  /** The bundle with this number. Throws `corrupt` where there is none. */
  bundle(number: bigint): Bundle {
    const found = this.#snapshot.bundles.find((bundle) => bundle.number === Number(number));
    if (found === undefined) {
      throw new StoreError('corrupt', `bundle ${number} is not in the catalog`);
    }
    return found;
  }

  /** How many events of the zone are in the segments; not all of them need lie in the window. */
  get sealedRows(): number {
    return this.rowsIn(this.segments);
  }

  rowsIn(segments: readonly Segment[]): number {
    return segments.reduce((sum, { zoneRows }) => sum + (zoneRows.get(this.plan.zoneId) ?? 0), 0);
  }

  /** Those that can hold events of the zone in `window`. */
  segmentsIn({ fromMs, toMs }: TimeWindow, segments: readonly Segment[] = this.segments): Segment[] {
    return segments.filter((segment) => overlaps(segment, fromMs, toMs));
  }

  /** The events of these segments and the hot tables that can lie in the plan's window, with the path of their segment as `file`. */
  eventsByFile(segments: readonly Segment[]): SqlFragment {
    return eventsByFile(
      this.hotTables,
      segments.map((segment) => this.pathOf(segment)),
      this.#snapshot.endSequence,
    );
  }

  /** The events of these segments, and of no hot table. */
  sealedEvents(segments: readonly Segment[]): SqlFragment {
    return eventsRelation(
      [],
      segments.map((segment) => this.pathOf(segment)),
      this.#snapshot.endSequence,
    );
  }

  pathOf({ file }: Segment): string {
    return join(this.segmentsFolder, file);
  }

  /** The events that can lie in `window`, from these segments and the hot tables. */
  events(window: TimeWindow = this.plan.window, segments: readonly Segment[] = this.segments): SqlFragment {
    const within = this.segmentsIn(window, segments);
    return eventsRelation(
      this.hotTables,
      within.map((segment) => this.pathOf(segment)),
      this.#snapshot.endSequence,
    );
  }
}
