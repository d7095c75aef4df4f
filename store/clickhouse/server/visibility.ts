import { type Cluster, syncReplicasStatement } from '../../../sql/clickhouse/cluster.ts';
import type { Moment } from '../../../sql/clickhouse/events.ts';
import { arrivalCountStatement } from '../../../sql/clickhouse/feed-statements.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import { runningInsertsStatement } from '../../../sql/clickhouse/visibility-statement.ts';
import type { StoreLogger } from '../../event-store.ts';
import type { ClickhouseClient } from './client.ts';
import { isNodeAway } from './server-error.ts';
import type { ClickhouseSettings } from './settings.ts';

/** An insert of events that may be visible in part. */
interface RunningInsert {
  readonly writer: number;
  /** The server's time when it began, microseconds. */
  readonly begunAt: bigint;
  /** Whether a node runs it for another one that no longer does: it has begun there before, and it is not known when. */
  readonly isLeftBehind: boolean;
}

/** An insert reaches the nodes of its shards within this time, microseconds. */
const LONGEST_WAY = 300_000_000n;

/** The comment of the inserts of a process into a store's table of events. `system.processes` shows it. */
export function insertMark(database: string, writer: number): string {
  return `${markOf(database)}${writer}`;
}

function markOf(database: string): string {
  return `shieldlog events ${JSON.stringify(database)} `;
}

/** What the servers tell at one moment. */
interface Look {
  /** The clocks of the servers, microseconds: the one that is most behind, and the one that is most ahead. */
  readonly earliest: bigint;
  readonly latest: bigint;
  readonly running: readonly RunningInsert[];
  /** The time at which the last of the nodes of a cluster started, microseconds; 0 where there is one server. */
  readonly startedAt: bigint;
}

/** A clock that has stepped back behind the horizon. */
interface StepBack {
  /** The lowest sequence that was given since, as far as it is known. */
  readonly fromSeq: bigint;
  /** The events between that and the horizon when they were last counted. */
  readonly events: number;
  readonly lateBefore: number;
}

export interface VisibilityOptions {
  readonly client: Pick<ClickhouseClient, 'read' | 'readRow' | 'run'>;
  readonly database: string;
  /** The table that events are read from. */
  readonly table: string;
  /** The table that has the events of the server, or of a shard. */
  readonly local: string;
  /** The cluster whose nodes all take inserts; null where there is one server. */
  readonly cluster: Cluster | null;
  readonly logger: StoreLogger;
}

/** Clocks differ by less than this on any servers that keep time. */
const NOTED_MS = 1_000;

/** Servers tell in whole seconds for how long they run. */
const START_PRECISION = 2_000_000n;

/**
 * What readers may see. An event is visible when its insert is done; `system.processes` lists those that are not. The sequence of an event
 * is the server's time at its insert, so a time before which no running insert began is one before which all events are visible. Of several
 * servers the clock that is most behind counts.
 */
export class Visibility {
  readonly #options: VisibilityOptions;
  /** The highest horizon so far. */
  #horizon = 0n;
  #stepBack: StepBack | undefined;
  #counting: Promise<void> | undefined;
  #lateEvents = 0;
  #behindMs = 0;
  #isNodeAway = false;
  /** The start of a node after which all replicas have caught up; undefined where none is known to have. */
  #caughtUpSince: bigint | undefined;

  constructor(options: VisibilityOptions) {
    this.#options = options;
  }

  /** How many events were stored below a horizon that was given out, since its clock was seen to have stepped back. */
  get lateEvents(): number {
    return this.#lateEvents;
  }

  /** How far a clock is behind those of other servers, or behind the horizon; 0 below a second. */
  get clockBehindMs(): number {
    return this.#behindMs < NOTED_MS ? 0 : this.#behindMs;
  }

  /** What a read of several statements sees: all that is acknowledged by now, and nothing of what is being inserted. */
  async now(signal?: AbortSignal): Promise<Moment> {
    // A node that is away inserts nothing.
    const { latest, running } = await this.#look(signal, { skip_unavailable_shards: 1 });
    return {
      beforeSeq: latest * BigInt(WRITERS),
      running: running.map(({ writer, begunAt }) => ({ fromSeq: begunAt * BigInt(WRITERS), writer })),
    };
  }

  /**
   * All events with a lower sequence are visible, and none will come later unless a clock steps back. It never goes back, and stays where
   * it is while a node of the cluster cannot be asked.
   */
  async horizon(signal?: AbortSignal): Promise<bigint> {
    // Of looks at the same time, one that was taken before may come in later: only this one's own past tells of a step back.
    const known = this.#horizon;
    const look = await this.#lookAtAll(signal);
    if (look === undefined) {
      return this.#horizon;
    }
    const { earliest, latest, running } = look;
    const starts = running.map(({ begunAt, isLeftBehind }) => (isLeftBehind ? begunAt - LONGEST_WAY : begunAt));
    const [begun = earliest] = ascending([earliest, ...starts]);
    const horizon = begun * BigInt(WRITERS);
    const time = earliest * BigInt(WRITERS);
    const ahead = latest * BigInt(WRITERS) > known ? latest : known / BigInt(WRITERS);
    this.#behindMs = Number((ahead - earliest) / 1000n);
    if (time < known || this.#stepBack !== undefined) {
      this.#counting ??= this.#countLate(time);
      await this.#counting;
    }
    if (horizon > this.#horizon) {
      this.#horizon = horizon;
    }
    return this.#horizon;
  }

