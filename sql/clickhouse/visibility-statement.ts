import { clickhouseStatement } from '../dialect.ts';
import { NO_SQL, type SqlStatement, sql, text, trusted } from '../statement.ts';
import { CLOCK_COLUMNS, storeClock } from './clock-statements.ts';
import { type Cluster, onEachNode } from './cluster.ts';

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
