import { setTimeout as delay } from 'node:timers/promises';
import { runningInsertsStatement } from '../../../sql/clickhouse/clock-statements.ts';
import { type Cluster, EVENTS_TABLE, eventsTableOf, syncReplicasStatement } from '../../../sql/clickhouse/cluster.ts';
import type { Moment } from '../../../sql/clickhouse/events.ts';
import { arrivalCountStatement } from '../../../sql/clickhouse/feed-statements.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import { abortable } from '../../../work/abortable.ts';
import type { StoreLogger } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { ClickhouseClient, ReadOptions } from './client.ts';
import { isNodeAway } from './server-error.ts';
import type { StoreClock, ToldTime } from './store-clock.ts';

/** An insert of events that may be visible in part. */
interface RunningInsert {
  readonly writer: number;
  /** The time of the store that its events are not before, microseconds. */
  readonly seen: bigint;
}

/**
 * The comment of an insert into a store's table of events, which `system.processes` shows.
 *
 * @param writer the process
 * @param seen the time of the store that its events are not before, microseconds
 */
export function insertComment(database: string, writer: number, seen: bigint): string {
  return `${markOf(database)}${writer} ${seen}`;
}

function markOf(database: string): string {
  return `shieldlog events ${JSON.stringify(database)} `;
}

/** Of an insert of an earlier program, which does not say since when it runs, the feed waits for the end. */
function runningInsert(told: string): RunningInsert {
  const [writer, seen = '0'] = told.split(' ');
  return { writer: Number(writer), seen: BigInt(seen) };
}

/** What the servers tell at one moment. */
interface Look {
  /** The server that is most behind, and the one that is most ahead. */
  readonly earliest: ToldTime;
  readonly latest: ToldTime;
  readonly running: readonly RunningInsert[];
  /** The time at which the last of the nodes of a cluster started, microseconds; 0 where there is one server. */
  readonly startedAt: bigint;
}

/** Inserts that were running when a clock was seen to have stepped back: what they store may come too late for readers. */
interface LateInserts {
  /** The sequences that they may give, below the horizon. */
  readonly fromSeq: bigint;
  readonly beforeSeq: bigint;
  /** The events with such sequences when it was seen. */
  readonly events: number;
}

export interface VisibilityOptions {
  readonly client: Pick<ClickhouseClient, 'read' | 'readRow' | 'run'>;
  readonly clock: Pick<StoreClock, 'steady' | 'show'>;
  readonly database: string;
  /** The cluster whose nodes all take inserts; null where there is one server. */
  readonly cluster: Cluster | null;
  /** So long are events waited for that readers do not see because the server lists an insert on, in milliseconds. */
  readonly seenWithinMs: number;
  readonly logger: StoreLogger;
}

/** Clocks differ by less than this on any servers that keep time. */
const NOTED_MS = 1_000;

/** Servers tell in whole seconds for how long they run. */
const START_PRECISION = 2_000_000n;

/** Whether an insert is still listed is asked again after a millisecond, and then after twice as long each time, up to this. */
const LONGEST_WAIT_MS = 100;

const LISTED_ON = 'ClickHouse lists an INSERT on, or cannot tell: until that ends, readers do not see what is stored from there on';

/**
 * What readers may see. An event is visible when its insert is done; `system.processes` lists those that are not, each with a time of the
 * store that its events are not before. The sequence of an event is the time at its insert, so a time that is not after any of these is one
 * before which all events are visible. Of several servers the clock that is most behind counts.
 */
export class Visibility {
  readonly #options: VisibilityOptions;
  /** The highest horizon so far. */
  #horizon = 0n;
  /** The lead that was seen last; undefined before the first look. */
  #lead: bigint | undefined;
  #late: LateInserts | undefined;
  #counting: Promise<void> | undefined;
  #lateEvents = 0;
  #behindMs = 0;
  #isNodeAway = false;
  /** An insert was listed for longer than is waited for. */
  #isListedOn = false;
  /** The start of a node after which all replicas have caught up; undefined where none is known to have. */
  #caughtUpSince: bigint | undefined;

