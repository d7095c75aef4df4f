import { footerStatement } from '../../../sql/segment-statements.ts';
import type { StoreLogger } from '../../event-store.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import type { VersionSet } from './version-set.ts';

export interface FooterReading {
  readonly versions: VersionSet;
  readonly aliases: PathAliases;
  readonly checks: Pick<SegmentChecks, 'check'>;
  /** Connections by which DuckDB remembers the footers that it reads. */
  readonly connections: ConnectionPool;
  /** What the footers may take of the memory of DuckDB, in MiB. */
  readonly shareMb: number;
  readonly logger: StoreLogger;
}

/** The most that a footer takes, in MiB. Searches read those of older segments. */
const MB_OF_A_FOOTER = 0.5;

/**
 * Has DuckDB read the footers of the newest segments at a start: the first search of a segment would take 1.5 ms of CPU longer. A segment
 * that cannot be read is logged, and left to the search that needs it.
 */
export async function readFooters({ versions, aliases, checks, connections, shareMb, logger }: FooterReading): Promise<void> {
  using snapshot = versions.snapshot();
  const most = Math.floor(shareMb / MB_OF_A_FOOTER);
  using held = await connections.acquire();
  for (const segment of snapshot.segments.toSorted((a, b) => b.maxTimestamp - a.maxTimestamp).slice(0, most)) {
    try {
      for (const whole of await checks.check([segment], [])) {
        await held.runner.run(footerStatement(aliases.segmentAlias(whole)));
      }
    } catch (error) {
      logger.warn({ err: error, segment: segment.file }, 'the footer of a segment cannot be read; searches of its events will fail');
    }
  }
}
