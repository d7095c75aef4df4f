import { TEXT_FIELDS } from '../query/event-fields.ts';

/** A column of the event table: its name is also its identifier in SQL, the only place identifiers come from. */
export interface EventColumn {
  readonly name: string;
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
