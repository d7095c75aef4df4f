import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { runMerge } from '../../../../store/embedded/compaction/compaction.ts';
import { writeMerged } from '../../../../store/embedded/compaction/merged-segments.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { HOUR_MS } from '../../../../store/embedded/segment/segment-plan.ts';
import { type Retired, VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from '../duckdb/path-aliases-under-test.ts';
import { eventSeries, NOW } from '../stored-events.ts';

/** Two published segments of one hour, and the parts of a store that a merge needs, without a store around them. */
async function twoSegments() {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
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
  const retired: Retired[] = [];
  const versions = new VersionSet({ segments, blobFiles: catalog.blobFiles() }, 21n, (part) => retired.push(part));
  const segmentsFolder = join(dataDir, 'segments');
  const merge = { partition: Math.floor(NOW / HOUR_MS), partitionMs: HOUR_MS, segments };
  const options = { aliases: pathAliases(segmentsFolder), catalog, versions, now: () => NOW };
  const run = () => runMerge(merge, (order) => writeMerged(order, connection), options);
  return {
    catalog,
    versions,
    segments,
    retired,
    run,
    files: () =>
      readdirSync(segmentsFolder)
        .filter((name) => !name.endsWith('-log.parquet'))
        .sort(),
  };
}

const FILE = `c1-${NOW.toString(36)}-0.parquet`;

test('a merge publishes its segments under its name, leaves blob files alone and lets go of what was merged', async () => {
  const { catalog, versions, segments, retired, run, files } = await twoSegments();
  await run();
  expect(catalog.segments()).toMatchObject([{ file: FILE, rows: 20, minSequence: 1n, maxSequence: 20n }]);
  expect(versions.segments).toEqual(catalog.segments());
  expect(retired.flatMap((part) => part.files)).toEqual(segments);
  expect(versions.blobFiles).toHaveLength(2);
  expect(files()).toEqual([...segments.map(({ file }) => file), FILE].sort());
});

test('a merge that cannot be published leaves everything as it was, files included', async () => {
  const { catalog, versions, segments, retired, run, files } = await twoSegments();
  const [first] = segments;
  expect(first).toBeDefined();
  catalog.apply({ add: first === undefined ? [] : [{ ...first, file: FILE }], remove: [] });
  const [publishedBefore, filesBefore] = [catalog.segments(), files()];
  await expect(run()).rejects.toThrow('UNIQUE constraint failed: segments.file');
  expect(catalog.segments()).toEqual(publishedBefore);
  expect(versions.segments).toEqual(segments);
  expect(retired).toEqual([]);
  expect(files()).toEqual(filesBefore);
});
