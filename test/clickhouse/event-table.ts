import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Moment } from '../../sql/clickhouse/events.ts';
import { foldTextFunction } from '../../sql/clickhouse/fold-text.ts';
import { createEventsTable, fromJournal, INSERTED_COLUMNS } from '../../sql/clickhouse/schema.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { int64, sql, text, textList, trusted } from '../../sql/statement.ts';
import type { EventSource } from '../../store/clickhouse/event-reader.ts';
import type { EventBatch } from '../../store/event-store.ts';
import { batchFileOf } from '../../store/parquet/batch-file.ts';
import { ChdbReader } from './chdb-reader.ts';

export const TABLE = 'events_local';

/** The texts and the log of a later copy of an event, by the type of the column. */
const OTHER_CONTENT: Readonly<Record<string, string>> = {
  ip: "'9.9.9.9'",
  unfolded: 'false',
  packed: `'{"later":true}'`,
  ipHigh: '0',
  ipLow: '1',
};

/** A table of events in an engine of this process, which nothing merges. */
export class EventTable implements Disposable {
  readonly reader: ChdbReader;
  readonly source: EventSource;
  readonly #folder = mkdtempSync(join(tmpdir(), 'shieldlog-clickhouse-'));
  #batches = 0;

  private constructor(reader: ChdbReader) {
    this.reader = reader;
    this.source = { client: reader, moments: { now: () => this.#now() }, table: TABLE };
  }

  static async open(): Promise<EventTable> {
    const reader = await ChdbReader.open();
    await reader.run(foldTextFunction());
    await reader.run(createEventsTable({ table: TABLE }));
    await reader.run(`SYSTEM STOP MERGES "${TABLE}"`);
    return new EventTable(reader);
  }

  async #now(): Promise<Moment> {
    const { rows } = await this.reader.read(clickhouseStatement(sql`SELECT toUnixTimestamp64Micro(now64(6))`), {});
    return { beforeSeq: BigInt(rows[0]?.[0] as string) << 12n, running: [] };
  }

  /** Inserts a batch as the journal file that it becomes, beside its logs. */
  async insert({ fields, eventCount, logs }: EventBatch): Promise<void> {
    if (eventCount === 0) {
      return;
    }
    this.#batches += 1;
    const path = join(this.#folder, `${this.#batches}.parquet`);
    writeFileSync(path, Buffer.concat(batchFileOf(fields, eventCount, 1n)));
    const packed = textList(Buffer.concat(logs).toString().split('\n').slice(0, -1));
    const given = INSERTED_COLUMNS.map((name) => fromJournal(name) ?? name);
    const { beforeSeq } = await this.#now();
    const names = trusted(INSERTED_COLUMNS.map((name) => `"${name}"`).join(', '));
    const selected = sql`SELECT *, nth AS "row" FROM (SELECT * EXCEPT (seq), toInt64(seq) AS nth FROM file(${text(path)}, 'Parquet'))`;
    const columns = given.map((one) =>
      one === 'seq' ? sql`${int64(beforeSeq)} + nth * 4096` : one === 'packed' ? sql`${packed}[nth]` : trusted(one),
    );
    const list = columns.reduce((all, one) => sql`${all}, ${one}`);
    await this.reader.read(clickhouseStatement(sql`INSERT INTO ${trusted(TABLE)} (${names}) SELECT ${list} FROM (${selected})`), {});
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

  [Symbol.dispose](): void {
    this.reader[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
