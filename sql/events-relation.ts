import { column, columnList, EVENT_COLUMNS, type EventColumnName, JOURNAL_COLUMNS, rowsOfFiles, SEGMENT_COLUMNS } from './columns.ts';
import { int64, joinSql, type SqlFragment, sql, trusted } from './statement.ts';

/** A source of unflushed events: a table in memory, by its name, or the file of a journal. */
export type GrowingSource = { readonly table: string } | { readonly path: string };

/** Columns of an event that are computed from those of a file; `query/batch-columns.ts` says what the parts of an id hold. */
const REBUILT: Readonly<Partial<Record<EventColumnName, string>>> = {
  logId:
    'CASE WHEN "logIdBytes" IS NULL THEN "logIdText" WHEN "logIdText" IS NULL THEN lower(hex("logIdBytes")) ' +
    'ELSE hex("logIdBytes")::UUID::VARCHAR END',
  url: '"urlHead" || "urlTail"',
  zoneText: '"shieldZoneId"::VARCHAR',
};

/** The blob pointer of an unflushed event is its negative sequence. */
const GROWING = { ...REBUILT, logPlace: '-"seq"' };

function selected(computed: Readonly<Partial<Record<EventColumnName, string>>>): SqlFragment {
  return trusted(
    EVENT_COLUMNS.map(({ name }) => (computed[name] === undefined ? `"${name}"` : `${computed[name]} AS "${name}"`)).join(', '),
  );
}

/**
 * The events of growing sources and segments as one relation with {@link EVENT_COLUMNS}. `endSequence` hides events that memtables received
 * later. DuckDB reads only those columns of the files that the statement around it names.
 */
export function eventsRelation(growing: readonly GrowingSource[], segmentPaths: readonly string[], endSequence: bigint): SqlFragment {
  return relation(growing, segmentPaths, endSequence, { growing: '', flushed: '' });
}

/** The same with a further column `file`: the path of the event's segment, NULL for unflushed events. */
export function eventsByFile(growing: readonly GrowingSource[], segmentPaths: readonly string[], endSequence: bigint): SqlFragment {
  return relation(growing, segmentPaths, endSequence, { growing: ', NULL::VARCHAR AS file', flushed: ', filename AS file' });
}

function relation(
  growing: readonly GrowingSource[],
  segmentPaths: readonly string[],
  endSequence: bigint,
  further: { readonly growing: string; readonly flushed: string },
): SqlFragment {
  const unflushedEvents = growingRelations(growing, endSequence).map(
    (rows) => sql`SELECT ${selected(GROWING)}${trusted(further.growing)} FROM ${rows}`,
  );
  const flushed =
    segmentPaths.length === 0 ? [] : [sql`SELECT ${selected(REBUILT)}${trusted(further.flushed)} FROM ${rowsOfFiles(segmentPaths)}`];
  const parts = [...unflushedEvents, ...flushed];
  if (parts.length === 0) {
    const nothing = EVENT_COLUMNS.map(({ name, duckdbType }) => `NULL::${duckdbType} AS "${name}"`).join(', ');
    return trusted(`(SELECT ${nothing}${further.growing} WHERE false) AS events`);
  }
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** The rows of growing sources, with `JOURNAL_COLUMNS`: a relation for each table and one for all files. */
function growingRelations(growing: readonly GrowingSource[], endSequence: bigint): SqlFragment[] {
  const tables = growing.flatMap((source) => ('table' in source ? [source.table] : []));
  const paths = growing.flatMap((source) => ('path' in source ? [source.path] : []));
  return [
    // A table still receives events, a file does not change.
    ...tables.map((table) => sql`${trusted(table)} WHERE ${column('seq')} < ${int64(endSequence)}`),
    ...(paths.length === 0 ? [] : [rowsOfFiles(paths)]),
  ];
}

/** The rows of growing sources and segments, at least one, with the columns of journals. */
export function journalRows(growing: readonly GrowingSource[], segmentPaths: readonly string[], endSequence: bigint): SqlFragment {
  const flushed = segmentPaths.length === 0 ? [] : [rowsOfFiles(segmentPaths)];
  const parts = [...growingRelations(growing, endSequence), ...flushed].map(
    (rows) => sql`SELECT ${columnList(JOURNAL_COLUMNS)} FROM ${rows}`,
  );
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** The events before a time, Unix milliseconds. */
export function eventsBefore(events: SqlFragment, beforeMs: number): SqlFragment {
  return sql`(SELECT * FROM ${events} WHERE ${column('timestamp')} < ${int64(beforeMs)}) AS events`;
}

/** The events from a sequence on. */
export function eventsFrom(events: SqlFragment, sequence: bigint): SqlFragment {
  return sql`(SELECT * FROM ${events} WHERE ${column('seq')} >= ${int64(sequence)}) AS events`;
}

/** The events of several relations. */
export function allEvents(relations: readonly SqlFragment[]): SqlFragment {
  const parts = relations.map((events) => sql`SELECT * FROM ${events}`);
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** The rows of segments with all their columns. */
export function segmentRows(segmentPaths: readonly string[]): SqlFragment {
  return sql`(SELECT ${columnList(SEGMENT_COLUMNS)} FROM ${rowsOfFiles(segmentPaths)}) AS events`;
}
