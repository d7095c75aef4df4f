import { column, columnList, EVENT_COLUMNS, type EventColumnName, SEGMENT_COLUMNS } from './columns.ts';
import { int64, joinSql, type SqlFragment, sql, textList, trusted } from './fragment.ts';
import { REBUILT_LOG_ID } from './log-id-parts.ts';

/** A table in memory that events are searched in. */
export interface HotSource {
  readonly name: string;
  /** The sequence of the first row of a table as it was read from a journal; null for one whose rows have a `seq`. */
  readonly firstSequence: bigint | null;
}

const COMPUTED: Readonly<Partial<Record<EventColumnName, string>>> = {
  urlHead: `CASE WHEN contains("url", '?') THEN left("url", strpos("url", '?')) ELSE "url" END`,
  urlTail: `CASE WHEN contains("url", '?') THEN substr("url", strpos("url", '?') + 1) WHEN "url" IS NOT NULL THEN '' END`,
  // It may be: whoever asks looks at lower case then.
  unfolded: 'true',
};
const REBUILT: Readonly<Partial<Record<EventColumnName, string>>> = {
  logId: REBUILT_LOG_ID,
  url: '"urlHead" || "urlTail"',
};

function selected(computed: Readonly<Partial<Record<EventColumnName, string>>>, columns = EVENT_COLUMNS): SqlFragment {
  return trusted(columns.map(({ name }) => (computed[name] === undefined ? `"${name}"` : `${computed[name]} AS "${name}"`)).join(', '));
}

/**
 * The events of hot tables and segments as one relation to select {@link EVENT_COLUMNS} from. `endSequence` hides what hot tables received later.
 * `sealedTables` are names of tables with rows of segments.
 */
export function eventsRelation(
  hotTables: readonly HotSource[],
  segmentPaths: readonly string[],
  endSequence: bigint,
  sealedTables: readonly string[] = [],
): SqlFragment {
  return relation(hotTables, segmentPaths, endSequence, sealedTables, { hot: '', sealed: '', table: () => '' });
}

/** The same with a further column `file`: the path of the segment, or the name of the sealed table, that an event is in, NULL for those in hot tables. */
export function eventsByFile(
  hotTables: readonly HotSource[],
  segmentPaths: readonly string[],
  endSequence: bigint,
  sealedTables: readonly string[],
): SqlFragment {
  return relation(hotTables, segmentPaths, endSequence, sealedTables, {
    hot: ', NULL::VARCHAR AS file',
    sealed: ', filename AS file',
    table: (name) => `, '${name}' AS file`,
  });
}

function relation(
  hotTables: readonly HotSource[],
  segmentPaths: readonly string[],
  endSequence: bigint,
  sealedTables: readonly string[],
  further: { readonly hot: string; readonly sealed: string; readonly table: (name: string) => string },
): SqlFragment {
  const between = EVENT_COLUMNS.filter(({ name }) => name !== 'seq' && name !== 'logPlace');
  const moreHot = trusted(further.hot);
  const hot = hotTables.map(({ name, firstSequence }) => {
    const sequence = firstSequence === null ? column('seq') : sql`(${int64(firstSequence)} + rowid)`;
    const visible = firstSequence === null ? sql`${column('seq')} < ${int64(endSequence)}` : sql`${column('shieldZoneId')} IS NOT NULL`;
    return sql`SELECT ${sequence} AS ${column('seq')}, ${selected(COMPUTED, between)}, -${sequence} AS ${column('logPlace')}${moreHot} FROM ${trusted(name)} WHERE ${visible}`;
  });
  const sealed =
    segmentPaths.length === 0
      ? []
      : [sql`SELECT ${selected(REBUILT)}${trusted(further.sealed)} FROM read_parquet(${textList(segmentPaths)})`];
  const inTables = sealedTables.map((name) => sql`SELECT ${selected(REBUILT)}${trusted(further.table(name))} FROM ${trusted(name)}`);
  const parts = [...hot, ...inTables, ...sealed];
  if (parts.length === 0) {
    const nothing = EVENT_COLUMNS.map(({ name, duckdbType }) => `NULL::${duckdbType} AS "${name}"`).join(', ');
    return trusted(`(SELECT ${nothing}${further.hot} WHERE false) AS events`);
  }
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** Those of the events that are before a time, Unix milliseconds. */
export function eventsBefore(events: SqlFragment, beforeMs: number): SqlFragment {
  return sql`(SELECT * FROM ${events} WHERE ${column('timestamp')} < ${int64(beforeMs)}) AS events`;
}

/** The events of several relations. */
export function allEvents(relations: readonly SqlFragment[]): SqlFragment {
  const parts = relations.map((events) => sql`SELECT * FROM ${events}`);
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** Rows of segments as events. */
export function sealedEvents(rows: SqlFragment): SqlFragment {
  return sql`SELECT ${selected(REBUILT)} FROM ${rows}`;
}

/** The rows of segments as they are, to be written into others. */
export function segmentRows(segmentPaths: readonly string[]): SqlFragment {
  return sql`(SELECT ${columnList(SEGMENT_COLUMNS)} FROM read_parquet(${textList(segmentPaths)})) AS events`;
}
