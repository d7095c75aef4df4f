import { setTimeout as delay } from 'node:timers/promises';
import { CLOCK_STATEMENT, writeClockStatement } from '../../../sql/clickhouse/clock-statements.ts';
import { type Cluster, eventsTableOf, syncReplicasStatement } from '../../../sql/clickhouse/cluster.ts';
import { lastArrivalStatement } from '../../../sql/clickhouse/feed-statements.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import { CLOCK_TABLE } from '../../../sql/clickhouse/store-tables.ts';
import type { StoreLogger } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { ClickhouseClient } from './client.ts';
import { WITHOUT_AWAY } from './settings.ts';

/**
 * The clocks of a store, none of which is ahead of the next one: of all nodes, of the node that is asked, of any node. One server has
 * one.
 */
const CLOCKS = ['earliest', 'asked', 'latest'] as const;

type Clock = (typeof CLOCKS)[number];

/** What a statement tells of a clock, in microseconds. */
export interface ToldTime {
  /** The time of the store: the clock with the lead. */
  readonly time: bigint;
  readonly lead: bigint;
  /** The highest time that was given to a reader by any program, as far as that is written down. */
  readonly shown: bigint;
}

/** A time that was told, and when: milliseconds of a clock that nobody sets. */
interface Mark {
  readonly time: bigint;
  readonly atMs: number;
}

interface StoreClockOptions {
  readonly client: Pick<ClickhouseClient, 'readRow' | 'run'>;
  readonly cluster: Cluster | null;
  /** The clock of this program, Unix milliseconds. */
  readonly now: () => number;
  readonly logger: StoreLogger;
}

/** A time is written down before it is shown where it is so much later than what is; a lead goes so far beyond what it has to. */
const MARGIN = 10_000_000n;

/** The clocks of nodes that keep time differ by less than this, microseconds. */
const SECOND = 1_000_000n;

/** A clock that is put right little by little gains so many microseconds in a millisecond at least. */
const SLOWEST = 900;

/** A lead that does not come to count within so many looks is that of a replica that does not fetch it. */
const MOST_LOOKS = 5;

/** A program whose clock differs from that of ClickHouse by more than this says so. */
const NOTED_OFFSET_MS = 10_000;

/**
 * The time of a store: the clock of a server, and a lead that grows where a clock is behind what it was. Every statement that takes the
 * time reads the lead by itself, so that no program goes on with one from before.
 */
export class StoreClock {
  readonly #options: StoreClockOptions;
  /** The last time of each clock. */
  readonly #marks: Mark[] = CLOCKS.map(() => ({ time: 0n, atMs: 0 }));
  /** The highest time that this program has given to a reader. */
  #given = 0n;
  /** A time behind all events that were stored before this program looked first, and not before that look. */
  #stored: bigint | undefined;
  #writing: Promise<void> | undefined;
  #raised: Promise<void> | undefined;
  #isWritable = true;
  #offsetMs = 0;

  constructor(options: StoreClockOptions) {
    this.#options = options;
  }

