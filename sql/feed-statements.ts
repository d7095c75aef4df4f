import { TEXT_FIELDS } from '../query/event-fields.ts';
import { column } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/** How events are read in the order of their sequence. Table names and paths are the store's own. */

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

/** A range of the feed: events of the zones with a sequence above `after` and up to `upTo`. */
export interface FeedRange {
  /** At least one. */
  readonly zones: readonly number[] | 'all';
  readonly after: bigint;
  /** Inclusive. */
  readonly upTo: bigint;
}

function inRange({ zones, after, upTo }: FeedRange): SqlFragment {
  const inSequence = sql`${column('seq')} > ${int64(after)} AND ${column('seq')} <= ${int64(upTo)}`;
  if (zones === 'all') {
    return inSequence;
  }
  const listed = joinSql(
    zones.map((zone) => sql`${int32(zone)}`),
    ', ',
  );
  return sql`${inSequence} AND ${column('shieldZoneId')} IN (${listed})`;
}

const jsonOf = (value: SqlFragment) => sql`to_json(${value})::VARCHAR`;

/** An event as JSON on one line up to the value of its last member, the log. What is NULL adds nothing. */
const HEAD = sql`concat('{"logId":', ${jsonOf(column('logId'))}, ',"shieldZoneId":', ${column('shieldZoneId')}, ',"timestamp":', ${column('timestamp')}, ${joinSql(
  TEXT_FIELDS.map((name) => sql`',"${trusted(name)}":' || ${jsonOf(column(name))}`),
  ', ',
)}, ',"log":')`;

/**
 * The first `limit` events of a range without their logs, in no order: DuckDB holds no more of them than a block. Columns: sequence, blob
 * pointer, head in UTF-8.
 */
export function feedHeadsStatement(events: SqlFragment, range: FeedRange, limit: number): SqlStatement {
  const wanted = inRange(range);
  const first = sql`SELECT ${column('seq')} FROM ${events} WHERE ${wanted} ORDER BY ${column('seq')} LIMIT ${int64(limit)}`;
  return render(
    sql`SELECT ${column('seq')}, ${column('logPlace')}, encode(${HEAD}) FROM ${events} WHERE ${wanted} AND ${column('seq')} <= (SELECT max(${column('seq')}) FROM (${first}))`,
  );
}

/** The highest sequence of each zone in a segment. Columns: zone, sequence. */
export function lastSequencesStatement(segmentPath: string): SqlStatement {
  return render(
    sql`SELECT ${column('shieldZoneId')}, max(${column('seq')}) FROM read_parquet(${text(segmentPath)}) GROUP BY ${column('shieldZoneId')}`,
  );
}
