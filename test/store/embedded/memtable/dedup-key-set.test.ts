import { expect, test } from 'vitest';
import { DedupKeySet } from '../../../../store/embedded/memtable/dedup-index.ts';

const LARGEST = 2 ** 53 - 1;

/** Whole numbers of up to 53 bits, many of which share their lowest bits. */
function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => (n % 3 === 0 ? n * 2 ** 32 + 7 : LARGEST - n * 1_000_003));
}

test('a number is in the set once it was added, however many there are', () => {
  const set = new DedupKeySet();
  const all = numbers(10_000);
  for (const number of all) {
    expect(set.add(number)).toBe(true);
  }
  expect(set.size).toBe(10_000);
  expect(all.some((number) => set.add(number))).toBe(false);
  expect(set.size).toBe(10_000);
  expect(set.add(LARGEST - 5)).toBe(true);
});

test('0 is a number like others', () => {
  const set = new DedupKeySet();
  expect(set.add(0)).toBe(true);
  expect(set.add(0)).toBe(false);
});
