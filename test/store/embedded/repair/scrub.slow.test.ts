import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { Scrub } from '../../../../store/embedded/repair/scrub.ts';
import type { Segment } from '../../../../store/embedded/segment/segment.ts';
import { VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { rowsOf } from '../../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { segmentChecks } from '../integrity/segment-checks-under-test.ts';
import { event, HOUR, NOW, rowsPlan, storedIds } from '../stored-events.ts';

const OFTEN = { backgroundJobsEveryMs: 10 };
const IDS = Array.from({ length: 50 }, (_, index) => `e${index}`);

async function filledFolder(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch(IDS.map((id, index) => event(id, NOW - index, { log: { line: `${id} of a log` } }))));
  await store.flushNow();
  await store.close();
  return dataDir;
}

function fileOf(dataDir: string, kind: 'segment' | 'blob file'): string {
  const folder = join(dataDir, 'segments');
  return join(folder, readdirSync(folder).find((name) => name.includes('-log') === (kind === 'blob file')) ?? '');
}

/** Returns what puts the file back. */
function flip(path: string, at: number): () => void {
  const content = readFileSync(path);
  const changed = Buffer.from(content);
  changed[at] = (changed[at] as number) ^ 1;
  writeFileSync(path, changed);
  return () => writeFileSync(path, content);
}

function columnOf(dataDir: string, select: string): unknown {
  const catalog = new DatabaseSync(join(dataDir, 'catalog.sqlite'), { readOnly: true });
  const [value] = Object.values(catalog.prepare(select).get() ?? {});
  catalog.close();
  return value;
}

const recorded = () => {
  const errors: object[] = [];
  return { errors, logger: { ...silentLogger, error: (details: object) => void errors.push(details) } };
};

test('a damaged segment that nobody reads is found, and is whole again after it was put back', async () => {
  const dataDir = await filledFolder();
  const putBack = flip(fileOf(dataDir, 'segment'), 900);
  const { errors, logger } = recorded();
  const store = await embeddedStoreIn(dataDir, { ...OFTEN, logger });
  await expect.poll(async () => (await store.stats()).unreadableEvents).toBe(50);
  expect(errors).toEqual([
    { segment: fileOf(dataDir, 'segment'), events: 50, fault: expect.stringMatching(/bytes from \d+ to \d+ are not/) },
  ]);
  await store.close();
  expect(columnOf(dataDir, 'SELECT damage FROM segments')).toMatch(/are not as they were written/);
  putBack();
  expect(await storedIds(await embeddedStoreIn(dataDir))).toEqual(IDS);
});

test.each([30, -40])('a damaged blob file that nobody reads is found, at byte %i, and is whole again after it was put back', async (at) => {
  const dataDir = await filledFolder();
  const path = fileOf(dataDir, 'blob file');
  const putBack = flip(path, at < 0 ? readFileSync(path).length + at : at);
  const { errors, logger } = recorded();
  const store = await embeddedStoreIn(dataDir, { ...OFTEN, logger });
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  expect(errors).toEqual([expect.objectContaining({ blobFile: expect.stringContaining('-log') })]);
  const found = await store.search(rowsPlan({ page: { index: 0, size: 1 } }));
  expect([await rowsOf(found), found.total]).toMatchObject([[{ logJson: '{}' }], 50]);
  expect(store.notes()).toEqual([expect.stringMatching(/^logs of blob file "j.*" are answered as {}/)]);
  await store.close();
  expect(columnOf(dataDir, 'SELECT damage FROM blob_files')).toEqual(expect.any(String));
  putBack();
  const again = await embeddedStoreIn(dataDir, OFTEN);
  const repaired = await again.search(rowsPlan({ page: { index: 0, size: 1 } }));
  expect(await rowsOf(repaired)).toMatchObject([{ logJson: '{"line":"e0 of a log"}' }]);
  await expect.poll(() => again.notes()).toEqual([]);
  await again.close();
  expect(columnOf(dataDir, 'SELECT damage FROM blob_files')).toBeNull();
});

test('files of an earlier version get their checksums, by which damage is found from then on', async () => {
  const dataDir = await filledFolder();
  const file = join(dataDir, 'catalog.sqlite');
  const before = new DatabaseSync(file);
  const written = before.prepare('SELECT blocks FROM segments').get();
  before.exec('UPDATE segments SET blocks = NULL, checksum = NULL; UPDATE blob_files SET index_crc32 = NULL, checksum = NULL');
  before.close();
  const catalog = new Catalog(file);
  const versions = new VersionSet({ segments: catalog.segments(), blobFiles: catalog.blobFiles() }, 51n, () => undefined);
  const segmentsFolder = join(dataDir, 'segments');
  const checks = segmentChecks(segmentsFolder, versions);
  const scrub = new Scrub({ segmentsFolder, versions, checks, catalog, elapsedMs: () => 0, logger: silentLogger });
  await scrub.readNext(() => false);
  expect(catalog.segments()).toMatchObject([{ blocks: written?.['blocks'] }]);
  expect(catalog.blobFiles()).toMatchObject([{ indexCrc32: expect.any(Number) }]);
  catalog.close();
  flip(fileOf(dataDir, 'segment'), 900);
  const store = await embeddedStoreIn(dataDir);
  expect(await storedIds(store)).toEqual([]);
  expect(await store.stats()).toMatchObject({ unreadableEvents: 50 });
});

test('a file is read once a day, and none after a stop', async () => {
  const dataDir = await filledFolder();
  const catalog = new Catalog(join(dataDir, 'catalog.sqlite'));
  const versions = new VersionSet({ segments: catalog.segments(), blobFiles: catalog.blobFiles() }, 51n, () => undefined);
  const read: string[] = [];
  const checks = {
    checkInBackground: async ({ file }: Segment) => void read.push(file),
    blocksOf: () => Promise.reject(new Error('it has blocks')),
  };
  const clock = { ms: 0 };
  const segmentsFolder = join(dataDir, 'segments');
  const scrub = new Scrub({ segmentsFolder, versions, checks, catalog, elapsedMs: () => clock.ms, logger: silentLogger });
  await scrub.readNext(() => true);
  expect(read).toHaveLength(0);
  for (const [ms, times] of [
    [0, 1],
    [1, 1],
    [24 * HOUR - 1, 1],
    [24 * HOUR, 2],
    [48 * HOUR, 3],
  ] as const) {
    clock.ms = ms;
    await scrub.readNext(() => false);
    expect([ms, read.length]).toEqual([ms, times]);
  }
  catalog.close();
});
