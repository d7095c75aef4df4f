import { expect, test } from 'vitest';
import { CHUNK_SIZES, ChunkPool } from '../../../ingest/event/chunk-pool.ts';

test.each([
  [1, 1024],
  [1024, 1024],
  [1025, 4096],
  [100_000, 256 * 1024],
  [1024 * 1024, 1024 * 1024],
  [1024 * 1024 + 1, 1024 * 1024 + 1],
])('for %i bytes there is a chunk of %i', (bytes, size) => {
  expect(new ChunkPool().take(bytes).length).toBe(size);
});

test.each(CHUNK_SIZES.slice(1))('a chunk of %i bytes that was given back is used again, whole, for one of its size, and once', (size) => {
  const pool = new ChunkPool();
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

test('the smallest chunks are pieces of one memory, each of its own, and are not used again', () => {
  const pool = new ChunkPool();
  const chunks = Array.from({ length: 50 }, () => pool.take(1024));
  for (const [index, chunk] of chunks.entries()) {
    chunk.fill(index);
  }
  for (const [index, chunk] of chunks.entries()) {
    expect(chunk.equals(Buffer.alloc(1024, index))).toBe(true);
    pool.giveBack(chunk);
  }
  expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(3);
  expect(CHUNK_SIZES).not.toContain(chunks[0]?.buffer.byteLength);
  for (let take = 0; take < 50; take++) {
    const memory = pool.take(1024);
    expect(chunks.filter((chunk) => chunk.buffer === memory.buffer && chunk.byteOffset === memory.byteOffset)).toEqual([]);
  }
});

test('a chunk of no usual size is not kept', () => {
  const pool = new ChunkPool();
  const odd = pool.take(2 * 1024 * 1024);
  pool.giveBack(odd);
  expect(pool.take(2 * 1024 * 1024).buffer).not.toBe(odd.buffer);
});

test('64 MiB are kept at most, of all sizes together, and as much again once some were used', () => {
  const pool = new ChunkPool();
  const large = Array.from({ length: 64 }, () => pool.take(1024 * 1024));
  const small = pool.take(4096);
  for (const chunk of [...large, small]) {
    pool.giveBack(chunk);
  }
  expect(pool.take(4096).buffer).not.toBe(small.buffer);
  expect(large.map(({ buffer }) => buffer)).toContain(pool.take(1024 * 1024).buffer);
  pool.giveBack(small);
  expect(pool.take(4096).buffer).toBe(small.buffer);
});
