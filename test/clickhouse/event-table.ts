import { foldTextFunction } from '../../sql/clickhouse/fold-text.ts';
import { insertEventsStatement } from '../../sql/clickhouse/insert-statement.ts';
import { createEventsTable, INSERTED_COLUMNS } from '../../sql/clickhouse/schema.ts';
import type { EventSource } from '../../store/clickhouse/search/event-reader.ts';
import { Groupings } from '../../store/clickhouse/search/groupings.ts';
import { Visibility } from '../../store/clickhouse/server/visibility.ts';
import { type EventBatch, silentLogger } from '../../store/event-store.ts';
import { batchFileOf, LOG_COLUMN } from '../../store/parquet/batch-file.ts';
import { DatabaseReader } from './database-reader.ts';

export const TABLE = 'events_local';

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

  private constructor(reader: DatabaseReader) {
    this.reader = reader;
    this.source = {
      client: reader,
      moments: new Visibility({ client: reader.client, database: reader.name, table: TABLE, cluster: null, logger: silentLogger }),
      table: TABLE,
      groupings: new Groupings(),
    };
  }

  static async open(): Promise<EventTable> {
    const reader = await DatabaseReader.open();
    await reader.run(foldTextFunction());
    await reader.run(createEventsTable({ table: TABLE }));
    await reader.run(`SYSTEM STOP MERGES "${TABLE}"`);
    return new EventTable(reader);
  }

  async insert({ fields, eventCount, logs }: EventBatch): Promise<void> {
    if (eventCount > 0) {
      await this.reader.client.insert(insertEventsStatement(TABLE, LOG_COLUMN, 7), batchFileOf(fields, eventCount, 0n, logs));
    }
  }

  /** Stores a later copy of every event with another content, which nothing may see. */
  async copyAll(): Promise<void> {
    const columns = INSERTED_COLUMNS.map((name) => {
      if (['shieldZoneId', 'timestamp', 'logId'].includes(name)) return `"${name}"`;
      return name === 'seq' ? `"seq" + 1000000` : (OTHER_CONTENT[name] ?? `'later'`);
    });
    const names = INSERTED_COLUMNS.map((name) => `"${name}"`).join(', ');
    await this.reader.run(`INSERT INTO "${TABLE}" (${names}) SELECT ${columns.join(', ')} FROM "${TABLE}"`);
  }

  close(): Promise<void> {
    return this.reader.close();
  }
}
