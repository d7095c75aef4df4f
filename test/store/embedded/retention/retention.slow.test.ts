import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { ExpiredWatermarks } from '../../../../store/embedded/catalog/expired-watermarks.ts';
import { dropExpiredSegments, type RetentionOptions } from '../../../../store/embedded/retention/retention.ts';
import type { BlobFile } from '../../../../store/embedded/segment/blob-file.ts';
import type { UnpublishedSegment } from '../../../../store/embedded/segment/segment.ts';
import { type Part, VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { RetentionHold } from '../../../../store/retention-hold.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { RETENTION_MS, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, NOW, storedIds } from '../stored-events.ts';

function segmentUpTo(maxTimestamp: number, sequence = 1n): UnpublishedSegment {
  const zoneRows = new Map([[7, 1]]);
  const extent = { minTimestamp: 0, maxTimestamp, minSequence: sequence, maxSequence: sequence };
  return { file: `${maxTimestamp}-${sequence}.parquet`, rows: 1, bytes: 1, ...extent, zoneRows };
}

function blobFileOf(number: number, minSequence: bigint, maxSequence: bigint): BlobFile {
  return {
    number,
    file: `${number}-log.parquet`,
    rows: 1,
    bytes: 1,
    minSequence,
    maxSequence,
    textBytes: 1,
    ingestTimes: new Uint8Array(),
  };
}

/** The segments of these tests have no files, so the sequences are given. */
function retentionOf(catalog: Catalog, versions: VersionSet): RetentionOptions {
  const lastSequences = () => Promise.resolve(new Map([[7, 1n]]));
  const hold = new RetentionHold({ what: 'events', waitMs: HOUR, elapsedMs: () => 0, logger: silentLogger });
  return { catalog, versions, expiredWatermarks: new ExpiredWatermarks(), lastSequences, retentionMs: RETENTION_MS, hold };
}

test('a segment goes when its newest event is two minutes past the retention, and its file when nobody reads it', async () => {
  const catalog = new Catalog(join(temporaryFolder(), 'catalog.sqlite'));
  const edge = NOW - RETENTION_MS - 120_000;
  const segments = catalog.apply({ add: [segmentUpTo(edge - 1), segmentUpTo(edge)], remove: [] });
  const retired: Part[] = [];
  const versions = new VersionSet({ segments, blobFiles: [] }, 2n, (part) => retired.push(part));
  const reader = versions.snapshot();
  expect(await dropExpiredSegments(retentionOf(catalog, versions), NOW, 'caller')).toBe(1);
  expect(versions.segments.map(({ maxTimestamp }) => maxTimestamp)).toEqual([edge]);
  expect(catalog.segments().map(({ maxTimestamp }) => maxTimestamp)).toEqual([edge]);
  expect(reader.segments).toHaveLength(2);
  expect(retired).toEqual([]);
  reader[Symbol.dispose]();
  reader[Symbol.dispose]();
  expect(retired).toEqual([segments[0]]);
  catalog.close();
});

test('a blob file goes with the last segment that can need it, and its file when nobody reads it', async () => {
  const catalog = new Catalog(join(temporaryFolder(), 'catalog.sqlite'));
  const old = NOW - RETENTION_MS - 3 * HOUR;
  const blobFiles = [blobFileOf(1, 1n, 10n), blobFileOf(2, 11n, 20n), blobFileOf(3, 21n, 30n)];
  for (const addBlobFile of blobFiles) {
    catalog.apply({ add: [], remove: [], addBlobFile });
  }
  const segments = catalog.apply({ add: [segmentUpTo(old, 10n), segmentUpTo(NOW, 11n), segmentUpTo(old, 20n)], remove: [] });
  const retired: Part[] = [];
  const versions = new VersionSet({ segments, blobFiles: catalog.blobFiles() }, 31n, (part) => retired.push(part));
  const reader = versions.snapshot();
  expect(await dropExpiredSegments(retentionOf(catalog, versions), NOW, 'caller')).toBe(2);
  expect(versions.blobFiles).toEqual([blobFiles[1]]);
  expect(catalog.blobFiles()).toEqual([blobFiles[1]]);
  expect(reader.blobFiles).toEqual(blobFiles);
  expect(retired).toEqual([]);
  reader[Symbol.dispose]();
  expect(retired).toEqual([segments[0], segments[2], blobFiles[0], blobFiles[2]]);
  catalog.close();
});

test('a segment that is merged while its sequences are read expires with the merged one', async () => {
  const catalog = new Catalog(join(temporaryFolder(), 'catalog.sqlite'));
  const old = NOW - RETENTION_MS - 3 * HOUR;
  const segments = catalog.apply({ add: [segmentUpTo(old, 1n), segmentUpTo(old, 2n)], remove: [] });
  const versions = new VersionSet({ segments, blobFiles: [] }, 3n, () => undefined);
  const read: number[] = [];
  const lastSequences = async (asked: readonly { readonly id: number }[]) => {
    read.push(asked.length);
    if (read.length === 1) {
      const merged = catalog.apply({ add: [segmentUpTo(old + 1, 1n)], remove: segments });
      versions.exchange({ addSegments: merged, removeSegments: segments });
    }
    return new Map([[7, 2n]]);
  };
  const retention = { ...retentionOf(catalog, versions), lastSequences };
  expect(await dropExpiredSegments(retention, NOW, 'caller')).toBe(1);
  expect(read).toEqual([2, 1]);
  expect(versions.segments).toEqual([]);
  expect(catalog.segments()).toEqual([]);
  expect(retention.expiredWatermarks.sweeps).toBe(1);
  catalog.close();
});

test('the store drops expired segments by itself', async () => {
  const dataDir = temporaryFolder();
  let now = NOW;
  const store = await embeddedStoreIn(dataDir, { now: () => now, backgroundJobsEveryMs: 50, retentionHoldMs: 0 });
  await store.append(canonicalBatch([...eventSeries('old', 10, NOW - 70 * HOUR, 1), event('young', NOW)]));
  await store.flushNow();
  expect(await store.stats()).toMatchObject({ events: 11, segments: 2 });
  now = NOW + 3 * HOUR;
  await expect.poll(() => store.stats()).toMatchObject({ events: 1, segments: 1 });
  // The logs of all of them are in one blob file.
  await expect.poll(() => readdirSync(join(dataDir, 'segments'))).toHaveLength(2);
  now = NOW + 76 * HOUR;
  await expect.poll(() => readdirSync(join(dataDir, 'segments'))).toEqual([]);
  expect(await store.stats()).toMatchObject({ events: 0, segments: 0, segmentBytes: 0 });
});

describe('more than half of the events', () => {
  /** Nine events that are past the retention three hours from now, and one that is not, in segments. */
  async function mostlyOld(dataDir: string) {
    const store = await embeddedStoreIn(dataDir);
    await store.append(canonicalBatch([...eventSeries('old', 9, NOW - 70 * HOUR, 1), event('young', NOW)]));
    await store.flushNow();
    await store.close();
  }

  test('are kept under a clock that is days ahead, which is told, and are there when it is right again', async () => {
    const dataDir = temporaryFolder();
    await mostlyOld(dataDir);
    const ahead = await embeddedStoreIn(dataDir, { now: () => NOW + 96 * HOUR, backgroundJobsEveryMs: 20 });
    await expect
      .poll(() => ahead.notes())
      .toEqual([
        `10 of 10 events are past the retention by this machine's clock; they are kept for 60 minutes, in case the clock is wrong`,
      ]);
    expect(await ahead.stats()).toMatchObject({ events: 10, segments: 2 });
    await ahead.close();
    const again = await embeddedStoreIn(dataDir, { backgroundJobsEveryMs: 20 });
    expect(again.notes()).toEqual([]);
    expect(await storedIds(again)).toHaveLength(10);
  });

  test('are dropped where somebody asks for it', async () => {
    const dataDir = temporaryFolder();
    await mostlyOld(dataDir);
    const store = await embeddedStoreIn(dataDir, { now: () => NOW + 3 * HOUR });
    expect(await store.stats()).toMatchObject({ events: 10 });
    await store.dropExpiredNow();
    expect(await store.stats()).toMatchObject({ events: 1 });
  });
});

test('most of the events are dropped once they have been past the retention for an hour on end, by a clock that nobody sets', () => {
  let elapsedMs = 5_000;
  const hold = new RetentionHold({ what: 'events', waitMs: HOUR, elapsedMs: () => elapsedMs, logger: silentLogger });
  expect(hold.keeps(5, 10)).toBe(false);
  expect(hold.keeps(6, 10)).toBe(true);
  elapsedMs += HOUR - 1;
  expect(hold.keeps(7, 10)).toBe(true);
  expect(hold.reason).toMatch(/^6 of 10 events/);
  // New events of senders with the same clock end no wait; a clock that was put right does.
  expect(hold.keeps(7, 1_000)).toBe(true);
  expect(hold.keeps(0, 1_000)).toBe(false);
  expect(hold.reason).toBeUndefined();
  elapsedMs += 1;
  expect(hold.keeps(10, 10)).toBe(true);
  elapsedMs += HOUR;
  expect(hold.keeps(10, 10)).toBe(false);
  expect(hold.reason).toBeUndefined();
});
