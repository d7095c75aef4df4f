import { clickhouseStatement } from '../dialect.ts';
import type { SqlStatement } from '../statement.ts';
import { sql, text } from '../statement.ts';

/**
 * The server's time and the inserts of events that run on it. The time is taken before the inserts are looked at, and an insert takes its
 * own time after it runs: so the events of an insert that is not listed are visible, or later than the time. One row: the time in
 * microseconds; an array with the comment of each insert and the microseconds since it began, rounded up.
 *
 * @param mark how the comments of inserts into this store's table begin
 */
export function runningInsertsStatement(mark: string): SqlStatement {
  return clickhouseStatement(
    sql`SELECT toUnixTimestamp64Micro(now64(6)), groupArray((Settings['log_comment'], toInt64(ceil(elapsed * 1000000)) + 1))
      FROM system.processes WHERE query_kind = 'Insert' AND startsWith(Settings['log_comment'], ${text(mark)})`,
  );
}