  /** Says for people that the clocks of this program and of ClickHouse differ; undefined where they do not by much. */
  get note(): string | undefined {
    const seconds = Math.round(Math.abs(this.#offsetMs) / 1_000);
    const place = this.#offsetMs > 0 ? 'ahead of' : 'behind';
    return this.#offsetMs === 0 ? undefined : `the clock of this program is ${seconds} s ${place} that of ClickHouse; allowed: 10 s`;
  }

  /**
   * The time of the server that is asked: what is stored from now on is later than anything that was shown or acknowledged here. Also its
   * own clock without the lead, Unix milliseconds.
   */
  async read(): Promise<{ readonly time: bigint; readonly serverMs: number }> {
    const { client, now } = this.#options;
    let sentAtMs = 0;
    const { time, lead } = await this.steady('asked', async () => {
      sentAtMs = now();
      // An insert waits for no replica, and a lead that this one lacks is found out by the time.
      const row = await client.readRow(CLOCK_STATEMENT, { isOfAnyReplica: true });
      const [told, ofStore, shown] = row as readonly [string, string, string];
      return { time: BigInt(told), lead: BigInt(ofStore), shown: BigInt(shown) };
    });
    const serverMs = Number((time - lead) / 1_000n);
    const [least, most] = [sentAtMs - serverMs, now() - serverMs];
    this.#offsetMs = least > NOTED_OFFSET_MS ? least : most < -NOTED_OFFSET_MS ? most : 0;
    return { time, serverMs };
  }

  /**
   * Resolves with what `ask` tells of a clock, once that is where it has to be: at what was shown, and at what it told before with the time
   * since then. Rejects with `StoreError` (`unavailable`) where it does not get there.
   */
  async steady<Told extends ToldTime>(clock: Clock, ask: () => Promise<Told>): Promise<Told> {
    const at = CLOCKS.indexOf(clock);
    let due = await this.#storedBefore(clock, ask);
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      // Of looks at the same time, one that was sent before may come in later: only what was known then tells of a step back.
      const [given, marks, sentAtMs] = [this.#given, this.#marks.slice(0, at + 1), performance.now()];
      const told = await ask();
      const least = latest([due, given, told.shown, ...marks.map((mark) => timeAt(mark, sentAtMs, SLOWEST))]);
      if (told.time >= least) {
        this.#marks[this.#options.cluster === null ? 0 : at] = { time: told.time, atMs: performance.now() };
        return told;
      }
      due = latest([least, ...marks.map((mark) => timeAt(mark, sentAtMs, 1_000))]);
      await this.#goOn(clock, due - told.time, told.lead);
    }
    throw new StoreError(
      'unavailable',
      `a clock of ClickHouse has stepped back, and table ${CLOCK_TABLE} does not take the lead that it needs`,
    );
  }

  /**
   * Writes down that readers get to know a time, before they do. Resolves with the time that they may know: what is written is never more
   * than ten seconds behind it.
   *
   * @param shown what was told of the time that is written down
   */
  async show(time: bigint, shown: bigint): Promise<bigint> {
    const may = time <= shown + MARGIN || (await this.#isWrittenDown(time)) ? time : shown + MARGIN;
    this.#given = latest([this.#given, may]);
    return may;
  }

  /** Writes the last time that was shown, so that a start knows it better than by ten seconds. Where that cannot be, it does not. */
  async close(): Promise<void> {
    if (this.#given > 0n) {
      await this.#write({ shown: this.#given }).catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
      });
    }
  }

  /** Of several calls at once, one writes. */
  async #isWrittenDown(time: bigint): Promise<boolean> {
    this.#writing ??= this.#write({ shown: time }).finally(() => {
      this.#writing = undefined;
    });
    try {
      await this.#writing;
      this.#isWritable = true;
    } catch (error) {
      if (!(error instanceof StoreError)) {
        throw error;
      }
      if (this.#isWritable) {
        this.#options.logger.warn({ err: error }, 'the time of the store cannot be written down: the feed waits until it can');
      }
      this.#isWritable = false;
    }
    return this.#isWritable;
  }

  /**
   * What is stored counts as seen by a program that starts, because others may have stored it and shown no reader the time. Of several
   * nodes, the one with the latest clock may have done so. The time that is told then is its first one.
   */
  async #storedBefore(clock: Clock, ask: () => Promise<ToldTime>): Promise<bigint> {
    const { client, cluster } = this.#options;
    if (cluster !== null && clock !== 'latest') {
      return 0n;
    }
    if (this.#stored === undefined) {
      const { time } = await ask();
      const statement = lastArrivalStatement(eventsTableOf(cluster), time * BigInt(WRITERS));
      const [last] = await client.readRow(statement, { settings: { skip_unavailable_shards: 1 } });
      // The clock may step back behind what has been told here, and of several looks at once one may know more than another.
      this.#stored = latest([this.#stored ?? 0n, time, BigInt(String(last)) / BigInt(WRITERS) + 1n]);
    }
    return this.#stored;
  }

  async #goOn(clock: Clock, behind: bigint, lead: bigint): Promise<void> {
    if (this.#options.cluster !== null && clock !== 'earliest' && behind < SECOND) {
      // Another node may have answered than before.
      await delay(Math.ceil(Number(behind) / 1_000));
      return;
    }
    this.#raised ??= this.#raise(behind, lead).finally(() => {
      this.#raised = undefined;
    });
    await this.#raised;
  }

  async #raise(behind: bigint, lead: bigint): Promise<void> {
    const { client, cluster, logger } = this.#options;
    const higher = lead + behind + MARGIN;
    await this.#write({ lead: higher });
    if (cluster !== null) {
      await client.run(syncReplicasStatement(CLOCK_TABLE, cluster), { settings: WITHOUT_AWAY });
    }
    const [behindMs, leadMs] = [behind, higher].map((time) => Number(time / 1_000n));
    logger.warn({ behindMs, leadMs }, 'the clock of ClickHouse has stepped back: the time of the store is ahead of it from now on');
  }

  async #write(times: { readonly lead?: bigint; readonly shown?: bigint }): Promise<void> {
    await this.#options.client.run(writeClockStatement(times));
  }
}

/** What a clock shows at a moment if it has gained so many microseconds in each millisecond. */
function timeAt({ time, atMs }: Mark, nowMs: number, gain: number): bigint {
  return time + BigInt(Math.floor((nowMs - atMs) * gain));
}

function latest(times: readonly bigint[]): bigint {
  return times.toSorted((one, other) => (one < other ? 1 : -1))[0] ?? 0n;
}
