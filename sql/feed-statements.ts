import { TEXT_FIELDS } from '../query/event-fields.ts';
import { column, columnList, FIELD_COLUMNS, LOG_ROW_BITS } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { eventsRelation, type HotSource, sealedEvents } from './events-relation.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, textList, trusted } from './fragment.ts';

import { renderSql, type SqlStatement } from './statement.ts';
import { unpacked } from './unpacked-log.ts';

/** How events are read in the order of their sequence. Table names and paths are the store's own. */

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

/** A stretch of the feed: events of the zones with a sequence above `after` and up to `upTo`. */
export interface FeedStretch {
  /** At least one. */
  readonly zones: readonly number[] | 'all';
  readonly after: bigint;
  /** Inclusive. */
  readonly upTo: bigint;
}

/** A part of a bundle that has all logs of a stretch. */
export interface BundlePart {
  readonly bundle: number;
  readonly path: string;
  /** Of the events whose logs are wanted, in the bundle; both inclusive. Null: wherever they are. */
  readonly rows: readonly [first: bigint, last: bigint] | null;
}

const TEXT_COLUMNS = (['logId', ...TEXT_FIELDS] as const).map((name) => column(name));

/** Bytes of an event's texts and its log. */
const SIZE = joinSql(
  [...TEXT_COLUMNS, trusted('log')].map((name) => sql`coalesce(strlen(${name}), 0)`),
  ' + ',
);