  /** Undefined where a node is away and there is a horizon to stay at. */
  async #lookAtAll(signal: AbortSignal | undefined): Promise<Look | undefined> {
    const { logger } = this.#options;
    const cluster = this.#options.cluster?.name;
    try {
      const look = await this.#look(signal);
      await this.#catchUp(look.startedAt, signal);
      if (this.#isNodeAway) {
        logger.info({ cluster }, 'all nodes of CLICKHOUSE_CLUSTER can be asked again');
      }
      this.#isNodeAway = false;
      return look;
    } catch (error) {
      if (!isNodeAway(error) || this.#horizon === 0n) {
        throw error;
      }
      if (!this.#isNodeAway) {
        logger.warn({ err: error, cluster }, 'a node of CLICKHOUSE_CLUSTER cannot be asked: the feed waits for it');
      }
      this.#isNodeAway = true;
      return undefined;
    }
  }

  /**
   * Waits until every replica has what others had stored before the look, where a node was away or has started since: it may be the one
   * that statements keep to from now on.
   */
  async #catchUp(startedAt: bigint, signal: AbortSignal | undefined): Promise<void> {
    const { client, local, cluster } = this.#options;
    const isKnown = this.#caughtUpSince !== undefined && startedAt <= this.#caughtUpSince + START_PRECISION;
    if (cluster === null || (isKnown && !this.#isNodeAway)) {
      return;
    }
    await client.run(syncReplicasStatement(local, cluster), { signal });
    this.#caughtUpSince = startedAt;
  }

  /** Counts what has come below the horizon since a clock was first seen to be behind it. */
  async #countLate(time: bigint): Promise<void> {
    try {
      await this.#countArrivals(time);
    } finally {
      this.#counting = undefined;
    }
  }

  async #countArrivals(time: bigint): Promise<void> {
    const { client, table, logger } = this.#options;
    const before = this.#stepBack;
    const fromSeq = before === undefined || time < before.fromSeq ? time : before.fromSeq;
    const range = { zones: 'all', after: fromSeq - 1n, upTo: this.#horizon - 1n } as const;
    const events = Number((await client.readRow(arrivalCountStatement(table, range)))[0]);
    if (before === undefined) {
      const behindMs = Number((this.#horizon - time) / BigInt(WRITERS) / 1000n);
      logger.warn(
        { behindMs },
        'the clock of ClickHouse has stepped back: readers of the feed miss what it stores until it is where it was',
      );
    } else if (fromSeq === before.fromSeq) {
      // A merge takes copies away.
      this.#lateEvents += Math.max(0, events - before.events);
    }
    const lateBefore = before?.lateBefore ?? this.#lateEvents;
    this.#stepBack = { fromSeq, events, lateBefore };
    if (time >= this.#horizon) {
      this.#stepBack = undefined;
      const lateEvents = this.#lateEvents - lateBefore;
      logger.warn({ lateEvents }, `the clock of ClickHouse is where it was: readers of the feed miss ${lateEvents} events`);
    }
  }

  async #look(signal: AbortSignal | undefined, settings: ClickhouseSettings = {}): Promise<Look> {
    const { client, database, cluster } = this.#options;
    const mark = markOf(database);
    const { rows } = await client.read(runningInsertsStatement(mark, cluster?.name ?? null), { signal, settings });
    const nodes = (rows as unknown as readonly NodeRow[]).map(([time, inserts, uptime = 0]) => ({ time: BigInt(time), inserts, uptime }));
    const times = ascending(nodes.map(({ time }) => time));
    const startedAt = ascending(nodes.map(({ time, uptime }) => time - BigInt(uptime) * 1_000_000n)).at(-1) ?? 0n;
    const inserts = nodes.flatMap(({ time, inserts: ofNode }) =>
      ofNode.map(([comment, elapsed, isInitial = 1]) => {
        return { writer: Number(comment.slice(mark.length)), begunAt: time - BigInt(elapsed), isInitial: Number(isInitial) === 1 };
      }),
    );
    const asked = new Set(inserts.filter(({ isInitial }) => isInitial).map(({ writer }) => writer));
    const running = inserts.map(({ writer, begunAt }) => ({ writer, begunAt, isLeftBehind: !asked.has(writer) }));
    return { earliest: times[0] ?? 0n, latest: times.at(-1) ?? 0n, running, startedAt };
  }
}

function ascending(times: readonly bigint[]): bigint[] {
  return times.toSorted((one, other) => (one < other ? -1 : 1));
}

type NodeRow = readonly [time: string, inserts: readonly InsertRow[], uptime?: number];
type InsertRow = readonly [comment: string, elapsed: string, isInitial?: number];
