import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FailedMerges } from '../../../../store/embedded/compaction/failed-merges.ts';
import type { Segment } from '../../../../store/embedded/segment/segment.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { eventSeries, HOUR, NOW, storedIds } from '../stored-events.ts';

const SECOND = 1_000;

function segment(id: number): Segment {
  const extent = { minTimestamp: NOW, maxTimestamp: NOW, minSequence: 1n, maxSequence: 1n };
  return { id, file: `${id}.parquet`, rows: 1, bytes: 1, zoneRows: new Map([[7, 1]]), ...extent };
}

test('segments whose merge failed are left alone, twice as long after each failure, up to an hour', () => {
  const failed = new FailedMerges();
  const [one, two, other] = [segment(1), segment(2), segment(3)];
  let nowMs = NOW;
  const waits = [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600].map((seconds) => seconds * SECOND);
  for (const waitMs of waits) {
    expect(failed.add([one, two], nowMs)).toBe(waitMs);
    expect(failed.mergeable([one, other, two], nowMs + waitMs - 1)).toEqual([other]);
    nowMs += waitMs;
    expect(failed.mergeable([one, other, two], nowMs)).toEqual([one, other, two]);
  }
  expect(failed.add([other, segment(4)], nowMs)).toBe(10 * SECOND);
});

test('a segment that is damaged is left out of merges, and of the store until it is whole again', async () => {
  const folder = temporaryFolder();
  const old = await embeddedStoreIn(folder);
  const series = [30, 15].flatMap((hours) => [0, 1].map((part) => eventSeries(`${hours}-${part}-`, 10, NOW - hours * HOUR, 1)));
  for (const events of series) {
    await old.append(canonicalBatch(events));
    await old.flushNow();
  }
  await old.close();
  const [name = ''] = readdirSync(join(folder, 'segments'))
    .filter((file) => !file.includes('log'))
    .toSorted();
  const file = join(folder, 'segments', name);
  const bytes = readFileSync(file);
  writeFileSync(file, Buffer.from(bytes).fill(0xff, 4, bytes.length >> 1));

  const errors: object[] = [];
  const logger = { ...silentLogger, error: (details: object) => void errors.push(details) };
  const store = await embeddedStoreIn(folder, { backgroundJobsEveryMs: 20, logger });
  await expect.poll(async () => (await store.stats()).segments).toBe(series.length - 2);
  expect(errors).toEqual([expect.objectContaining({ segment: file, events: 10 })]);
  expect(await store.stats()).toMatchObject({ unreadableEvents: 10 });
  await store.close();

  writeFileSync(file, bytes);
  const mended = await embeddedStoreIn(folder, { backgroundJobsEveryMs: 20 });
  await expect.poll(async () => (await mended.stats()).segments).toBe(series.length - 2);
  expect((await storedIds(mended)).toSorted()).toEqual(series.flatMap((events) => events.map(({ logId }) => logId)).toSorted());
});

test('where there is too little memory for a merge, smaller ones are made of its segments', async () => {
  const store = await embeddedStoreIn(temporaryFolder(), { memoryLimitMb: 32 });
  const parts = Array.from({ length: 48 }, (_, part) => eventSeries(`${part}-`, 3_000, NOW - 30 * HOUR, 1));
  for (const events of parts) {
    await store.append(canonicalBatch(events));
    await store.flushNow();
  }
  await store.compactNow();
  const { segments, events } = await store.stats();
  expect(segments).toBeLessThan(parts.length / 2);
  expect(events).toBe(parts.length * 3_000);
  await store.close();
});
