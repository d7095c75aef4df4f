import { type EventColumn, JOURNAL_COLUMNS } from '../columns.ts';
import { clickhouseStatement } from '../dialect.ts';
import { type SqlStatement, sql, trusted } from '../statement.ts';
import { storeTime } from './clock-statements.ts';
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

interface EventsInserted {
  /** The number of the process. */
  readonly writer: number;
  readonly storeId: number;
  /** A time of the store that the program has seen, microseconds. */
  readonly seen: bigint;
}

/**
 * Stores the events of the file of a batch (`store/parquet/batch-file.ts`), whose sequences count from 0, with their packed logs. The
 * server gives each event its sequence: the time of the store when the statement began, or the one that the program has seen if that is
 * later, and a microsecond more for each event of the file. A server that has another store stores none.
 */
export function insertEventsStatement(table: string, logColumn: string, { writer, storeId, seen }: EventsInserted): SqlStatement {
  const structure = [...JOURNAL_COLUMNS.map(({ name, duckdbType }) => `"${name}" ${FILE_TYPES[duckdbType]}`), `"${logColumn}" String`];
  const sequence = `(${storeTime(seen)} + "seq") * ${WRITERS} + ${writer}`;
  const values = INSERTED_COLUMNS.map((name) => fromJournal(name) ?? (name === 'seq' ? sequence : `"${logColumn}"`));
  const columns = INSERTED_COLUMNS.map((name) => `"${name}"`).join(', ');
  return clickhouseStatement(
    sql`INSERT INTO ${trusted(`"${table}" (${columns}) SELECT ${values.join(', ')}`)}
      FROM input(${trusted(`'${structure.join(', ')}'`)}) WHERE ${inStore(storeId)} FORMAT Parquet`,
  );
}