  constructor(options: VisibilityOptions) {
    this.#options = options;
  }

  /** How many events were stored below a horizon that was given out, since a clock was seen to have stepped back. */
  get lateEvents(): number {
    return this.#lateEvents;
  }

  /** How far a clock is behind those of other servers; 0 below a second. */
  get clockBehindMs(): number {
    return this.#behindMs < NOTED_MS ? 0 : this.#behindMs;
  }

  /** What a read of several statements sees: all that is acknowledged by now, and nothing of what is being inserted. */
  async now(signal?: AbortSignal): Promise<Moment> {
    // A node that is away inserts nothing.
    const ask = () => this.#look({ signal, settings: { skip_unavailable_shards: 1 } });
    const { latest, running } = await this.#options.clock.steady('latest', async () => withTime(await ask(), 'latest'));
    return {
      beforeSeq: sequenceOf(latest.time),
      running: running.map(({ writer, seen }) => ({ fromSeq: sequenceOf(seen), writer })),
    };
  }

  /**
   * All events with a lower sequence are visible, and none will come later but those that were under way while a clock stepped back. It
   * never goes back, and stays where it is while a node of the cluster cannot be asked.
   */
  async horizon(signal?: AbortSignal): Promise<bigint> {
    if (this.#options.cluster !== null && this.#horizon === 0n) {
      // The clock that is most behind tells nothing of what is stored by another one.
      await this.now(signal);
    }
    const look = await this.#lookAtAll(signal);
    if (look === undefined) {
      return this.#horizon;
    }
    const { earliest, latest, running } = look;
    this.#behindMs = Number((latest.time - earliest.time) / 1000n);
    await this.#countLate(earliest.lead, running);
    const [begun = earliest.time] = ascending([earliest.time, ...running.map(({ seen }) => seen)]);
    const horizon = sequenceOf(await this.#options.clock.show(begun, earliest.shown));
    if (horizon > this.#horizon) {
      this.#horizon = horizon;
    }
    return this.#horizon;
  }

  /**
   * Resolves once readers see all that a process has inserted with an insert that is done, and before. A server lists an insert for a
   * moment after its answer, and whoever looks meanwhile takes it for one that runs. The same holds for one whose answer was lost. Where
   * one is listed for long, because it hangs, nobody waits for its end: the events are stored.
   *
   * @param writer the process
   * @param seen the time of the store that the events of the insert are not before, microseconds
   */
  async seesInserted(writer: number, seen: bigint): Promise<void> {
    const { seenWithinMs, logger } = this.#options;
    const signal = AbortSignal.timeout(seenWithinMs);
    try {
      for (let waitMs = 1; await abortable(this.#isListed(writer, seen), signal); waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        await delay(waitMs, undefined, { signal });
      }
      this.#isListedOn = false;
    } catch (error) {
      if (!this.#isListedOn) logger.warn({ err: error, seenWithinMs }, LISTED_ON);
      this.#isListedOn = true;
    }
  }

  /** Where that cannot be asked, nobody waits for it: the events are stored, and readers are told why they cannot be read. */
  async #isListed(writer: number, seen: bigint): Promise<boolean> {
    try {
      // What runs is no matter of replicas, and a node that is away runs nothing.
      const { running } = await this.#look({ isOfAnyReplica: true, settings: { skip_unavailable_shards: 1 } });
      return running.some((insert) => insert.writer === writer && insert.seen <= seen);
    } catch (error) {
      if (error instanceof StoreError) return false;
      throw error;
    }
  }

  /** Undefined where a node is away and there is a horizon to stay at. */
  async #lookAtAll(signal: AbortSignal | undefined): Promise<Look | undefined> {
    const { logger } = this.#options;
    const cluster = this.#options.cluster?.name;
    try {
      const look = await this.#options.clock.steady('earliest', async () => withTime(await this.#look({ signal }), 'earliest'));
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
    const { client, cluster } = this.#options;
    const isKnown = this.#caughtUpSince !== undefined && startedAt <= this.#caughtUpSince + START_PRECISION;
    if (cluster === null || (isKnown && !this.#isNodeAway)) {
      return;
    }
    await client.run(syncReplicasStatement(EVENTS_TABLE, cluster), { signal });
    this.#caughtUpSince = startedAt;
  }

  /** Counts what inserts that were running when the lead grew have stored below the horizon, once they are done. */
  async #countLate(lead: bigint, running: readonly RunningInsert[]): Promise<void> {
    const hasGrown = this.#lead !== undefined && lead > this.#lead;
    this.#lead = lead;
    if (hasGrown || this.#late !== undefined) {
      this.#counting ??= this.#countArrivals(running, hasGrown).finally(() => {
        this.#counting = undefined;
      });
      await this.#counting;
    }
  }

