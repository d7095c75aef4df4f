import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from '../../query/durations.ts';
import { eventsTableOf } from '../../sql/clickhouse/cluster.ts';
import { arrivalsStatement } from '../../sql/clickhouse/feed-statements.ts';
import { BudgetedCache } from '../budgeted-cache.ts';
import { ANSWER_MS, lockDataFolder, sharedAnswer } from '../data-folder.ts';
import { type StoreLogger, silentLogger } from '../event-store.ts';
import { clickhouseExcerptShareMb, clickhouseResultBytesShareMb, MEBIBYTE } from '../memory-shares.ts';
import { Readings } from '../readings.ts';
import { HOLD_MS, RetentionHold } from '../retention-hold.ts';
import { IncompatibleStore, isUnavailable } from '../store-error.ts';
import { sharedAlertClaim } from './alert-claim.ts';
import { ClickhouseStore } from './clickhouse-store.ts';
import { ArrivalWatch } from './feed/arrival-watch.ts';
import { Feed } from './feed/feed.ts';
import { ClickhousePositions } from './feed/positions.ts';
import { SharedDeadLetters } from './intake/dead-letters.ts';
import { InsertPipeline } from './intake/insert-pipeline.ts';
import { SourceOffsets } from './intake/source-offsets.ts';
import { Retention } from './retention.ts';
import { ClickhouseClient } from './server/client.ts';
import type { ClickhouseAddress } from './server/connection.ts';
import { CLUSTER_SETTINGS } from './server/settings.ts';
import { StoreClock } from './server/store-clock.ts';
import { Visibility } from './server/visibility.ts';
import { Setup } from './setup.ts';
import { StoreSettings } from './store-settings.ts';
import { checkShards, checkTable } from './table-check.ts';
import { TableStats } from './table-stats.ts';

const INSERT_EVERY_MS = 300;
const ARRIVALS_EVERY_MS = 250;
const SWEEP_EVERY_MS = 60_000;
/** With the grace of a stop it stays below the stop's own deadline (`src/stop-all.ts`). */
const CLOSE_GRACE_MS = 4_000;
const SETUP_WAIT_MS = 10_000;
/** Less than shippers wait for an answer. */
const SEEN_WITHIN_MS = 5_000;
/** However many ask whether ClickHouse answers, it is asked once in so long. */
const ASKED_EVERY_MS = 1_000;
const FAILURE_HOLD_MS = 30_000;
const LETTER_SHARES_EVERY_MS = 10_000;
const MEMORY_LIMIT_MB = 1_024;
const DEAD_LETTER_QUOTA_BYTES = 1024 ** 3;
const DEAD_LETTER_RETENTION_MS = 7 * 24 * 3_600_000;

/** The settings of an operator. */
export interface ClickhouseStoreOptions {
  readonly address: ClickhouseAddress;
  /** The cluster that has the tables of this store, by its name in ClickHouse. Default: there is one server. */
  readonly cluster?: string | null;
  /** How many replicas have an insert before it is acknowledged. Default: what ClickHouse does by itself. */
  readonly insertQuorum?: number | 'auto';
  /** The program's DATA_DIR, which is made and locked as long as the store is open. Default: the program has none. */
  readonly dataDir?: string;
  readonly retentionMs: number;
  /** Memory for excerpts of the feed is a part of it. Default: 1,024. */
  readonly memoryLimitMb?: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly logger?: StoreLogger;
  /** The dead letters may take this much. Default: 1 GiB. */
  readonly deadLetterQuotaBytes?: number;
  /** Dead letters are removed after this time. Default: 7 days. */
  readonly deadLetterRetentionMs?: number;
}

/** Changes that tests make. */
export interface ClickhouseTuning {
  /** Time between the starts of two inserts, at least. */
  readonly insertEveryMs?: number;
  /** Time between two looks for new events while somebody listens. */
  readonly arrivalsEveryMs?: number;
  /** Time between two sweeps of the retention, the first of which is that of the start; null: none but those that are asked for. */
  readonly sweepEveryMs?: number | null;
  /** Time between two reads of who holds how much of the quota of the dead letters. */
  readonly letterSharesEveryMs?: number;
  /** So long is the store not ready after an insert has failed, unless one succeeds. */
  readonly failureHoldMs?: number;
  /** A server may take nothing and send nothing for so long. */
  readonly idleMs?: number;
  /** A close waits so long for what is under way before it cuts it off. */
  readonly closeGraceMs?: number;
  /** An opening waits so long for a server that takes requests and does not answer. */
  readonly setupWaitMs?: number;
  /** Stored events whose INSERT the server lists on are acknowledged after so long all the same. */
  readonly seenWithinMs?: number;
}

/**
 * Opens a store in a database of ClickHouse, whose schema is brought up to date. Where the server is away, calls reject with `StoreError`
 * (`unavailable`) until it is there. Throws `IncompatibleStore`, and `StoreError` (`folder_in_use`, `folder_unusable`).
 */
