import { onCluster, SHARDED_EVENTS } from '../../sql/clickhouse/cluster.ts';
import { insertEventsStatement } from '../../sql/clickhouse/insert-statement.ts';
import { createEventsTable, createShardedEvents, INSERTED_COLUMNS } from '../../sql/clickhouse/schema.ts';
import { createClockTable, createFoldText, createIdentityTable } from '../../sql/clickhouse/store-tables.ts';
import { BudgetedCache } from '../../store/budgeted-cache.ts';
import type { EventSource } from '../../store/clickhouse/search/event-reader.ts';
import { StoreClock } from '../../store/clickhouse/server/store-clock.ts';
import { Visibility } from '../../store/clickhouse/server/visibility.ts';
import { type EventBatch, silentLogger } from '../../store/event-store.ts';
import { batchFileOf, LOG_COLUMN } from '../../store/parquet/batch-file.ts';
import { CLUSTER } from './cluster/cluster-config.ts';
import { DatabaseReader } from './database-reader.ts';
import type { Place } from './shared-store.ts';

export const TABLE = 'events_local';

const STORE_ID = 5;

/** The texts and the log of a later copy of an event, by the type of the column. */
const OTHER_CONTENT: Readonly<Record<string, string>> = {
  ip: "'9.9.9.9'",
  unfolded: 'false',
  packed: `'{"later":true}'`,
  ipHigh: '0',
  ipLow: '1',
};

/** A table of events in a database of its own, which nothing merges. */
export class EventTable {
  readonly reader: DatabaseReader;
  readonly source: EventSource;

  private constructor(reader: DatabaseReader, place: Place) {
    const { client, name: database } = reader;
    const [table, cluster] = place === 'a cluster' ? [SHARDED_EVENTS, { name: CLUSTER, database }] : [TABLE, null];
    const clock = new StoreClock({ client, cluster, now: Date.now, logger: silentLogger });
    this.reader = reader;
    this.source = {
      client: reader,
      moments: new Visibility({ client, clock, database, cluster, seenWithinMs: 5_000, logger: silentLogger }),
      table,
      manyGroups: new BudgetedCache({ budget: 1_000, sizeOf: () => 1 }),
    };
  }

  static async open(place: Place = 'one server'): Promise<EventTable> {
    const reader = await DatabaseReader.open(place);
    const cluster = place === 'a cluster' ? { name: CLUSTER, database: reader.name } : null;
    await reader.run(createFoldText(cluster));
    await reader.run(createIdentityTable(STORE_ID, cluster));
    await reader.run(createEventsTable({ table: TABLE, cluster }));
    await reader.run(createClockTable(cluster));
    await reader.run(`SYSTEM STOP MERGES${onCluster(cluster)} ${reader.name}.${TABLE}`);
    if (cluster !== null) await reader.run(createShardedEvents(cluster, TABLE, '1,1'));
    return new EventTable(reader, place);
  }

  async insert({ fields, eventCount, logs }: EventBatch): Promise<void> {
    if (eventCount > 0) {
      const rows = { data: batchFileOf(fields, eventCount, 0n, logs), rows: eventCount };
      await this.reader.client.insert(
        insertEventsStatement(this.source.table, LOG_COLUMN, { writer: 7, storeId: STORE_ID, seen: 0n }),
        rows,
      );
    }
  }

  /** Stores a later copy of every event with another content, which nothing may see. */
  async copyAll(): Promise<void> {
    const columns = INSERTED_COLUMNS.map((name) => {
      if (['shieldZoneId', 'timestamp', 'logId'].includes(name)) return `"${name}"`;
      return name === 'seq' ? `"seq" + 1000000` : (OTHER_CONTENT[name] ?? `'later'`);
    });
    const names = INSERTED_COLUMNS.map((name) => `"${name}"`).join(', ');
    const { table } = this.source;
    await this.reader.run(`INSERT INTO "${table}" (${names}) SELECT ${columns.join(', ')} FROM "${table}"`);
  }

  close(): Promise<void> {
    return this.reader.close();
  }
}
