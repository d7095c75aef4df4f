import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileChunks, readThrough } from '../../../bench/events/file-chunks.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { seededBytes } from '../../random/run-seed.ts';

const MEBIBYTE = 1024 * 1024;

function fileOf(bytes: Uint8Array): string {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, bytes);
  return path;
}

test.each([
  ['nothing', 0],
  ['one byte', 1],
  ['a chunk', MEBIBYTE],
  ['a chunk and some bytes', MEBIBYTE + 777],
  ['more chunks than are read ahead', 21 * MEBIBYTE + 1],
])('a file of %s is handed out as it is', async (_what, size) => {
  const bytes = seededBytes(size);
  const read: Buffer[] = [];
  for await (const chunk of fileChunks(fileOf(bytes))) {
    read.push(Buffer.from(chunk));
  }
  expect(Buffer.concat(read).equals(bytes)).toBe(true);
  expect(read).toHaveLength(Math.ceil(size / MEBIBYTE));
});

test('a chunk stays good until the next but one is asked for', async () => {
  const bytes = seededBytes(30 * MEBIBYTE);
  const path = fileOf(bytes);
  let [last, at] = [Buffer.alloc(0) as Uint8Array, 0];
  for await (const chunk of fileChunks(path)) {
    // Meanwhile what is read ahead is there.
    await readFile(path);
    expect(Buffer.compare(last, bytes.subarray(at - last.length, at))).toBe(0);
    at += chunk.length;
    last = chunk;
  }
  expect(at).toBe(bytes.length);
});

test('whoever stops reading leaves nothing open, and a file that is not there is an error', async () => {
  for await (const chunk of fileChunks(fileOf(seededBytes(30 * MEBIBYTE)))) {
    expect(chunk).toHaveLength(MEBIBYTE);
    break;
  }
  await expect(fileChunks(join(temporaryFolder(), 'none')).next()).rejects.toThrow('ENOENT');
});

test('reading a file through leaves it as it is, and one that is not there is an error', async () => {
  const bytes = seededBytes(3 * MEBIBYTE + 5);
  const path = fileOf(bytes);
  await readThrough(path);
  expect((await readFile(path)).equals(bytes)).toBe(true);
  await expect(readThrough(join(temporaryFolder(), 'none'))).rejects.toThrow('ENOENT');
});
