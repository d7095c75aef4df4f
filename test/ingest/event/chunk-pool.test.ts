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

test.each(CHUNK_SIZES)('a chunk of %i bytes that was given back is used again, whole, for one of its size, and once', (size) => {
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
