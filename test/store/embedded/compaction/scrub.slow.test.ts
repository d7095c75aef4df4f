import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { silentLogger } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { event, NOW, rowsPlan, storedIds } from '../stored-events.ts';

const OFTEN = { backgroundJobsEveryMs: 10 };
const IDS = Array.from({ length: 50 }, (_, index) => `e${index}`);

async function filledFolder(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
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
  const store = await storeIn(dataDir, { ...OFTEN, logger });
  await expect.poll(async () => (await store.stats()).unreadableEvents).toBe(50);
  expect(errors).toEqual([
    { segment: fileOf(dataDir, 'segment'), events: 50, fault: expect.stringMatching(/bytes from \d+ to \d+ are not/) },
  ]);
  await store.close();
  expect(columnOf(dataDir, 'SELECT damage FROM segments')).toMatch(/are not as they were written/);
  putBack();
  expect(await storedIds(await storeIn(dataDir))).toEqual(IDS);
});

test.each([30, -40])('a damaged blob file that nobody reads is found, at byte %i, and is whole again after it was put back', async (at) => {
  const dataDir = await filledFolder();
  const path = fileOf(dataDir, 'blob file');
  const putBack = flip(path, at < 0 ? readFileSync(path).length + at : at);
  const { errors, logger } = recorded();
  const store = await storeIn(dataDir, { ...OFTEN, logger });
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  expect(errors).toEqual([expect.objectContaining({ blobFile: expect.stringContaining('-log') })]);
  expect(await store.search(rowsPlan({ page: { index: 0, size: 1 } }))).toMatchObject({ rows: [{ logJson: '{}' }], total: 50 });
  expect(store.notes()).toEqual([expect.stringMatching(/^logs of blob file "j.*" are answered as {}/)]);
  await store.close();
  expect(columnOf(dataDir, 'SELECT damage FROM blob_files')).toEqual(expect.any(String));
  putBack();
  const again = await storeIn(dataDir, OFTEN);
  expect(await again.search(rowsPlan({ page: { index: 0, size: 1 } }))).toMatchObject({ rows: [{ logJson: '{"line":"e0 of a log"}' }] });
  await expect.poll(() => again.notes()).toEqual([]);
  await again.close();
  expect(columnOf(dataDir, 'SELECT damage FROM blob_files')).toBeNull();
});

test('files of an earlier version get their checksums, by which damage is found from then on', async () => {
  const dataDir = await filledFolder();
  const catalog = new DatabaseSync(join(dataDir, 'catalog.sqlite'));
  const written = catalog.prepare('SELECT blocks FROM segments').get();
  catalog.exec('UPDATE segments SET blocks = NULL, checksum = NULL; UPDATE blob_files SET index_crc32 = NULL, checksum = NULL');
  catalog.close();
  const blocksAfter = async () => {
    const store = await storeIn(dataDir, OFTEN);
    expect(await storedIds(store)).toEqual(IDS);
    await store.close();
    return [columnOf(dataDir, 'SELECT blocks FROM segments'), columnOf(dataDir, 'SELECT index_crc32 FROM blob_files')];
  };
  await expect.poll(blocksAfter).toEqual([written?.['blocks'], expect.any(Number)]);
  flip(fileOf(dataDir, 'segment'), 900);
  const store = await storeIn(dataDir);
  expect(await storedIds(store)).toEqual([]);
  expect(await store.stats()).toMatchObject({ unreadableEvents: 50 });
});
