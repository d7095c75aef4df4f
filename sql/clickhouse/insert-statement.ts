import { type EventColumn, JOURNAL_COLUMNS } from '../columns.ts';
import { clickhouseStatement } from '../dialect.ts';
import { type SqlStatement, sql, trusted } from '../statement.ts';
import { WRITER_BITS } from './events.ts';
import { fromJournal, INSERTED_COLUMNS } from './schema.ts';
import { inStore } from './store-tables.ts';

/** A sequence is the microsecond at which an event was taken in, times this, and the number of the process that wrote it. */
export const WRITERS: number = 2 ** WRITER_BITS;

/** The type of a column in the file of a batch, as ClickHouse reads it. */
const FILE_TYPES = {
  BIGINT: 'Int64',
  INTEGER: 'Int32',
  VARCHAR: 'Nullable(String)',
  UBIGINT: 'Nullable(UInt64)',
  BOOLEAN: 'Bool',
  BLOB: 'Nullable(String)',
} as const satisfies Record<EventColumn['duckdbType'], string>;

/**
 * Stores the events of the file of a batch (`store/parquet/batch-file.ts`), whose sequences count from 0, with their packed logs. The
 * server gives each event its sequence: the microseconds at which the statement began and one more for each event of the file. A server
 * that has another store stores none.
 */
export function insertEventsStatement(table: string, logColumn: string, writer: number, storeId: number): SqlStatement {
  const structure = [...JOURNAL_COLUMNS.map(({ name, duckdbType }) => `"${name}" ${FILE_TYPES[duckdbType]}`), `"${logColumn}" String`];
  const sequence = `(toUnixTimestamp64Micro(now64(6)) + "seq") * ${WRITERS} + ${writer}`;
  const values = INSERTED_COLUMNS.map((name) => fromJournal(name) ?? (name === 'seq' ? sequence : `"${logColumn}"`));
  const columns = INSERTED_COLUMNS.map((name) => `"${name}"`).join(', ');
  return clickhouseStatement(
    sql`INSERT INTO ${trusted(`"${table}" (${columns}) SELECT ${values.join(', ')}`)}
      FROM input(${trusted(`'${structure.join(', ')}'`)}) WHERE ${inStore(storeId)} FORMAT Parquet`,
  );
}
