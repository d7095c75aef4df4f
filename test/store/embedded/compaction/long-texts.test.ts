import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { largestVectors } from '../../../fixtures/largest-vectors.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW, storedIds } from '../stored-events.ts';

/** So many segments of some old events, of which `long` in each have a text of 64 KiB. */
async function compactedSegments(segments: number, long: number): Promise<{ readonly files: number; readonly largest: number }> {
  const folder = temporaryFolder();
  const store = await embeddedStoreIn(folder);
  for (let segment = 0; segment < segments; segment += 1) {
    const events = Array.from({ length: 20 }, (_, index) =>
      event(`${segment}-${index}`, NOW - 20 * HOUR + index, { ua: (index < long ? 'x' : '').repeat(65_536) }),
    );
    await store.append(canonicalBatch(events));
    await store.flushNow();
  }
  const before = await storedIds(store);
  // Twice, because what is left alone is not tried again.
  await store.compactNow();
  await store.compactNow();
  expect(await storedIds(store)).toEqual(before);
  const files = readdirSync(join(folder, 'segments')).filter((file) => !file.endsWith('-log.parquet'));
  return { files: files.length, largest: Math.max(...(await largestVectors(files.map((file) => join(folder, 'segments', file))))) };
}

test.each([
  ['without long texts are merged', 10, 0, 1],
  ['whose long texts fit into a vector together are merged', 10, 3, 1],
  ['whose long texts together do not fit are left alone', 10, 4, 10],
  ['of many long texts each are left alone', 4, 20, 4],
])('segments %s', async (_what, segments, long, files) => {
  const compacted = await compactedSegments(segments, long);
  expect(compacted.files).toBe(files);
  expect(compacted.largest).toBeLessThanOrEqual(2 * 1024 * 1024);
});
