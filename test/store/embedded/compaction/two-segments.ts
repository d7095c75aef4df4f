import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { HOUR_MS } from '../../../../query/durations.ts';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { runMerge, type WriteMerge, writeMerged } from '../../../../store/embedded/compaction/merge.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { type Part, VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from '../duckdb/path-aliases-under-test.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { segmentChecks } from '../integrity/segment-checks-under-test.ts';
import { eventSeries, NOW } from '../stored-events.ts';

/** Two published segments of one hour, and the parts of a store that a merge needs, without a store around them. */
export async function twoSegments() {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  for (const prefix of ['a', 'b']) {
    await store.append(canonicalBatch(eventSeries(prefix, 10, NOW, 1)));
    await store.flushNow();
  }
  await store.close();
  const catalog = new Catalog(join(dataDir, 'catalog.sqlite'));
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: join(dataDir, 'spill') });
  const connection = await engine.connect();
  onTestFinished(() => {
    connection.closeSync();
    engine.closeSync();
    catalog.close();
  });
  const segments = catalog.segments();
  const retired: Part[] = [];
  const versions = new VersionSet({ segments, blobFiles: catalog.blobFiles() }, 21n, (part) => retired.push(part));
  const segmentsFolder = join(dataDir, 'segments');
  const merge = { partition: Math.floor(NOW / HOUR_MS), partitionMs: HOUR_MS, segments };
  const checks = segmentChecks(segmentsFolder, versions);
  const options = { aliases: pathAliases(segmentsFolder), checks, catalog, versions, now: () => NOW };
  const write: WriteMerge = (order) => writeMerged(order, new StatementRunner(connection));
  const run = (writing = write) => runMerge(merge, writing, options);
  return {
    catalog,
    versions,
    segments,
    retired,
    options,
    write,
    run,
    files: () =>
      readdirSync(segmentsFolder)
        .filter((name) => !name.endsWith('-log.parquet'))
        .sort(),
  };
}
