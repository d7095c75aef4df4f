import { TEXT_FIELDS } from '../query/event-fields.ts';
import { column } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { markText } from './marked-text.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/** How events are read in the order of their sequence. */

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

/** A stretch of the feed: events of the zones with a sequence above `after` and up to `upTo`. */
export interface FeedStretch {
  readonly zones: readonly number[] | 'all';
  readonly after: bigint;
  /** Inclusive. */
  readonly upTo: bigint;
}

export function inStretch({ zones, after, upTo }: FeedStretch): SqlFragment {
  const inSequence = sql`${column('seq')} > ${int64(after)} AND ${column('seq')} <= ${int64(upTo)}`;
  if (zones === 'all') {
    return inSequence;
  }
  const listed = joinSql(
    zones.map((zone) => sql`${int32(zone)}`),
    ', ',
  );
  return zones.length === 0 ? trusted('false') : sql`${inSequence} AND ${column('shieldZoneId')} IN (${listed})`;
}

const SELECTED = joinSql(
  [
    column('seq'),
    column('shieldZoneId'),
    column('timestamp'),
    column('log'),
    column('logPlace'),
    ...(['logId', ...TEXT_FIELDS] as const).map((name) => markText(column(name))),
  ],
  ', ',
);

/** The first `limit` events of a stretch. Columns: seq, shieldZoneId, timestamp, log, logPlace, then logId and the text fields (marked text). */
export function feedPageStatement(events: SqlFragment, stretch: FeedStretch, limit: number): SqlStatement {
  return render(sql`SELECT ${SELECTED} FROM ${events} WHERE ${inStretch(stretch)} ORDER BY ${column('seq')} LIMIT ${int64(limit)}`);
}

/** The highest sequence of each zone in a segment. Columns: zone, sequence. */
export function lastSequencesStatement(segmentPath: string): SqlStatement {
  return render(
    sql`SELECT ${column('shieldZoneId')}, max(${column('seq')}) FROM read_parquet(${text(segmentPath)}) GROUP BY ${column('shieldZoneId')}`,
  );
}
