import { column, columnList, EVENT_COLUMNS, type EventColumnName, JOURNAL_COLUMNS, SEGMENT_COLUMNS } from './columns.ts';
import { int64, joinSql, type SqlFragment, sql, textList, trusted } from './fragment.ts';
import { REBUILT_LOG_ID } from './rebuilt-log-id.ts';

/** Where events are that are not flushed: in a table in memory, by its name, or in the file of a journal. */
export type GrowingSource = { readonly table: string } | { readonly path: string };

const REBUILT: Readonly<Partial<Record<EventColumnName, string>>> = {
  logId: REBUILT_LOG_ID,
  url: '"urlHead" || "urlTail"',
};

/** The blob pointer of an unflushed event is its sequence with a minus. */
const GROWING = { ...REBUILT, logPlace: '-"seq"' };

function selected(computed: Readonly<Partial<Record<EventColumnName, string>>>): SqlFragment {
  return trusted(
    EVENT_COLUMNS.map(({ name }) => (computed[name] === undefined ? `"${name}"` : `${computed[name]} AS "${name}"`)).join(', '),
  );
}

/**
 * The events of growing sources and segments as one relation to select {@link EVENT_COLUMNS} from. `endSequence` hides what memtables
 * received later. `cachedTables` are names of tables with rows of segments.
 */
export function eventsRelation(
  growing: readonly GrowingSource[],
  segmentPaths: readonly string[],
  endSequence: bigint,
  cachedTables: readonly string[] = [],
): SqlFragment {
  return relation(growing, segmentPaths, endSequence, cachedTables, { growing: '', flushed: '', table: () => '' });
}

/**
 * The same with a further column `file`: the path of the segment, or the name of the cached table, that an event is in, NULL for those that
 * are unflushed.
 */
export function eventsByFile(
  growing: readonly GrowingSource[],
  segmentPaths: readonly string[],
  endSequence: bigint,
  cachedTables: readonly string[],
): SqlFragment {
  return relation(growing, segmentPaths, endSequence, cachedTables, {
    growing: ', NULL::VARCHAR AS file',
    flushed: ', filename AS file',
    table: (name) => `, '${name}' AS file`,
  });
}

function relation(
  growing: readonly GrowingSource[],
  segmentPaths: readonly string[],
  endSequence: bigint,
  cachedTables: readonly string[],
  further: { readonly growing: string; readonly flushed: string; readonly table: (name: string) => string },
): SqlFragment {
  const unflushedEvents = growingRelations(growing, endSequence).map(
    (rows) => sql`SELECT ${selected(GROWING)}${trusted(further.growing)} FROM ${rows}`,
  );
  const flushed =
    segmentPaths.length === 0
      ? []
      : [sql`SELECT ${selected(REBUILT)}${trusted(further.flushed)} FROM read_parquet(${textList(segmentPaths)})`];
  const inTables = cachedTables.map((name) => sql`SELECT ${selected(REBUILT)}${trusted(further.table(name))} FROM ${trusted(name)}`);
  const parts = [...unflushedEvents, ...inTables, ...flushed];
  if (parts.length === 0) {
    const nothing = EVENT_COLUMNS.map(({ name, duckdbType }) => `NULL::${duckdbType} AS "${name}"`).join(', ');
    return trusted(`(SELECT ${nothing}${further.growing} WHERE false) AS events`);
  }
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** Their rows, with `JOURNAL_COLUMNS`: of each table, and of all files. */
function growingRelations(growing: readonly GrowingSource[], endSequence: bigint): SqlFragment[] {
  const tables = growing.flatMap((source) => ('table' in source ? [source.table] : []));
  const paths = growing.flatMap((source) => ('path' in source ? [source.path] : []));
  return [
    // A table goes on to receive events, a file never changes.
    ...tables.map((table) => sql`${trusted(table)} WHERE ${column('seq')} < ${int64(endSequence)}`),
    ...(paths.length === 0 ? [] : [sql`read_parquet(${textList(paths)})`]),
  ];
}

/** The rows of growing sources and segments as they are in journals. There is at least one of them. */
export function journalRows(growing: readonly GrowingSource[], segmentPaths: readonly string[], endSequence: bigint): SqlFragment {
  const flushed = segmentPaths.length === 0 ? [] : [sql`read_parquet(${textList(segmentPaths)})`];
  const parts = [...growingRelations(growing, endSequence), ...flushed].map(
    (rows) => sql`SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${rows}`,
  );
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
export function flushedEvents(rows: SqlFragment): SqlFragment {
  return sql`SELECT ${selected(REBUILT)} FROM ${rows}`;
}

/** The rows of segments as they are, to be written into others. */
export function segmentRows(segmentPaths: readonly string[]): SqlFragment {
  return sql`(SELECT ${columnList(SEGMENT_COLUMNS)} FROM read_parquet(${textList(segmentPaths)})) AS events`;
}