  async #countArrivals(running: readonly RunningInsert[], hasGrown: boolean): Promise<void> {
    const { logger } = this.#options;
    const behind = running.map(({ seen }) => sequenceOf(seen)).filter((fromSeq) => fromSeq < this.#horizon);
    const before = this.#late;
    if (before !== undefined && (hasGrown || behind.length === 0)) {
      // A merge takes copies away.
      const lateEvents = Math.max(0, (await this.#eventsWithin(before)) - before.events);
      this.#late = undefined;
      this.#lateEvents += lateEvents;
      if (lateEvents > 0) {
        logger.warn(
          { lateEvents },
          `readers of the feed miss ${lateEvents} events, during whose inserts a clock of ClickHouse stepped back`,
        );
      }
    }
    const [fromSeq] = ascending(behind);
    if (hasGrown && fromSeq !== undefined) {
      const range = { fromSeq, beforeSeq: this.#horizon };
      this.#late = { ...range, events: await this.#eventsWithin(range) };
    }
  }

  async #eventsWithin({ fromSeq, beforeSeq }: Omit<LateInserts, 'events'>): Promise<number> {
    const { client, cluster } = this.#options;
    const range = { zones: 'all', after: fromSeq - 1n, upTo: beforeSeq - 1n } as const;
    return Number((await client.readRow(arrivalCountStatement(eventsTableOf(cluster), range)))[0]);
  }

  async #look(options: ReadOptions): Promise<Look> {
    const { client, database, cluster } = this.#options;
    const mark = markOf(database);
    const { rows } = await client.read(runningInsertsStatement(mark, cluster), options);
    const nodes = (rows as unknown as readonly NodeRow[]).map(([time, lead, shown, inserts, uptime = 0]) => {
      return { time: BigInt(time), lead: BigInt(lead), shown: BigInt(shown), inserts, uptime };
    });
    const [earliest = NO_TIME, ...others] = nodes.toSorted((one, other) => (one.time < other.time ? -1 : 1));
    const startedAt = ascending(nodes.map(({ time, uptime }) => time - BigInt(uptime) * 1_000_000n)).at(-1) ?? 0n;
    const running = nodes.flatMap(({ inserts }) => inserts.map((comment) => runningInsert(comment.slice(mark.length))));
    return { earliest, latest: others.at(-1) ?? earliest, running, startedAt };
  }
}

const NO_TIME: ToldTime = { time: 0n, lead: 0n, shown: 0n };

/** A look, with the time of one of its servers as that which it tells. */
function withTime(look: Look, server: 'earliest' | 'latest'): Look & ToldTime {
  const { time, lead, shown } = look[server];
  return { ...look, time, lead, shown };
}

function sequenceOf(time: bigint): bigint {
  return time * BigInt(WRITERS);
}

function ascending(times: readonly bigint[]): bigint[] {
  return times.toSorted((one, other) => (one < other ? -1 : 1));
}

type NodeRow = readonly [time: string, lead: string, shown: string, inserts: readonly string[], uptime?: number];
