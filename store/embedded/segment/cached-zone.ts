import type { DuckDBConnection } from '@duckdb/node-api';
import {
  attachZoneStatement,
  cachedZoneTable,
  compressZoneStatement,
  createZoneStatement,
  detachZoneStatement,
  fillZoneStatement,
  zoneTimesStatement,
} from '../../../sql/cached-zone-statements.ts';
import type { SqlStatement } from '../../../sql/statement.ts';
import { interruptible, runForNumbers, runStatement } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { Segment } from './segment.ts';

/**
 * All rows that one zone has in some segments, in memory. Like a segment it never changes, and searches count and locate its events as they
 * do those of a segment, but for those that want all events of a window: how many those are, and where they lie, is known without looking.
 */
export interface CachedZone {
  /** Below 0, so that it is none of a segment. */
  readonly id: number;
  /** Its name in SQL. */
  readonly table: string;
  readonly zoneRows: ReadonlyMap<number, number>;
  /** When the first and the last of its events happened. */
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
  /** When each event happened, newest first. */
  readonly times: Float64Array;
}

/** The segments that a zone is read from. */
export interface CachedZoneOrder {
  readonly id: number;
  readonly zoneId: number;
  /** At least one, all with rows of the zone. */
  readonly segments: readonly Segment[];
}

const databaseOf = (id: number) => `cached_zone_${-id}`;

/** What a zone is read with. */
export interface CachedZoneMeans {
  readonly aliases: PathAliases;
  readonly connection: DuckDBConnection;
  /** Is waited for before each step. */
  readonly moment: (signal: AbortSignal) => Promise<void>;
}

/**
 * Reads the rows, one segment after the other: a step takes some 5 to 10 ms. `signal` interrupts that. When this rejects, nothing is left
 * in memory.
 */
export async function loadZone(
  { id, zoneId, segments }: CachedZoneOrder,
  { aliases, connection, moment }: CachedZoneMeans,
  signal: AbortSignal,
): Promise<CachedZone> {
  const database = databaseOf(id);
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    await moment(signal);
    return await interruptible(connection, signal, work);
  };
  const run = (statement: SqlStatement) => step(() => runStatement(connection, statement));
  await run(attachZoneStatement(database));
  try {
    await run(createZoneStatement(database));
    for (const { file } of segments) {
      await run(fillZoneStatement(database, aliases.segmentAlias(file), zoneId));
    }
    await run(compressZoneStatement(database));
    const [times = new Float64Array()] = await step(() => runForNumbers(connection, zoneTimesStatement(database)));
    return {
      id,
      table: cachedZoneTable(database),
      zoneRows: new Map([[zoneId, times.length]]),
      minTimestamp: times.at(-1) as number,
      maxTimestamp: times[0] as number,
      times,
    };
  } catch (error) {
    await runStatement(connection, detachZoneStatement(database));
    throw error;
  }
}

/** Frees the memory of a table that nobody reads. */
export async function dropCachedZone({ id }: CachedZone, connection: DuckDBConnection): Promise<void> {
  await runStatement(connection, detachZoneStatement(databaseOf(id)));
}
