import { TEXT_FIELDS } from '../query/event-fields.ts';
import type { WantedEvents } from '../query/plan/wanted-events.ts';
import { column, rowsOfFiles } from './columns.ts';
import { duckdbDialect, duckdbStatement } from './dialect.ts';
import { inZones, predicateSql } from './predicate-sql.ts';
import { int64, joinSql, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** A range of the feed: the wanted events with a sequence above `after` and up to `upTo`. */
export interface FeedRange extends WantedEvents {
  readonly after: bigint;
  /** Inclusive. */
  readonly upTo: bigint;
}

function inRange({ zones, where, after, upTo }: FeedRange): SqlFragment {
  const inSequence = sql`${column('seq')} > ${int64(after)} AND ${column('seq')} <= ${int64(upTo)}`;
  const inZonesToo = zones === 'all' ? inSequence : sql`${inSequence} AND ${inZones(zones, duckdbDialect)}`;
  return where === undefined ? inZonesToo : sql`${inZonesToo} AND ${predicateSql(where, duckdbDialect)}`;
}

const jsonOf = (value: SqlFragment) => sql`to_json(${value})::VARCHAR`;

const HEAD_FIELDS = TEXT_FIELDS.map((name) => sql`',"${trusted(name)}":' || ${jsonOf(column(name))}`);

/** An event as JSON on one line, up to the value of its last member, the log. A field that is NULL adds nothing. */
const HEAD = sql`concat('{"logId":', ${jsonOf(column('logId'))}, ',"shieldZoneId":', ${column('shieldZoneId')},
  ',"timestamp":', ${column('timestamp')}, ${joinSql(HEAD_FIELDS)}, ',"log":')`;

/**
 * The first `limit` events of a range without their logs. They come in no order, so that DuckDB streams them block by block. Columns:
 * sequence, blob pointer, head in UTF-8.
 */
export function feedHeadsStatement(events: SqlFragment, range: FeedRange, limit: number): SqlStatement {
  const wanted = inRange(range);
  const heads = sql`SELECT ${column('seq')}, ${column('logPlace')}, encode(${HEAD}) FROM ${events}
      WHERE ${wanted}`;
  // No more events have these sequences, so that the condition is tried once.
  if (range.upTo - range.after <= limit) return duckdbStatement(heads);
  const first = sql`SELECT ${column('seq')} FROM ${events} WHERE ${wanted} ORDER BY ${column('seq')} LIMIT ${int64(limit)}`;
  return duckdbStatement(sql`${heads} AND ${column('seq')} <= (SELECT max(${column('seq')}) FROM (${first}))`);
}

/** The highest sequence of each zone in a segment. Columns: zone, sequence. */
export function lastSequencesStatement(segmentPath: string): SqlStatement {
  return duckdbStatement(
    sql`SELECT ${column('shieldZoneId')}, max(${column('seq')}) FROM ${rowsOfFiles([segmentPath])} GROUP BY ${column('shieldZoneId')}`,
  );
}
