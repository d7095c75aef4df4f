import { clickhouseStatement } from '../dialect.ts';
import { int64, type SqlFragment, type SqlStatement, sql, trusted } from '../statement.ts';
import { CLOCK_TABLE } from './store-tables.ts';

/** By how much the time of a store is ahead of the clock of a server: microseconds that every statement reads by itself. */
const LEAD = `assumeNotNull((SELECT max(lead) FROM ${CLOCK_TABLE}))`;

/**
 * The time of the store as a statement has it, microseconds: the clock of its server and the lead, or a time that the program has seen if
 * that is later.
 */
export function storeTime(seen: bigint): string {
  return `greatest(toUnixTimestamp64Micro(now64(6)) + ${LEAD}, ${seen})`;
}

/** The lead and the highest time that was shown to a reader, as the tuple `store`, for the time and the rest of what a server tells. */
export function storeClock(database?: string): SqlFragment {
  const table = database === undefined ? CLOCK_TABLE : `${database}.${CLOCK_TABLE}`;
  return trusted(`WITH (SELECT (toInt64(max(lead)), toInt64(max(shown))) FROM ${table}) AS store`);
}

/** What {@link storeClock} names, as columns: the time of the store by the clock of the server, the lead, the highest time shown. */
export const CLOCK_COLUMNS: SqlFragment = trusted('toUnixTimestamp64Micro(now64(6)) + store.1 AS clock, store.1 AS lead, store.2 AS shown');

/** One row: the time of the store by the clock of the server that is asked, the lead, the highest time shown; all in microseconds. */
export const CLOCK_STATEMENT: SqlStatement = clickhouseStatement(sql`${storeClock()} SELECT ${CLOCK_COLUMNS}`);

/** Writes a lead or a time that is shown. The highest of each counts, so that 0 changes nothing. */
export function writeClockStatement({ lead = 0n, shown = 0n }: { readonly lead?: bigint; readonly shown?: bigint }): SqlStatement {
  return clickhouseStatement(sql`INSERT INTO ${trusted(CLOCK_TABLE)} (lead, shown) SELECT ${int64(lead)}, ${int64(shown)}`);
}
