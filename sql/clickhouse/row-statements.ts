import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { SearchPlan, TimeWindow } from '../../query/plan/search-plan.ts';
import { column } from '../columns.ts';
import { clickhouseDialect, clickhouseStatement } from '../dialect.ts';
import { inZones, matchSql } from '../predicate-sql.ts';
import { isBehind, type RowKey, type RowSlice, rowOrder } from '../row-statements.ts';
import { int64, joinSql, NO_SQL, type SqlFragment, type SqlStatement, sql, textList, trusted } from '../statement.ts';

/** The rank of a row, and the bytes of its texts and its log. */
const KEY_COLUMNS = joinSql((['timestamp', 'logId', 'shieldZoneId'] as const).map(column));
const TEXTS = TEXT_FIELDS.map(column);
const CONTENTS = [...TEXTS, trusted('"packed"')];
const BYTES = joinSql([sql`length("packed")`, ...TEXTS.map((text) => sql`ifNull(length(${text}), 0)`)], ' + ');

/**
 * A slice of the matching events of `window` in the order of rows, read as {@link RowColumns}. The contents of those behind the first
 * `maxBytes` are NULL, but not of the first row. The rows before the limit are the total.
 */
export function rowSliceStatement(
  plan: SearchPlan,
  events: SqlFragment,
  window: TimeWindow,
  { after, skip = 0, limit }: RowSlice,
  maxBytes: number,
): SqlStatement {
  const order = rowOrder(plan);
  const toMs = after === undefined ? window.toMs : Math.min(window.toMs, after.timestamp + 1);
  const skipped = skip === 0 ? NO_SQL : sql` OFFSET ${int64(skip)}`;
  const page = sql`SELECT ${KEY_COLUMNS}, ${joinSql(CONTENTS)} FROM ${events}
    WHERE ${matchSql(plan, { fromMs: window.fromMs, toMs }, clickhouseDialect)}${after === undefined ? NO_SQL : isBehind(after)}
    ORDER BY ${order} LIMIT ${int64(limit)}${skipped}`;
  const measured = sql`SELECT *, ${BYTES} AS bytes, sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS "bytesUpTo"
    FROM (${page}) AS page`;
  const isRead = sql`"bytesUpTo" <= ${int64(maxBytes)} OR "bytesUpTo" = bytes`;
  const contents = joinSql(CONTENTS.map((content) => sql`if(${isRead}, ${content}, NULL)`));
  return clickhouseStatement(sql`SELECT ${KEY_COLUMNS}, bytes, ${contents} FROM (${measured}) AS measured ORDER BY ${order}`);
}

/** The rows with these ranks, at least one, in the order of rows and read as {@link RowColumns}. */
export function rowsByKeyStatement(plan: SearchPlan, events: SqlFragment, keys: readonly RowKey[]): SqlStatement {
  const order = rowOrder(plan);
  const times = keys.map(({ timestamp }) => timestamp);
  const zones = [...new Set(keys.map(({ zoneId }) => zoneId))];
  const listed = (type: string, values: readonly (string | number)[]) => {
    return sql`CAST(${textList(values.map(String))}, 'Array(${trusted(type)})')`;
  };
  const wanted = sql`arrayZip(${listed('Int64', times)}, ${textList(keys.map(({ logId }) => logId))}, ${listed(
    'Int32',
    keys.map(({ zoneId }) => zoneId),
  )})`;
  return clickhouseStatement(
    sql`SELECT ${KEY_COLUMNS}, ${BYTES} AS bytes, ${joinSql(CONTENTS)} FROM ${events}
      WHERE ${inZones(zones, clickhouseDialect)} AND ${column('timestamp')} >= ${int64(Math.min(...times))}
      AND ${column('timestamp')} <= ${int64(Math.max(...times))} AND (${KEY_COLUMNS}) IN ${wanted} ORDER BY ${order}`,
  );
}

/** A row of the statements above: its rank, its bytes, {@link TEXT_FIELDS}, and its packed log; NULL where it is not read. */
export type RowColumns = readonly [
  timestamp: string,
  logId: string,
  zoneId: number,
  bytes: string,
  ...texts: (string | null)[],
  packed: string | null,
];
