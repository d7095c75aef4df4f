import { column, columnDefinitions, columnList, SEGMENT_COLUMNS } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int32, type SqlFragment, sql, textList, trusted } from './fragment.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/**
 * How the flushed rows of one zone get into memory. Each zone has a database of its own, because DuckDB compresses a table in memory only
 * when its database is checkpointed, and nothing else is written there that would have to wait for that. Names are the store's own.
 */

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

/** The table in a zone's database. */
export function cachedZoneTable(database: string): string {
  return `${database}.events`;
}

export function attachZoneStatement(database: string): SqlStatement {
  return render(trusted(`ATTACH ':memory:' AS ${database} (COMPRESS)`));
}

/** A table of rows as they are in segments, empty. */
export function createZoneStatement(database: string): SqlStatement {
  return render(sql`CREATE TABLE ${trusted(cachedZoneTable(database))} (${columnDefinitions(SEGMENT_COLUMNS)})`);
}

/** Adds the rows of the zone in a segment, in their order there, which compresses well. */
export function fillZoneStatement(database: string, segmentPath: string, zoneId: number): SqlStatement {
  return render(
    sql`INSERT INTO ${trusted(cachedZoneTable(database))} SELECT ${columnList(SEGMENT_COLUMNS)} FROM read_parquet(${textList([segmentPath])}) WHERE ${column('shieldZoneId')} = ${int32(zoneId)}`,
  );
}

/** A seventh of the memory, and read as fast. */
export function compressZoneStatement(database: string): SqlStatement {
  return render(trusted(`CHECKPOINT ${database}`));
}

/** When each event of the zone happened, newest first. Column: `time`, a double. */
export function zoneTimesStatement(database: string): SqlStatement {
  return render(sql`SELECT ${column('timestamp')}::DOUBLE AS time FROM ${trusted(cachedZoneTable(database))} ORDER BY time DESC`);
}

/** Frees all of it. */
export function detachZoneStatement(database: string): SqlStatement {
  return render(trusted(`DETACH DATABASE IF EXISTS ${database}`));
}
