import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { WantedEvents } from '../../query/plan/wanted-events.ts';
import { column } from '../columns.ts';
import { clickhouseDialect, clickhouseStatement } from '../dialect.ts';
import { inZones, predicateSql } from '../predicate-sql.ts';
import { int64, joinSql, NO_SQL, type SqlFragment, type SqlStatement, sql, trusted } from '../statement.ts';
import { SHARDED_EVENTS } from './cluster.ts';
import { MINUTE_OF_SEQUENCES } from './schema.ts';

const HIGHEST = 2n ** 63n - 1n;

const slotOf = trusted(`intDiv(seq, ${MINUTE_OF_SEQUENCES})`);

/** A part of the feed: the wanted events with a sequence above `after` and up to `upTo`. */
export interface ArrivalRange extends WantedEvents {
  readonly after: bigint;
  /** Inclusive. */
  readonly upTo: bigint;
}

/** The condition that an event is of the zones and the range, whether or not it matches the condition of what is wanted. */
function inRange({ zones, after, upTo }: ArrivalRange): SqlFragment {
  const inSlots = sql`${slotOf} >= ${int64(after / MINUTE_OF_SEQUENCES)} AND ${slotOf} <= ${int64(upTo / MINUTE_OF_SEQUENCES)}`;
  const inSequence = sql`${inSlots} AND seq > ${int64(after)} AND seq <= ${int64(upTo)}`;
  return zones === 'all' ? inSequence : sql`${inSequence} AND ${inZones(zones, clickhouseDialect)}`;
}

const IDENTITY = trusted('("shieldZoneId", "timestamp", logId)');

/**
 * The copies of wanted events in a range, as what follows a FROM. `arrivals` has no fields, so those of a condition are read for the
 * identities alone that are found by it.
 */
function wantedCopies(table: string, range: ArrivalRange): SqlFragment {
  const { where, after, upTo } = range;
  const events = trusted(table);
  if (where === undefined) {
    return sql`${events} WHERE ${inRange(range)}`;
  }
  return sql`${events}
    WHERE ${IDENTITY} IN (SELECT "shieldZoneId", "timestamp", logId FROM ${events} WHERE ${inRange(range)})
      AND seq > ${int64(after)} AND seq <= ${int64(upTo)}${ofShards(table, range)} AND ${predicateSql(where, clickhouseDialect)}`;
}

/** Zones are named once more where that says which shards are asked. */
function ofShards(table: string, { zones }: ArrivalRange): SqlFragment {
  return table === SHARDED_EVENTS && zones !== 'all' ? sql` AND ${inZones(zones, clickhouseDialect)}` : NO_SQL;
}

/** The first minute of arrivals with a copy of an event of the range. Column: the minute; no row where there is none. */
export function firstSlotStatement(table: string, range: ArrivalRange): SqlStatement {
  return clickhouseStatement(sql`SELECT ${slotOf} AS slot FROM ${trusted(table)} WHERE ${inRange(range)} ORDER BY ${slotOf} LIMIT 1`);
}

/** One row where a copy of an event is in the range, and none otherwise. */
export function arrivalsStatement(table: string, range: ArrivalRange): SqlStatement {
  return clickhouseStatement(sql`SELECT 1 FROM ${trusted(table)} WHERE ${inRange(range)} LIMIT 1`);
}

/** The highest sequence of an event after this one; 0 where there is none. */
export function lastArrivalStatement(table: string, after: bigint): SqlStatement {
  return clickhouseStatement(sql`SELECT max(seq) FROM ${trusted(table)} WHERE ${inRange({ zones: 'all', after, upTo: HIGHEST })}`);
}

/** The number of copies of events in a range. */
export function arrivalCountStatement(table: string, range: ArrivalRange): SqlStatement {
  return clickhouseStatement(sql`SELECT count() FROM ${trusted(table)} WHERE ${inRange(range)}`);
}

/**
 * The end of the first `limit` copies of wanted events of a range. One row: the sequence of the last of them, 0 where there are none;
 * whether there are later ones; how many they are. Several copies may have one sequence, where two processes have one number: they are all
 * behind the end, or none of them.
 */
