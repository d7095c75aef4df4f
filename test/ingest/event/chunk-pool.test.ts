import { expect, test } from 'vitest';
import {
  CHUNK_SIZES,
  MAX_KEPT_BYTES,
  MAX_SHARED_BYTES,
  type OwnChunks,
  ownChunks,
  sharedChunks,
} from '../../../ingest/event/chunk-pool.ts';

test.each([
  [1, 1024],
  [1024, 1024],
  [1025, 4096],
  [100_000, 256 * 1024],
  [1024 * 1024, 1024 * 1024],
  [1024 * 1024 + 1, 1024 * 1024 + 1],
])('for %i bytes there is a chunk of %i', (bytes, size) => {
  expect(ownChunks().take(bytes).length).toBe(size);
});

test.each(CHUNK_SIZES)('a chunk of %i bytes that was given back is used again, whole, for one of its size, and once', (size) => {
  const pool = ownChunks();
  const { buffer } = pool.take(size);
  pool.giveBack(new Uint8Array(buffer, 0, 5));
  for (const other of CHUNK_SIZES.filter((one) => one !== size)) {
    expect(pool.take(other).buffer).not.toBe(buffer);
  }
  const again = pool.take(size);
  expect(again.buffer).toBe(buffer);
  expect(again.length).toBe(size);
  expect(pool.take(size).buffer).not.toBe(buffer);
});

test('a chunk of no usual size is not kept', () => {
  const pool = ownChunks();
  const odd = pool.take(2 * 1024 * 1024);
  pool.giveBack(odd);
  expect(pool.take(2 * 1024 * 1024).buffer).not.toBe(odd.buffer);
});

/** Takes chunks of these sizes and gives them back, in this order. */
function givenBack(pool: OwnChunks, sizes: readonly number[]): ReadonlySet<ArrayBufferLike> {
  const chunks = sizes.map((size) => pool.take(size));
  for (const chunk of chunks) pool.giveBack(chunk);
  return new Set(chunks.map(({ buffer }) => buffer));
}

/** The bytes of each set of memories that the pool has kept. Takes them all. */
function keptBytes(pool: OwnChunks, ...sets: readonly ReadonlySet<ArrayBufferLike>[]): number[] {
  const bytes = sets.map(() => 0);
  for (const size of CHUNK_SIZES) {
    for (;;) {
      const { buffer } = pool.take(size);
      const set = sets.findIndex((memories) => memories.has(buffer));
      if (set === -1) break;
      bytes[set] = (bytes[set] ?? 0) + size;
    }
  }
  return bytes;
}

test.each(CHUNK_SIZES)('64 MiB are kept at most, of chunks of %i bytes', (size) => {
  const pool = ownChunks();
  const memories = givenBack(pool, Array<number>(MAX_KEPT_BYTES / size + 3).fill(size));
  expect(keptBytes(pool, memories)).toEqual([MAX_KEPT_BYTES]);
  expect(keptBytes(pool, givenBack(pool, [size]))).toEqual([size]);
});

test.each([
  [1024, 1024 * 1024],
  [1024 * 1024, 1024],
  [4096, 65_536],
  [65_536, 4096],
])('where 64 MiB are chunks of %i bytes, those of %i that are used now are kept all the same, and 64 MiB in all', (other, size) => {
  const pool = ownChunks();
  const before = givenBack(pool, Array<number>(MAX_KEPT_BYTES / other).fill(other));
  const now = givenBack(pool, [size, size]);
  expect(keptBytes(pool, now, before)).toEqual([2 * size, MAX_KEPT_BYTES - Math.max(2 * size, other)]);
});

test('chunks that threads share are used again, 32 MiB of them at most, and other memory of their sizes is not', () => {
  const pool = sharedChunks();
  const size = 64 * 1024;
  pool.giveBack(new Uint8Array(size));
  const chunks = Array.from({ length: MAX_SHARED_BYTES / size + 3 }, () => pool.take(size));
  for (const chunk of chunks) pool.giveBack(chunk.subarray(0, 5));
  const memories = new Set<ArrayBufferLike>(chunks.map(({ buffer }) => buffer));
  let kept = 0;
  while (memories.has(pool.take(size).buffer)) kept += 1;
  expect([kept, pool.take(1).buffer instanceof SharedArrayBuffer]).toEqual([MAX_SHARED_BYTES / size, true]);
});

test('chunks of the smallest size give way first', () => {
  const pool = ownChunks();
  const chunks = [...Array<number>(62).fill(1024 * 1024), ...Array<number>(2 * 1024).fill(1024)];
  const before = givenBack(pool, chunks);
  const now = givenBack(pool, [4096]);
  expect(keptBytes(pool, now, before)).toEqual([4096, MAX_KEPT_BYTES - 4096]);
});
