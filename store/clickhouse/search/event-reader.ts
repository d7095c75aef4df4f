import { eventsOf, type Moment } from '../../../sql/clickhouse/events.ts';
import type { SqlFragment, SqlStatement } from '../../../sql/statement.ts';
import type { ClickhouseClient, ClickhouseRows, ReadOptions } from '../server/client.ts';
import type { Groupings } from './groupings.ts';

/** Says what a read of several statements sees. */
export interface Moments {
  now(signal: AbortSignal | undefined): Promise<Moment>;
}

export interface EventSource {
  readonly client: Pick<ClickhouseClient, 'read'>;
  readonly moments: Moments;
  /** The table of events. */
  readonly table: string;
  readonly groupings: Groupings;
}

/** Reads events for one answer, until the signal aborts. */
export class EventReader {
  readonly #source: EventSource;
  readonly #signal: AbortSignal | undefined;
  readonly events: SqlFragment;

  private constructor(source: EventSource, signal: AbortSignal | undefined, moment: Moment | undefined) {
    this.#source = source;
    this.#signal = signal;
    this.events = eventsOf(source.table, moment);
  }

  /** For one statement, and others about events that it found. */
  static forOne(source: EventSource, signal: AbortSignal | undefined): EventReader {
    return new EventReader(source, signal, undefined);
  }

  /** For several statements, all of which see the events of this moment. */
  static async forSeveral(source: EventSource, signal: AbortSignal | undefined): Promise<EventReader> {
    return new EventReader(source, signal, await source.moments.now(signal));
  }

  get groupings(): Groupings {
    return this.#source.groupings;
  }

  get signal(): AbortSignal | undefined {
    return this.#signal;
  }

  async rows(statement: SqlStatement, settings?: ReadOptions['settings']): Promise<ClickhouseRows> {
    return await this.#source.client.read(statement, { signal: this.#signal, ...(settings === undefined ? {} : { settings }) });
  }
}
