import type { ZoneSelection } from '../../../query/plan/search-plan.ts';
import { SHARDED_EVENTS } from '../../../sql/clickhouse/cluster.ts';
import { eventsOf, type Moment } from '../../../sql/clickhouse/events.ts';
import type { SqlFragment, SqlStatement } from '../../../sql/statement.ts';
import type { BudgetedCache } from '../../budgeted-cache.ts';
import type { ClickhouseClient, ReadOptions } from '../server/client.ts';
import type { ClickhouseRows } from '../server/json-rows.ts';
import type { HeldResults } from '../server/result-memory.ts';
import { type ClickhouseSettings, settingsOfZones } from '../server/settings.ts';

/** Says what a read of several statements sees. */
export interface Moments {
  now(signal: AbortSignal | undefined): Promise<Moment>;
}

export interface EventSource {
  readonly client: Pick<ClickhouseClient, 'read' | 'readRow' | 'holdResults'>;
  readonly moments: Moments;
  /** The table of events. */
  readonly table: string;
  /** Which groupings of which zones had many groups. It says how a page is best read, and not what is on it. */
  readonly manyGroups: BudgetedCache<string, true>;
}

/** Reads events for one answer, until the signal aborts. */
export class EventReader implements Disposable {
  readonly source: EventSource;
  readonly signal: AbortSignal | undefined;
  readonly #settings: ClickhouseSettings;
  readonly events: SqlFragment;
  #held: HeldResults | undefined;

  private constructor(source: EventSource, zones: ZoneSelection, signal: AbortSignal | undefined, moment: Moment | undefined) {
    this.source = source;
    this.signal = signal;
    this.#settings = settingsOfZones(source.table, zones);
    this.events = eventsOf(source.table, moment);
  }

  /** For one statement about events of these zones, and others about events that it found. */
  static forOne(source: EventSource, zones: ZoneSelection, signal: AbortSignal | undefined): EventReader {
    return new EventReader(source, zones, signal, undefined);
  }

  /** For several statements about events of these zones, all of which see those of this moment. */
  static async forSeveral(source: EventSource, zones: ZoneSelection, signal: AbortSignal | undefined): Promise<EventReader> {
    return new EventReader(source, zones, signal, await source.moments.now(signal));
  }

  /** Has the results of all statements count together until the reader is disposed; what is read later counts by itself. */
  holding(): this {
    this.#held = this.source.client.holdResults();
    return this;
  }

  [Symbol.dispose](): void {
    this.#held?.[Symbol.dispose]();
    this.#held = undefined;
  }

  /** Whether the events are those of several shards. */
  get areSharded(): boolean {
    return this.source.table === SHARDED_EVENTS;
  }

  async rows(statement: SqlStatement, settings?: ReadOptions['settings']): Promise<ClickhouseRows> {
    return await this.source.client.read(statement, this.#options(settings));
  }

  /** The row of a statement that always has one. */
  async row(statement: SqlStatement): Promise<readonly unknown[]> {
    return await this.source.client.readRow(statement, this.#options());
  }

  #options(settings?: ReadOptions['settings']): ReadOptions {
    return { signal: this.signal, settings: { ...this.#settings, ...settings }, held: this.#held };
  }
}
