import { expect, test } from 'vitest';
import { NOW } from '../stored-events.ts';
import { twoSegments } from './two-segments.ts';

const FILE = `c1-${NOW.toString(36)}-0.parquet`;

test('a merge publishes its segments under its name, leaves blob files alone and lets go of what was merged', async () => {
  const { catalog, versions, segments, retired, run, files } = await twoSegments();
  expect(await run()).toBe(true);
  expect(catalog.segments()).toMatchObject([{ file: FILE, rows: 20, minSequence: 1n, maxSequence: 20n }]);
  expect(versions.segments).toEqual(catalog.segments());
  expect(retired).toEqual(segments);
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

test('a merge one of whose segments expires meanwhile publishes nothing and leaves no file', async () => {
  const { catalog, versions, segments, retired, run, write, files } = await twoSegments();
  const [first, second] = segments;
  const filesBefore = files();
  const published = await run(async (order) => {
    const written = await write(order);
    catalog.apply({ add: [], remove: segments.slice(0, 1) });
    versions.exchange({ removeSegments: segments.slice(0, 1) });
    // The merge still reads it.
    expect(retired).toEqual([]);
    return written;
  });
  expect(published).toBe(false);
  expect(catalog.segments()).toEqual([second]);
  expect(versions.segments).toEqual([second]);
  expect(retired).toEqual([first]);
  expect(files()).toEqual(filesBefore);
});
