import type { Moment } from '../../../sql/clickhouse/events.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import { runningInsertsStatement } from '../../../sql/clickhouse/visibility-statement.ts';
import type { StoreLogger } from '../../event-store.ts';
import type { ClickhouseClient } from './client.ts';

/** An insert of events that may be visible in part. */
interface RunningInsert {
  readonly writer: number;
  /** The server's time when it began, microseconds. */
  readonly begunAt: bigint;
}

/** The comment of the inserts of a process into a store's table of events. `system.processes` shows it. */
export function insertMark(database: string, writer: number): string {
  return `${markOf(database)}${writer}`;
}

function markOf(database: string): string {
  return `shieldlog events ${JSON.stringify(database)} `;
}

/**
 * What readers may see. An event is visible when its insert is done; `system.processes` lists those that are not. The sequence of an event
 * is the server's time at its insert, so a time before which no running insert began is one before which all events are visible.
 */
export class Visibility {
  readonly #client: ClickhouseClient;
  readonly #database: string;
  readonly #logger: StoreLogger;
  /** The highest horizon so far. */
  #horizon = 0n;

  constructor(client: ClickhouseClient, database: string, logger: StoreLogger) {
    this.#client = client;
    this.#database = database;
    this.#logger = logger;
  }

  /** What a read of several statements sees: all that is acknowledged by now, and nothing of what is being inserted. */
  async now(signal?: AbortSignal): Promise<Moment> {
    const { time, running } = await this.#look(signal);
    return {
      beforeSeq: time * BigInt(WRITERS),
      running: running.map(({ writer, begunAt }) => ({ fromSeq: begunAt * BigInt(WRITERS), writer })),
    };
  }

  /** All events with a lower sequence are visible, and none will come later. It never goes back. */
  async horizon(signal?: AbortSignal): Promise<bigint> {
    const { time, running } = await this.#look(signal);
    let begun = time;
    for (const { begunAt } of running) {
      if (begunAt < begun) {
        begun = begunAt;
      }
    }
    const horizon = begun * BigInt(WRITERS);
    if (horizon >= this.#horizon) {
      this.#horizon = horizon;
    } else if (time * BigInt(WRITERS) < this.#horizon) {
      const behindMs = Number((this.#horizon / BigInt(WRITERS) - time) / 1000n);
      this.#logger.warn(
        { behindMs },
        'the clock of ClickHouse has stepped back: events that it stores until then come before what readers have',
      );
    }
    return this.#horizon;
  }

  async #look(signal: AbortSignal | undefined): Promise<{ readonly time: bigint; readonly running: readonly RunningInsert[] }> {
    const mark = markOf(this.#database);
    const { rows } = await this.#client.read(runningInsertsStatement(mark), { signal });
    const [time, inserts] = rows[0] as unknown as [string, readonly (readonly [comment: string, elapsed: string])[]];
    const now = BigInt(time);
    const running = inserts.map(([comment, elapsed]) => ({ writer: Number(comment.slice(mark.length)), begunAt: now - BigInt(elapsed) }));
    return { time: now, running };
  }
}