export async function openClickhouseStore(options: ClickhouseStoreOptions, tuning: ClickhouseTuning = {}): Promise<ClickhouseStore> {
  const { address, dataDir, cluster: name = null, insertQuorum, retentionMs, now, logger = silentLogger } = options;
  const {
    memoryLimitMb = MEMORY_LIMIT_MB,
    deadLetterQuotaBytes = DEAD_LETTER_QUOTA_BYTES,
    deadLetterRetentionMs = DEAD_LETTER_RETENTION_MS,
  } = options;
  const { insertEveryMs = INSERT_EVERY_MS, arrivalsEveryMs = ARRIVALS_EVERY_MS, sweepEveryMs = SWEEP_EVERY_MS } = tuning;
  const { letterSharesEveryMs: sharesEveryMs = LETTER_SHARES_EVERY_MS } = tuning;
  const { idleMs, failureHoldMs = FAILURE_HOLD_MS, closeGraceMs = CLOSE_GRACE_MS, setupWaitMs = SETUP_WAIT_MS } = tuning;
  const { seenWithinMs = SEEN_WITHIN_MS } = tuning;
  const folder = dataDir === undefined ? undefined : lockDataFolder(dataDir);
  const { database } = address;
  const cluster = name === null ? null : { name, database };
  const table = eventsTableOf(cluster);
  const client = new ClickhouseClient(address, {
    logger,
    resultBytes: clickhouseResultBytesShareMb(memoryLimitMb) * MEBIBYTE,
    ...(idleMs === undefined ? {} : { idleMs }),
    ...(cluster === null ? {} : { settings: CLUSTER_SETTINGS }),
    ...(insertQuorum === undefined ? {} : { insertSettings: { insert_quorum: insertQuorum } }),
  });
  const own = {
    RETENTION_HOURS: String(retentionMs / HOUR_MS),
    DEAD_LETTER_DAYS: String(deadLetterRetentionMs / DAY_MS),
    DEAD_LETTER_MAX_MB: String(deadLetterQuotaBytes / 1024 ** 2),
    CLICKHOUSE_USER: address.user,
  };
  const settings = new StoreSettings({ client, database, cluster, own, logger });
  const setup = new Setup({ address, cluster: name, client, settings, logger });
  const clock = new StoreClock({ client, cluster, now, logger });
  const visibility = new Visibility({ client, clock, database, cluster, seenWithinMs, logger });
  const deadLetters = new SharedDeadLetters({ client, quotaBytes: deadLetterQuotaBytes, sharesEveryMs, logger });
  const sourceOffsets = new SourceOffsets(client);
  const intake = { client, clock, visibility, database, table, deadLetters, sourceOffsets, now, insertEveryMs, failureHoldMs };
  const pipeline = new InsertPipeline(intake);
  const positions = new ClickhousePositions({ client, visibility, storeId: () => setup.done() });
  const excerptBytes = clickhouseExcerptShareMb(memoryLimitMb) * MEBIBYTE;
  const feed = new Feed({ client, visibility, positions, table, excerptBytes });
  const hold = new RetentionHold({ what: 'events', waitMs: HOLD_MS, elapsedMs: () => performance.now(), logger });
  const alertClaim = sharedAlertClaim({ client, cluster, storeId: () => setup.done() });
  const retention = new Retention({ client, database, cluster, retentionMs, deadLetterRetentionMs, hold, settings, logger });
  const watch = new ArrivalWatch({
    horizon: async () => {
      await setup.done();
      return await visibility.horizon();
    },
    hasArrivals: async (from, to) => {
      const range = { zones: 'all', after: from - 1n, upTo: to - 1n } as const;
      const { rows } = await client.read(arrivalsStatement(table, range));
      return rows.length > 0;
    },
    everyMs: arrivalsEveryMs,
    logger,
  });
  const stats = new TableStats({ client, database, cluster, storeId: () => setup.done() });
  const silent = 'ClickHouse does not answer';
  const whyUnusable = sharedAnswer(
    async () => {
      const signal = AbortSignal.timeout(ANSWER_MS);
      try {
        await stats.read(signal);
        return undefined;
      } catch (error) {
        return signal.aborted ? silent : (error as Error).message;
      }
    },
    silent,
    ANSWER_MS,
    ASKED_EVERY_MS,
  );
  let working: Promise<void> | undefined;
  const lookAfterEvents = async (): Promise<void> => {
    try {
      await setup.done();
      await stats.countZones();
      const { serverMs } = await clock.read();
      // A wrong clock drops nothing: what is past the retention is so by both.
      await retention.sweep(Math.min(now(), serverMs), 'clock');
    } catch (error) {
      // An outage has its own lines in the log.
      if (!isUnavailable(error) || error instanceof IncompatibleStore) {
        logger.warn({ err: error }, 'events could not be counted, or days past the retention not dropped; that is tried again');
      }
    }
  };
  // One that takes longer than until the next is due goes on in its place, so that a server that hangs is not asked more and more.
  const look = (): void => {
    working ??= lookAfterEvents().finally(() => {
      working = undefined;
    });
  };
  let work: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearInterval(work);
    const underWay = Promise.all([watch.close(), feed.close(), pipeline.close(), working]);
    // What is not acknowledged by then may be stored or not, as where the program is killed.
    await Promise.race([underWay.then(() => clock.close()), delay(closeGraceMs, undefined, { ref: false })]);
    await client.close();
    await pipeline.close();
    folder?.[Symbol.dispose]();
  };
  try {
    await setup.begin(setupWaitMs);
  } catch (error) {
    await end();
    throw error;
  }
  if (sweepEveryMs !== null) {
    look();
    work = setInterval(look, sweepEveryMs).unref();
  }
  const source = { client, moments: visibility, table, manyGroups: new BudgetedCache<string, true>({ budget: 1_000, sizeOf: () => 1 }) };
  const check = (signal: AbortSignal) => (cluster === null ? checkTable(client, signal) : checkShards({ address, cluster }, signal));
  const readings = new Readings();
  const parts = {
    setup,
    clock,
    visibility,
    source,
    pipeline,
    deadLetters,
    sourceOffsets,
    positions,
    alertClaim,
    feed,
    retention,
    hold,
    settings,
    watch,
    stats,
    whyUnusable,
    check,
    readings,
    now,
    end,
  };
  return new ClickhouseStore(parts);
}