function inStretch({ zones, after, upTo }: FeedStretch): SqlFragment {
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

/** What a feed is made of: the fields of an event, and `log`, a text. */
const FEED_COLUMNS = sql`${columnList(FIELD_COLUMNS)}, log`;

/** The events of a stretch that are hot. Their logs are kept elsewhere: they are NULL. */
export function hotFeed(hot: readonly HotSource[], stretch: FeedStretch): SqlFragment {
  const events = eventsRelation(hot, [], stretch.upTo + 1n);
  return sql`(SELECT ${columnList(FIELD_COLUMNS)}, NULL::VARCHAR AS log FROM ${events} WHERE ${inStretch(stretch)}) AS feed`;
}

function sealedStretch(segmentPaths: readonly string[], stretch: FeedStretch): SqlFragment {
  return sql`(SELECT * FROM (${sealedEvents(sql`read_parquet(${textList(segmentPaths)})`)}) AS every WHERE ${inStretch(stretch)}) AS sealed`;
}

const firstPlace = (bundle: number) => int64(BigInt(bundle) << BigInt(LOG_ROW_BITS));

/** The events of a stretch that are sealed, with their logs. There is at least one segment, and one part. */
export function sealedFeed(segmentPaths: readonly string[], parts: readonly BundlePart[], stretch: FeedStretch): SqlFragment {
  const logs = parts.map(({ bundle, path, rows }) => {
    const within = rows === null ? trusted('') : sql` WHERE file_row_number BETWEEN ${int64(rows[0])} AND ${int64(rows[1])}`;
    return sql`SELECT ${firstPlace(bundle)} + file_row_number AS place, log FROM read_parquet(${text(path)}, file_row_number = true)${within}`;
  });
  const packed = sql`(SELECT ${FEED_COLUMNS} FROM ${sealedStretch(segmentPaths, stretch)} JOIN (${joinSql(logs, ' UNION ALL ')}) AS logs ON ${column('logPlace')} = place) AS packed`;
  return sql`(SELECT ${FEED_COLUMNS} FROM ${unpacked(packed)}) AS feed`;
}

/** Where in their bundles the logs of a stretch are. Columns: bundle, zone (NULL unless `byZone`), first and last row. */
export function logRowsStatement(segmentPaths: readonly string[], stretch: FeedStretch, byZone: boolean): SqlStatement {
  const bits = int32(LOG_ROW_BITS);
  const zone = byZone ? column('shieldZoneId') : trusted('NULL');
  const row = sql`${column('logPlace')} - ((${column('logPlace')} >> ${bits}) << ${bits})`;
  return render(
    sql`SELECT ${column('logPlace')} >> ${bits} AS bundle, ${zone} AS zone, min(${row}) AS first_row, max(${row}) AS last_row FROM ${sealedStretch(segmentPaths, stretch)} GROUP BY ALL ORDER BY bundle, first_row`,
  );
}

/** The sizes of the first `limit` events. Columns: seq, bytes of the texts and the log. */
export function feedSizesStatement(feed: SqlFragment, limit: number): SqlStatement {
  return render(sql`SELECT ${column('seq')}, ${SIZE} FROM ${feed} ORDER BY ${column('seq')} LIMIT ${int64(limit)}`);
}

const jsonOf = (text: SqlFragment) => sql`to_json(${text})::VARCHAR`;

/** Between the sequence and the JSON of an event, and behind each event but the last. JSON on one line has neither. */
export const SEQUENCE_END = 0x1f;
export const LINE_END = 0x0a;

/** An event as its sequence and its JSON on one line, its id, zone and time, its texts, then its log, which has no line end. */
const LINE = sql`concat(${column('seq')}, chr(${trusted(String(SEQUENCE_END))}), '{"logId":', ${jsonOf(column('logId'))}, ',"shieldZoneId":', ${column('shieldZoneId')}, ',"timestamp":', ${column('timestamp')}, ${joinSql(
  // What is NULL adds nothing.
  TEXT_FIELDS.map((name) => sql`',"${trusted(name)}":' || ${jsonOf(column(name))}`),
  ', ',
)}, ',"log":', log, '}')`;

const LINES = sql`string_agg(${LINE}, chr(${trusted(String(LINE_END))}))`;

/** How much comes behind the reader, of `limit` events at most. Columns: events, bytes of their texts and logs, highest sequence (NULL where nothing comes). */
export function feedExtentStatement(feed: SqlFragment, limit: number): SqlStatement {
  return render(
    sql`SELECT count(*), sum(size), max(seq) FROM (SELECT ${column('seq')}, ${SIZE} AS size FROM ${feed} ORDER BY ${column('seq')} LIMIT ${int64(limit)})`,
  );
}

/** All events of the feed as one text in UTF-8, in no order; NULL where there are none. One crosses into JavaScript much faster than many values. */
export function feedLinesStatement(feed: SqlFragment): SqlStatement {
  return render(sql`SELECT encode(${LINES}) FROM ${feed}`);
}

/** An event with longer texts is a row of its own in a window. */
const LARGE_BYTES = 32 * 1024;

/**
 * A table of the feed's events in buckets of `width` sequences, the first of which begins at `first`. Columns: bucket, large (NULL, or the sequence of the one event in the row), events,
 * bytes, lines, in no order.
 */
export function feedWindowStatement(table: string, feed: SqlFragment, first: bigint, width: number): SqlStatement {
  const large = sql`CASE WHEN ${SIZE} > ${int32(LARGE_BYTES)} THEN ${column('seq')} END`;
  return render(
    sql`CREATE TABLE ${trusted(table)} AS SELECT bucket, large, events, strlen(lines) AS bytes, lines FROM (SELECT (${column('seq')} - ${int64(first)}) // ${int64(width)} AS bucket, ${large} AS large, count(*) AS events, ${LINES} AS lines FROM ${feed} GROUP BY bucket, large)`,
  );
}

/** Columns: bucket, large, events, bytes. */
export function windowRowsStatement(table: string): SqlStatement {
  return render(sql`SELECT bucket, large, events, bytes FROM ${trusted(table)} ORDER BY bucket, large NULLS FIRST`);
}

/** The rows of some buckets, of the large events only those above `after` and up to `upTo`. Columns: lines in UTF-8. */
export function windowLinesStatement(
  table: string,
  buckets: { readonly first: number; readonly last: number },
  { after, upTo }: Pick<FeedStretch, 'after' | 'upTo'>,
): SqlStatement {
  const wanted = sql`large IS NULL OR (large > ${int64(after)} AND large <= ${int64(upTo)})`;
  return render(
    sql`SELECT encode(lines) FROM ${trusted(table)} WHERE bucket BETWEEN ${int64(buckets.first)} AND ${int64(buckets.last)} AND (${wanted})`,
  );
}

/** The highest sequence of each zone in a segment. Columns: zone, sequence. */
export function lastSequencesStatement(segmentPath: string): SqlStatement {
  return render(
    sql`SELECT ${column('shieldZoneId')}, max(${column('seq')}) FROM read_parquet(${text(segmentPath)}) GROUP BY ${column('shieldZoneId')}`,
  );
}
