import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import { column } from '../columns.ts';
import { clickhouseDialect, clickhouseStatement } from '../dialect.ts';
import { inZones } from '../predicate-sql.ts';
import { int64, joinSql, type SqlFragment, type SqlStatement, sql, trusted } from '../statement.ts';
import { MINUTE_OF_SEQUENCES } from './schema.ts';

const slotOf = trusted(`intDiv(seq, ${MINUTE_OF_SEQUENCES})`);

/** A part of the feed: events of the zones with a sequence above `after` and up to `upTo`. */
export interface ArrivalRange {
  readonly zones: ZoneSelection;
  readonly after: bigint;
  /** Inclusive. */
  readonly upTo: bigint;
}

function inRange({ zones, after, upTo }: ArrivalRange): SqlFragment {
  const inSlots = sql`${slotOf} >= ${int64(after / MINUTE_OF_SEQUENCES)} AND ${slotOf} <= ${int64(upTo / MINUTE_OF_SEQUENCES)}`;
  const inSequence = sql`${inSlots} AND seq > ${int64(after)} AND seq <= ${int64(upTo)}`;
  return zones === 'all' ? inSequence : sql`${inSequence} AND ${inZones(zones, clickhouseDialect)}`;
}

/** The first minute of arrivals with a copy of an event of the range. Column: the minute; no row where there is none. */
export function firstSlotStatement(table: string, range: ArrivalRange): SqlStatement {
  return clickhouseStatement(sql`SELECT ${slotOf} AS slot FROM ${trusted(table)} WHERE ${inRange(range)} ORDER BY ${slotOf} LIMIT 1`);
}

/** One row where a copy of an event is in the range, and none otherwise. */
export function arrivalsStatement(table: string, range: ArrivalRange): SqlStatement {
  return clickhouseStatement(sql`SELECT 1 FROM ${trusted(table)} WHERE ${inRange(range)} LIMIT 1`);
}

/** The number of copies of events in a range. */
export function arrivalCountStatement(table: string, range: ArrivalRange): SqlStatement {
  return clickhouseStatement(sql`SELECT count() FROM ${trusted(table)} WHERE ${inRange(range)}`);
}

/**
 * The end of the first `limit` sequences of a range. One row: the last of them; whether there are later ones; how many they are. Where two
 * processes have one number, several copies of events may have one sequence.
 */
export function pageEndStatement(table: string, range: ArrivalRange, limit: number): SqlStatement {
  const first = sql`SELECT seq FROM ${trusted(table)} WHERE ${inRange(range)} ORDER BY seq LIMIT 1 BY seq LIMIT ${int64(limit + 1)}`;
  return clickhouseStatement(
    sql`SELECT sequences[least(${int64(limit)}, length(sequences))], length(sequences) > ${int64(limit)},
      least(${int64(limit)}, length(sequences))
      FROM (SELECT arraySort(groupArray(seq)) AS sequences FROM (${first}))`,
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
const LINE = sql`concat('{"logId":', ${jsonText(column('logId'))}, ',"shieldZoneId":', toString("shieldZoneId"),
  ',"timestamp":', toString("timestamp"),
  ${joinSql(MEMBERS)}, ',"log":', log, '}')`;

/**
 * The events of a range, by sequence. A later copy of an event is left out, wherever the first one is. Each row is a line: the sequence, a
 * tab, and the event as JSON, which has no tab. By PREWHERE only the identities are read where no event of the range is; all copies of an
 * event have the same, so that it may come before FINAL.
 */
export function feedLinesStatement(table: string, range: ArrivalRange): SqlStatement {
  const { after, upTo } = range;
  return clickhouseStatement(
    sql`SELECT seq, ${LINE} FROM ${trusted(table)} FINAL
      PREWHERE ("shieldZoneId", "timestamp", logId) IN
        (SELECT "shieldZoneId", "timestamp", logId FROM ${trusted(table)} WHERE ${inRange(range)})
      WHERE seq > ${int64(after)} AND seq <= ${int64(upTo)}
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
