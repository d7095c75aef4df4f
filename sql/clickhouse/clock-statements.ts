import { clickhouseStatement } from '../dialect.ts';
import { int64, NO_SQL, type SqlFragment, type SqlStatement, sql, text, trusted } from '../statement.ts';
import { type Cluster, onEachNode } from './cluster.ts';
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
function storeClock(database?: string): SqlFragment {
  const table = database === undefined ? CLOCK_TABLE : `${database}.${CLOCK_TABLE}`;
  return trusted(`WITH (SELECT (toInt64(max(lead)), toInt64(max(shown))) FROM ${table}) AS store`);
}

/** What {@link storeClock} names, as columns: the time of the store by the clock of the server, the lead, the highest time shown. */
const CLOCK_COLUMNS: SqlFragment = trusted('toUnixTimestamp64Micro(now64(6)) + store.1 AS clock, store.1 AS lead, store.2 AS shown');

/** One row: the time of the store by the clock of the server that is asked, the lead, the highest time shown; all in microseconds. */
export const CLOCK_STATEMENT: SqlStatement = clickhouseStatement(sql`${storeClock()} SELECT ${CLOCK_COLUMNS}`);

/** Writes a lead or a time that is shown. The highest of each counts, so that 0 changes nothing. */
export function writeClockStatement({ lead = 0n, shown = 0n }: { readonly lead?: bigint; readonly shown?: bigint }): SqlStatement {
  return clickhouseStatement(sql`INSERT INTO ${trusted(CLOCK_TABLE)} (lead, shown) SELECT ${int64(lead)}, ${int64(shown)}`);
}

/**
 * The time of the store on each server and the inserts of events that run there. The time is taken before the inserts are looked at, and an
 * insert takes its own time after it runs: so the events of an insert that is not listed are visible, or later than the time. A row for
 * each server: its time, the lead and the highest time shown, in microseconds; an array with the comment of each insert. On a cluster, the
 * row ends with the seconds for which the server runs.
 *
 * @param mark how the comments of inserts into this store's table begin
 * @param cluster the cluster whose nodes are asked, with names that need no quotes; null asks the server alone
 */
export function runningInsertsStatement(mark: string, cluster: Cluster | null): SqlStatement {
  const uptime = cluster === null ? NO_SQL : trusted(', uptime() AS uptime');
  // A node has no current database.
  const ofNode = sql`${storeClock(cluster?.database)}
    SELECT ${CLOCK_COLUMNS}, groupArray(Settings['log_comment']) AS inserts${uptime} FROM system.processes WHERE query_kind = 'Insert'`;
  const running = sql`arrayFilter(one -> startsWith(one, ${text(mark)}), inserts)`;
  return clickhouseStatement(
    sql`SELECT clock, lead, shown, ${running}${cluster === null ? NO_SQL : trusted(', uptime')} FROM ${onEachNode(cluster, ofNode)}`,
  );
}
