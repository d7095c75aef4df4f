import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Catalog } from '../../store/catalog.ts';
import { LiveSet, type Retired } from '../../store/live-set.ts';
import { dropExpiredSegments } from '../../store/retention.ts';
import type { UnpublishedSegment } from '../../store/segment.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { event, eventSeries, HOUR, NOW } from './stored-events.ts';

function segmentUpTo(maxTimestamp: number): UnpublishedSegment {
  const zoneRows = new Map([[7, 1]]);
  return { file: `${maxTimestamp}.parquet`, rows: 1, bytes: 1, minTimestamp: 0, maxTimestamp, minSequence: 1n, maxSequence: 1n, zoneRows };
}

test('a segment goes when its newest event is two minutes past the retention, and its file when nobody reads it', () => {
  const catalog = new Catalog(join(temporaryFolder(), 'catalog.sqlite'));
  const edge = NOW - RETENTION_MS - 120_000;
  const segments = catalog.apply({ add: [segmentUpTo(edge - 1), segmentUpTo(edge)], remove: [] });
  const retired: Retired[] = [];
  const live = new LiveSet(segments, 2n, (part) => retired.push(part));
  const reader = live.snapshot();
  expect(dropExpiredSegments(catalog, live, NOW, RETENTION_MS)).toBe(1);
  expect(live.segments.map(({ maxTimestamp }) => maxTimestamp)).toEqual([edge]);
  expect(catalog.segments().map(({ maxTimestamp }) => maxTimestamp)).toEqual([edge]);
  expect(reader.segments).toHaveLength(2);
  expect(retired).toEqual([]);
  reader.release();
  reader.release();
  expect(retired.flatMap((part) => part.segments.map(({ maxTimestamp }) => maxTimestamp))).toEqual([edge - 1]);
  catalog.close();
});

test('the store drops expired segments by itself', async () => {
  const dataDir = temporaryFolder();
  let now = NOW;
  const store = await storeIn(dataDir, { now: () => now });
  await store.append(canonicalBatch([...eventSeries('old', 10, NOW - 70 * HOUR, 1), event('young', NOW)]));
  await store.sealNow();
  expect(store.stats()).toMatchObject({ events: 11, segments: 2 });
  now = NOW + 3 * HOUR;
  await expect.poll(() => store.stats(), { timeout: 20_000 }).toMatchObject({ events: 1, segments: 1 });
  await expect.poll(() => readdirSync(join(dataDir, 'segments'))).toHaveLength(1);
});
