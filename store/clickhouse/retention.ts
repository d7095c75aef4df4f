import { DAY_MS } from '../../query/durations.ts';
import { activeParts, type Cluster, EVENTS_TABLE, eventsTableOf, onCluster, syncReplicasStatement } from '../../sql/clickhouse/cluster.ts';
import { lastSequencesOfDaysStatement } from '../../sql/clickhouse/feed-statements.ts';
import { LETTER_TABLES } from '../../sql/clickhouse/store-tables.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, trusted } from '../../sql/statement.ts';
import type { StoreLogger } from '../event-store.ts';
import { RETENTION_GRACE_MS, type RetentionHold, type SweepAskedBy } from '../retention-hold.ts';
import type { ClickhouseClient } from './server/client.ts';
import { WITHOUT_AWAY } from './server/settings.ts';
import type { StoreSettings } from './store-settings.ts';

interface RetentionOptions {
  readonly client: ClickhouseClient;
  readonly database: string;
  readonly cluster: Cluster | null;
  readonly retentionMs: number;
  readonly deadLetterRetentionMs: number;
  readonly hold: RetentionHold;
  readonly settings: Pick<StoreSettings, 'areOurs'>;
  readonly logger: StoreLogger;
}

interface DayPartition {
  readonly day: number;
  readonly rows: number;
}

/** Drops whole days of events and of dead letters that are past their retention. */
export class Retention {
  readonly #options: RetentionOptions;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Resolves with the number of days of events that were dropped; 0 as long as the store has other settings than this program. */
  async sweep(nowMs: number, askedBy: SweepAskedBy): Promise<number> {
    const { cluster, retentionMs, deadLetterRetentionMs, hold, settings } = this.#options;
    if (!(await settings.areOurs())) {
      return 0;
    }
    for (const letters of LETTER_TABLES) {
      // Every node has all letters, and drops what another one drops.
      await this.#drop(letters, null, expiredDays(await this.#partitions(letters, null), nowMs - deadLetterRetentionMs));
    }
    const days = await this.#partitions(EVENTS_TABLE, cluster);
    const expired = expiredDays(days, nowMs - retentionMs - RETENTION_GRACE_MS);
    if ((askedBy === 'clock' && hold.keeps(rowsIn(expired), rowsIn(days))) || expired.length === 0) {
      return 0;
    }
    await this.#writeWatermarks(expired.map(({ day }) => day));
    await this.#drop(EVENTS_TABLE, cluster, expired);
    return expired.length;
  }

  /** The days of a table, of all shards if there are several, with the number of their rows. */
  async #partitions(table: string, cluster: Cluster | null): Promise<readonly DayPartition[]> {
    const { client, database } = this.#options;
    const parts = activeParts({ database, table, cluster });
    const { rows } = await client.read(clickhouseStatement(sql`SELECT partition, sum(rows) FROM ${parts} GROUP BY partition`));
    return rows.map(([day, count]) => ({ day: Number(day), rows: Number(count) }));
  }

  /** Writes down how far the feed of each zone is removed, before it is, so that no reader misses events without learning of it. */
  async #writeWatermarks(days: readonly number[]): Promise<void> {
    const { client, cluster } = this.#options;
    const { rows } = await client.read(lastSequencesOfDaysStatement(eventsTableOf(cluster), days));
    const zones = rows.map(([zone, sequence]) => sql`(${int32(Number(zone))}, sweep, ${int64(BigInt(String(sequence)))})`);
    if (zones.length === 0) {
      return;
    }
    await client.run(
      clickhouseStatement(
        sql`INSERT INTO expired_watermarks (shieldZoneId, sweep, seq)
          WITH (SELECT greatest(toInt64(toUnixTimestamp(now())), max(sweep) + 1) FROM expired_watermarks) AS sweep
          SELECT tupleElement(one, 1), tupleElement(one, 2), tupleElement(one, 3)
          FROM (SELECT arrayJoin([${joinSql(zones)}]) AS one)`,
      ),
    );
    if (cluster !== null) {
      await client.run(syncReplicasStatement('expired_watermarks', cluster), { settings: WITHOUT_AWAY });
    }
  }

  async #drop(table: string, cluster: Cluster | null, days: readonly DayPartition[]): Promise<void> {
    const { client, logger } = this.#options;
    for (const { day, rows } of days) {
      const [name, nodes, partition] = [table, onCluster(cluster), String(day)].map(trusted) as [SqlFragment, SqlFragment, SqlFragment];
      const settings = cluster === null ? {} : WITHOUT_AWAY;
      await client.run(clickhouseStatement(sql`ALTER TABLE ${name}${nodes} DROP PARTITION ${partition}`), { settings });
      logger.info({ table, day: new Date(day * DAY_MS).toISOString().slice(0, 10), rows }, 'a day past the retention is dropped');
    }
  }
}

function expiredDays(days: readonly DayPartition[], oldestMs: number): readonly DayPartition[] {
  return days.filter(({ day }) => (day + 1) * DAY_MS <= oldestMs);
}

function rowsIn(days: readonly DayPartition[]): number {
  return days.reduce((sum, { rows }) => sum + rows, 0);
}
