import type { DuckDBConnection } from '@duckdb/node-api';
import { lastSequencesStatement } from '../../../sql/feed-statements.ts';
import type { StoreLogger } from '../../store-logger.ts';
import { runStatement } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { Segment } from '../segment/segment.ts';

export interface SegmentReading {
  readonly connection: DuckDBConnection;
  readonly aliases: PathAliases;
  readonly logger: StoreLogger;
}

/**
 * The highest sequence that each zone has in the segments, by zone. They are about to be dropped, also where one cannot be read any more:
 * then its own highest stands for that of its zones, and a reader may be told of more than it missed.
 */
export async function lastSequencesIn(
  segments: readonly Segment[],
  { connection, aliases, logger }: SegmentReading,
): Promise<Map<number, bigint>> {
  const highest = new Map<number, bigint>();
  for (const segment of segments) {
    for (const [zone, sequence] of await lastSequences(segment)) {
      if (sequence > (highest.get(zone) ?? 0n)) {
        highest.set(zone, sequence);
      }
    }
  }
  return highest;

  async function lastSequences({ file, zoneRows, maxSequence }: Segment): Promise<(readonly [number, bigint])[]> {
    try {
      const rows = await aliases.withOriginalPaths(runStatement(connection, lastSequencesStatement(aliases.segmentAlias(file))));
      return rows.map(([zone, sequence]) => [Number(zone), sequence as bigint]);
    } catch (error) {
      logger.warn({ err: error, file }, 'an expired segment cannot be read; it is dropped all the same');
      return [...zoneRows.keys()].map((zone) => [zone, maxSequence]);
    }
  }
}
