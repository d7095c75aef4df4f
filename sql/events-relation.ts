import { CANONICAL_COLUMNS, column, columnList, EVENT_COLUMNS, HOT_COLUMNS, SEGMENT_COLUMNS } from './columns.ts';
import { int64, joinSql, type SqlFragment, sql, textList, trusted } from './fragment.ts';

/** A table in memory that events are searched in. */
export interface HotSource {
  readonly name: string;
  /** The sequence of the first row of a table as it was read from a journal; null for one whose rows have a `seq`. */
  readonly firstSequence: bigint | null;
}

const NO_LOG_PLACE = trusted('NULL::BIGINT AS "bundle", NULL::INTEGER AS "place"');
const NO_LOG = EVENT_COLUMNS.map(({ name }) => (name === 'log' ? 'NULL::JSON AS "log"' : `"${name}"`)).join(', ');

/** The events of hot tables and segments as one relation to select {@link EVENT_COLUMNS} from. `endSequence` hides what hot tables received later. */
export function eventsRelation(hotTables: readonly HotSource[], segmentPaths: readonly string[], endSequence: bigint): SqlFragment {
  const hot = hotTables.map(({ name, firstSequence }) =>
    firstSequence === null
      ? sql`SELECT ${columnList(HOT_COLUMNS)}, ${NO_LOG_PLACE} FROM ${trusted(name)} WHERE ${column('seq')} < ${int64(endSequence)}`
      : sql`SELECT ${int64(firstSequence)} + rowid AS ${column('seq')}, ${columnList(CANONICAL_COLUMNS)}, ${NO_LOG_PLACE} FROM ${trusted(name)} WHERE ${column('shieldZoneId')} IS NOT NULL`,
  );
  const sealed = segmentPaths.length === 0 ? [] : [sql`SELECT ${trusted(NO_LOG)} FROM read_parquet(${textList(segmentPaths)})`];
  const parts = [...hot, ...sealed];
  if (parts.length === 0) {
    const nothing = EVENT_COLUMNS.map(({ name, duckdbType }) => `NULL::${duckdbType} AS "${name}"`).join(', ');
    return trusted(`(SELECT ${nothing} WHERE false) AS events`);
  }
  return sql`(${joinSql(parts, ' UNION ALL ')}) AS events`;
}

/** The rows of segments as they are, to be written into others. */
export function segmentRows(segmentPaths: readonly string[]): SqlFragment {
  return sql`(SELECT ${columnList(SEGMENT_COLUMNS)} FROM read_parquet(${textList(segmentPaths)})) AS events`;
}
