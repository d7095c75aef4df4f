import { expect, test } from 'vitest';
import { DedupKeySet, MAX_BYTES_OF_A_KEY } from '../../../../store/embedded/memtable/dedup-index.ts';

const LARGEST = 2 ** 53 - 1;
const FORTY_BITS = 2 ** 40;

/** Whole numbers of up to 53 bits that differ in their lowest forty, many of them in the highest eight of these alone. */
function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) =>
    n % 3 === 0 ? ((n / 3) % 256) * 2 ** 32 + 7 + Math.floor(n / 768) : LARGEST - n * 1_000_003,
  );
}

test('a number is in the set once it was added, however many there are', () => {
  const set = new DedupKeySet();
  const all = numbers(10_000);
  expect(new Set(all.map((number) => number % FORTY_BITS)).size).toBe(all.length);
  for (const number of all) {
    expect(set.add(number)).toBe(true);
  }
  expect(set.size).toBe(10_000);
  expect(all.some((number) => set.add(number))).toBe(false);
  expect(set.size).toBe(10_000);
  expect(set.add(LARGEST - 5)).toBe(true);
});

test('numbers with the same forty bits count as one', () => {
  const set = new DedupKeySet();
  expect([5, 5 + FORTY_BITS, 5 + FORTY_BITS / 2].map((number) => set.add(number))).toEqual([true, false, true]);
});

test('0 is a number like others', () => {
  const set = new DedupKeySet();
  expect(set.add(0)).toBe(true);
  expect(set.add(0)).toBe(false);
});

test.each([1_000, 100_000, 1_000_000])('%s numbers take no more memory than is said', (count) => {
  const set = new DedupKeySet();
  for (let n = 0; n < count; n += 1) {
    set.add((n * 0x9e3779b97f4a7) % 2 ** 53);
  }
  expect(set.byteLength / set.size).toBeLessThanOrEqual(MAX_BYTES_OF_A_KEY * 1.01);
});
