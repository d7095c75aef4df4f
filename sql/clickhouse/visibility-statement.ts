import { clickhouseStatement } from '../dialect.ts';
import { NO_SQL, type SqlStatement, sql, text, trusted } from '../statement.ts';

/**
 * The clock of each server and the inserts of events that run on it. The time is taken before the inserts are looked at, and an insert
 * takes its own time after it runs: so the events of an insert that is not listed are visible, or later than the time. A row for each
 * server: its time in microseconds; an array with the comment of each insert and the microseconds since it began, rounded up. On a cluster,
 * an insert also has whether a program asked for it, and not another node, and the row ends with the seconds for which the server runs.
 *
 * @param mark how the comments of inserts into this store's table begin
 * @param cluster the cluster whose nodes are asked, a name that needs no quotes; null asks the server alone
 */
export function runningInsertsStatement(mark: string, cluster: string | null): SqlStatement {
  const [isInitial, uptime] = cluster === null ? [NO_SQL, NO_SQL] : [trusted(', is_initial_query'), trusted(', uptime() AS uptime')];
  const ofNode = sql`SELECT toUnixTimestamp64Micro(now64(6)) AS clock,
      groupArray((Settings['log_comment'], toInt64(ceil(elapsed * 1000000)) + 1${isInitial})) AS inserts${uptime}
    FROM system.processes WHERE query_kind = 'Insert'`;
  // The mark is outside of what nodes are sent, because a parameter is not sent along.
  const nodes = cluster === null ? sql`(${ofNode})` : sql`clusterAllReplicas(${trusted(`'${cluster}'`)}, view(${ofNode}))`;
  const running = sql`arrayFilter(one -> startsWith(tupleElement(one, 1), ${text(mark)}), inserts)`;
  return clickhouseStatement(sql`SELECT clock, ${running}${cluster === null ? NO_SQL : trusted(', uptime')} FROM ${nodes}`);
}
