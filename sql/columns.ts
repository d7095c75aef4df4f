import { TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { type SqlFragment, trusted } from './fragment.ts';

/** A column of the event table: its name is also its identifier in SQL, the only place identifiers come from. */
export interface EventColumn {
  readonly name: EventColumnName;
  readonly duckdbType: 'BIGINT' | 'INTEGER' | 'VARCHAR' | 'UBIGINT' | 'JSON';
}

/** The columns of a canonical event, as they are read from a journal. */
export const CANONICAL_COLUMNS: readonly EventColumn[] = [
  { name: 'shieldZoneId', duckdbType: 'INTEGER' },
  { name: 'timestamp', duckdbType: 'BIGINT' },
  { name: 'logId', duckdbType: 'VARCHAR' },
  ...TEXT_FIELDS.map((name) => ({ name, duckdbType: 'VARCHAR' }) as const),
  { name: 'ipHigh', duckdbType: 'UBIGINT' },
  { name: 'ipLow', duckdbType: 'UBIGINT' },
  { name: 'log', duckdbType: 'JSON' },
];

/** The columns of the event table: `seq` is the ingest sequence that the feed is ordered by. */
export const EVENT_COLUMNS: readonly EventColumn[] = [{ name: 'seq', duckdbType: 'BIGINT' }, ...CANONICAL_COLUMNS];

export type EventColumnName = 'seq' | 'shieldZoneId' | 'timestamp' | 'logId' | TextField | 'ipHigh' | 'ipLow' | 'log';

/** The quoted identifier of a column. */
export function column(name: EventColumnName): SqlFragment {
  return trusted(`"${name}"`);
}

/** All columns of the event table, comma-separated, in table order. */
export function allColumns(): SqlFragment {
  return trusted(EVENT_COLUMNS.map(({ name }) => `"${name}"`).join(', '));
}