export function pageEndStatement(table: string, range: ArrivalRange, limit: number): SqlStatement {
  const first = sql`SELECT seq FROM ${wantedCopies(table, range)} ORDER BY seq LIMIT ${int64(limit + 1)}`;
  const isMore = sql`length(sequences) > ${int64(limit)}`;
  const before = sql`arrayFilter(one -> one < sequences[-1], sequences)`;
  return clickhouseStatement(
    sql`SELECT page[-1], isMore, length(page) FROM (
        SELECT ${isMore} AS isMore, if(isMore AND length(${before}) > 0, ${before}, sequences) AS page
        FROM (SELECT arraySort(groupArray(seq)) AS sequences FROM (${first})))`,
  );
}

/** The parts of a text between the separators as JSON without its quotes, with the separators as they are between them. */
function joinedParts(separator: string, parts: SqlFragment, jsonOf: (part: SqlFragment) => SqlFragment): SqlFragment {
  const name = trusted(`part${separator}`);
  const between = trusted(`unhex('E280${separator}')`);
  return sql`arrayStringConcat(arrayMap(${name} -> ${jsonOf(name)}, splitByString(${between}, ${parts})), ${between})`;
}

/** JSON of a text as DuckDB writes it: ClickHouse escapes U+2028 and U+2029, too. */
function jsonText(value: SqlFragment): SqlFragment {
  const json = sql`toJSONString(${value})`;
  const bare = (part: SqlFragment) => sql`substring(toJSONString(${part}), 2, length(toJSONString(${part})) - 2)`;
  const split = joinedParts('A8', value, (part) => joinedParts('A9', part, bare));
  return sql`if(position(${value}, unhex('E280A8')) = 0 AND position(${value}, unhex('E280A9')) = 0, ${json}, concat('"', ${split}, '"'))`;
}

const MEMBERS = TEXT_FIELDS.map((name) => {
  const value = sql`assumeNotNull(${column(name)})`;
  return sql`if(isNull(${column(name)}), '', concat(',"${trusted(name)}":', ${jsonText(value)}))`;
});

/** An event as JSON on one line, as the feed of an embedded store has it. */
function line(logs: boolean): SqlFragment {
  return sql`concat('{"logId":', ${jsonText(column('logId'))}, ',"shieldZoneId":', toString("shieldZoneId"),
  ',"timestamp":', toString("timestamp"),
  ${joinSql(MEMBERS)}${logs ? sql`, ',"log":', log` : NO_SQL}, '}')`;
}

/**
 * The wanted events of a range, by sequence. A later copy of an event is left out, wherever the first one is. Each row is a line: the
 * sequence, a tab, and the event as JSON, which has no tab. By PREWHERE only the identities are read where no event of the range is; all
 * copies of an event have the same, so that it may come before FINAL. The condition comes behind it, because a later copy that matches
 * would otherwise stand for a first one that does not.
 */
export function feedLinesStatement(table: string, range: ArrivalRange): SqlStatement {
  const { where, logs = true, after, upTo } = range;
  const matches = where === undefined ? NO_SQL : sql` AND ${predicateSql(where, clickhouseDialect)}`;
  return clickhouseStatement(
    sql`SELECT seq, ${line(logs)} FROM ${trusted(table)} FINAL
      PREWHERE ${IDENTITY} IN
        (SELECT "shieldZoneId", "timestamp", logId FROM ${wantedCopies(table, range)})
      WHERE seq > ${int64(after)} AND seq <= ${int64(upTo)}${ofShards(table, range)}${matches}
      ORDER BY seq FORMAT TSVRaw`,
  );
}

/** The highest sequence of each zone in the partitions of these days. Columns: zone, sequence. */
export function lastSequencesOfDaysStatement(table: string, days: readonly number[]): SqlStatement {
  return clickhouseStatement(
    sql`SELECT "shieldZoneId", max(seq) FROM ${trusted(table)}
      WHERE intDiv("timestamp", 86400000) IN (${joinSql(days.map((day) => sql`${int64(day)}`))}) GROUP BY "shieldZoneId"`,
  );
}
