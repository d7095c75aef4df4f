import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FileGeneration } from '../../../../src/cli/ingest/file-generation.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

/** Makes something of the path that is no regular file. */
const OTHERS: readonly (readonly [what: string, make: (path: string) => void])[] = [
  ['a FIFO that nobody writes to', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
];

test.each(OTHERS)('%s that took the name since it was looked at is no file, and is not waited for', async (_what, make) => {
  const path = join(temporaryFolder(), 'events.log');
  writeFileSync(path, 'a\n');
  const file = await FileGeneration.open(path);
  expect(file).not.toBeNull();
  const state = file?.state;
  await file?.close();
  rmSync(path);
  make(path);
  expect(await FileGeneration.open(path)).toBeNull();
  expect(state && (await FileGeneration.openAt(path, state))).toBeNull();
});

test('a file is opened at its beginning, and again where its state says', async () => {
  const path = join(temporaryFolder(), 'events.log');
  writeFileSync(path, 'a\n');
  const file = await FileGeneration.open(path);
  const state = file?.state;
  await file?.close();
  appendFileSync(path, 'b\n');
  const again = state === undefined ? null : await FileGeneration.openAt(path, state);
  expect(again?.state).toEqual(state);
  await again?.close();
});

const MB = 1024 * 1024;

test('a long hole is looked through a part at a time, so that other files and a stop need not wait', async () => {
  const path = join(temporaryFolder(), 'events.log');
  writeFileSync(path, '');
  truncateSync(path, 600 * MB);
  appendFileSync(path, 'a\n');
  const file = await FileGeneration.open(path);
  const batches: (number | undefined)[] = [];
  for (let call = 0; call < 3; call += 1) {
    await file?.wasWrittenAnew();
    batches.push((await file?.nextBatch())?.end);
    // Lines that are appended meanwhile do not have it begin again.
    if (call === 0) appendFileSync(path, 'b\n');
  }
  expect(file?.isLooking).toBe(true);
  expect(batches).toEqual([undefined, undefined, 600 * MB + 4]);
  await file?.close();
});

test('lines that replace the NULs of a file while it is looked through are found', async () => {
  const path = join(temporaryFolder(), 'events.log');
  writeFileSync(path, '');
  truncateSync(path, 600 * MB);
  const file = await FileGeneration.open(path);
  await file?.wasWrittenAnew();
  expect(await file?.nextBatch()).toBeNull();
  writeFileSync(path, 'a\n', { flag: 'r+' });
  await file?.wasWrittenAnew();
  expect((await file?.nextBatch())?.end).toBe(2);
  await file?.close();
});
