import type { TimeWindow } from '../query/plan/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int64, type SqlFragment, sql } from './statement.ts';

/**
 * The number of an event's bucket, from 0, of a sparkline or a histogram. `bucketAt` in `query/buckets.ts` says the same of a time, and
 * `test/sql/bucket-sql.test.ts` holds the two together.
 */
export function bucketOf({ fromMs, toMs }: TimeWindow, buckets: number, dialect: Dialect): SqlFragment {
  const elapsed = sql`(${column('timestamp')} - ${int64(fromMs)}) * ${int64(buckets)}`;
  return dialect.divide(sql`(${elapsed})`, sql`${int64(toMs - fromMs)}`);
}
