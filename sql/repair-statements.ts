import { column, columnList, LOG_ROW_BITS, rowsOfFiles, SEGMENT_COLUMNS } from './columns.ts';
import { duckdbStatement } from './dialect.ts';
import { int64, joinSql, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** Statements that find out what segments hold which no catalog describes. The store makes up the paths. */

/** Reads every value of a segment. Column: the number of its rows. */
export function wholeSegmentStatement(path: string): SqlStatement {
  return duckdbStatement(sql`SELECT count(hash(${columnList(SEGMENT_COLUMNS)})) FROM ${rowsOfFiles([path])}`);
}

/** Columns, for each blob file to which events of a segment point: its number, their first and last sequence, and the last row. */
export function blobFilesOfStatement(path: string): SqlStatement {
  const [pointer, sequence] = [column('logPlace'), column('seq')];
  const rowMask = int64((1n << BigInt(LOG_ROW_BITS)) - 1n);
  return duckdbStatement(
    sql`SELECT ${pointer} >> ${int64(LOG_ROW_BITS)} AS number, min(${sequence}), max(${sequence}), max(${pointer} & ${rowMask})
      FROM ${rowsOfFiles([path])} GROUP BY number ORDER BY number`,
  );
}

/** An event as it is in two files of which one was written from the other. */
const EVENT = trusted(
  `"seq", hash(${(['shieldZoneId', 'timestamp', 'logIdBytes', 'logIdText'] as const).map((name) => `"${name}"`).join(', ')}) AS event`,
);

/** The events that several segments hold. Columns: the indexes of these segments in the list, ascending, and the number of the events. */
export function sharedEventsStatement(paths: readonly string[]): SqlStatement {
  const all = paths.map((path, index): SqlFragment => sql`SELECT ${int64(index)} AS file, ${EVENT} FROM ${rowsOfFiles([path])}`);
  return duckdbStatement(
    sql`SELECT files, count(*) FROM
      (SELECT list_sort(list(DISTINCT file)) AS files FROM (${joinSql(all, ' UNION ALL ')}) AS events
        GROUP BY ${column('seq')}, event HAVING count(DISTINCT file) > 1) AS shared
      GROUP BY files ORDER BY files`,
  );
}

/** How many sequences between two, both included, segments hold. Columns: the sequence as a double, ascending. */
export function sequencesInStatement(paths: readonly string[], first: bigint, last: bigint): SqlStatement {
  const sequence = column('seq');
  return duckdbStatement(
    sql`SELECT DISTINCT ${sequence}::DOUBLE AS number FROM ${rowsOfFiles(paths)}
      WHERE ${sequence} BETWEEN ${int64(first)} AND ${int64(last)} ORDER BY number`,
  );
}
