import { statSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SEGMENT_COLUMNS } from '../../../../sql/columns.ts';
import { type ZoneLease, ZoneRowCache } from '../../../../store/embedded/cache/zone-row-cache.ts';
import { type ZoneRowCacheLimits, zoneRowCacheLimits } from '../../../../store/embedded/cache/zone-row-cache-limits.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { IdleGate } from '../../../../store/embedded/runtime/idle-gate.ts';
import { SearchActivity } from '../../../../store/embedded/runtime/search-activity.ts';
import type { Segment } from '../../../../store/embedded/segment/segment.ts';
import { VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { type StoreLogger, silentLogger } from '../../../../store/store-logger.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from '../duckdb/path-aliases-under-test.ts';

const EVER = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

/** A zone row cache over segments of the test's own, without the rest of a store. The clock stands still until the test moves it. */
export async function zoneRowCacheUnderTest(limits: Partial<ZoneRowCacheLimits> = {}, logger: StoreLogger = silentLogger) {
  const folder = temporaryFolder();
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: join(folder, 'spill'), threads: 1 });
  onTestFinished(() => engine.closeSync());
  const [connection, looking] = await Promise.all([engine.connect(), engine.connect()]);
  const versions = new VersionSet({ segments: [], blobFiles: [] }, 1n, () => {});
  const clock = { nowMs: 1_000_000 };
  const all = { ...zoneRowCacheLimits(256), ...limits };
  const searches = new SearchActivity();
  const gate = new IdleGate({ searches, idleMs: 1 });
  const tables = new ZoneRowCache({
    versions,
    aliases: pathAliases(folder),
    connection,
    gate,
    limits: all,
    now: () => clock.nowMs,
    logger,
  });
  let segments = 0;

  const rowsIn = async (sql: string): Promise<unknown[][]> => (await looking.runAndReadAll(sql)).getRows();
  return {
    tables,
    versions,
    searches,
    clock,
    folder,
    rowsIn,
    /** A live segment with so many rows of each zone, a millisecond apart; its file is there already. */
    addSegment: async (zones: Readonly<Record<number, number>>, firstTime = 1_000): Promise<Segment> => {
      segments += 1;
      const file = `${segments}.parquet`;
      const zoneRows = new Map(Object.entries(zones).map(([zone, rows]) => [Number(zone), rows]));
      const given: Readonly<Record<string, string>> = {
        seq: 'i',
        shieldZoneId: 'zone',
        timestamp: `${firstTime} + i`,
        logIdText: `'s${segments}-' || i`,
      };
      const columns = SEGMENT_COLUMNS.map(({ name, duckdbType }) => `(${given[name] ?? 'NULL'})::${duckdbType} AS "${name}"`);
      const counted = [...zoneRows].map(([zone, rows]) => `SELECT ${zone} AS zone, i FROM range(${rows}) AS r(i)`);
      await rowsIn(`COPY (SELECT ${columns.join(', ')} FROM (${counted.join(' UNION ALL ')})) TO '${join(folder, file)}' (FORMAT parquet)`);
      const rows = [...zoneRows.values()].reduce((sum, count) => sum + count, 0);
      const times = { minTimestamp: firstTime, maxTimestamp: firstTime + Math.max(...zoneRows.values()) - 1 };
      const segment = {
        id: segments,
        file,
        rows,
        bytes: statSync(join(folder, file)).size,
        zoneRows,
        ...times,
        minSequence: 0n,
        maxSequence: 0n,
      };
      versions.exchange({ addSegments: [segment] });
      return segment;
    },
    /** What a search of the zone is lent, without giving it back. */
    acquire: (zoneId: number, window = EVER): ZoneLease | undefined => {
      const snapshot = versions.snapshot();
      const lease = tables.acquire({ zoneId, window }, snapshot);
      snapshot.release();
      return lease;
    },
    /** Searches the zone; whether from a table, and waits for what that sets going. */
    search: async (zoneId: number, window = EVER): Promise<boolean> => {
      const snapshot = versions.snapshot();
      const lease = tables.acquire({ zoneId, window }, snapshot);
      lease?.release();
      snapshot.release();
      await tables.idle();
      return lease !== undefined;
    },
    /** How many tables take memory, whoever still knows of them. */
    inMemory: async (): Promise<number> => {
      const [[count] = []] = await rowsIn(
        `SELECT count(*) FROM duckdb_databases() WHERE database_name LIKE 'cached\\_zone\\_%' ESCAPE '\\'`,
      );
      return Number(count);
    },
  };
}
