import { storeTime } from '../../../sql/clickhouse/clock-statements.ts';
import { inStore } from '../../../sql/clickhouse/store-tables.ts';
import { clickhouseStatement } from '../../../sql/dialect.ts';
import { int32, type SqlStatement, sql, text, trusted } from '../../../sql/statement.ts';
import type { SourceOffset } from '../../event-store.ts';
import type { ClickhouseClient } from '../server/client.ts';

function insertStatement(storeId: number, seen: bigint): SqlStatement {
  return clickhouseStatement(
    sql`INSERT INTO source_offsets (topic, partition, nextOffset, topicId, writtenAt)
      SELECT topic, partition, nextOffset, topicId, ${trusted(storeTime(seen))}
      FROM input('topic String, partition Int32, nextOffset Int64, topicId Nullable(String)') WHERE ${inStore(storeId)} FORMAT JSONEachRow`,
  );
}

/** How far the partitions of Kafka are read, in a table. */
export class SourceOffsets {
  readonly #client: ClickhouseClient;

  constructor(client: ClickhouseClient) {
    this.#client = client;
  }

  /**
   * Adds offsets, which are durable when this resolves. Later ones of a partition count, whether or not they are higher.
   *
   * @param seen a time of the store that they are not before, microseconds
   */
  async add(offsets: readonly SourceOffset[], seen: bigint): Promise<void> {
    if (offsets.length === 0) {
      return;
    }
    const lines = offsets.map(({ topic, partition, nextOffset, topicId = null }) =>
      JSON.stringify({ topic, partition, nextOffset: String(nextOffset), topicId }),
    );
    const rows = { data: [Buffer.from(`${lines.join('\n')}\n`)], rows: lines.length };
    await this.#client.insert(insertStatement(await this.#client.storeId(), seen), rows);
  }

  async get(topic: string, partition: number): Promise<Pick<SourceOffset, 'nextOffset' | 'topicId'> | undefined> {
    const { rows } = await this.#client.read(
      clickhouseStatement(
        sql`SELECT nextOffset, topicId FROM source_offsets WHERE topic = ${text(topic)} AND partition = ${int32(partition)}
          ORDER BY writtenAt DESC LIMIT 1`,
      ),
    );
    const [row] = rows as readonly (readonly [nextOffset: string, topicId: string | null])[];
    return row && { nextOffset: BigInt(row[0]), ...(row[1] === null ? {} : { topicId: row[1] }) };
  }
}
