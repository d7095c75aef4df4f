import { expect, test } from 'vitest';
import { orderBy } from '../../../../store/embedded/parquet/event-order.ts';
import { rowGroupsOf } from '../../../../store/embedded/parquet/segment-file.ts';

test('events are sorted by the first key, then by the next; what is the same stays in its order', () => {
  const first = Uint32Array.of(5, 2, 5, 4_000_000_000, 2, 5);
  const second = Uint32Array.of(1, 9, 0, 3, 9, 1);
  expect([...orderBy(6, [first, second])]).toEqual([1, 4, 2, 0, 5, 3]);
  expect([...orderBy(0, [first])]).toEqual([]);
});

test('numbers of any size are sorted', () => {
  const key = Uint32Array.from({ length: 5_000 }, (_, index) => (index * 2_654_435_761) % 2 ** 32);
  const expected = [...key.keys()].sort((a, b) => (key[a] as number) - (key[b] as number));
  expect([...orderBy(key.length, [key])]).toEqual(expected);
});

test('row groups are of 8,192 rows, and of 32,768 of a zone that has 4,096 and more', () => {
  const zones = (...counts: readonly (readonly [zone: number, rows: number])[]) =>
    Int32Array.from(counts.flatMap(([zone, rows]) => new Array<number>(rows).fill(zone)));
  expect(rowGroupsOf(zones())).toEqual([]);
  expect(rowGroupsOf(zones([1, 4_095], [2, 4_097]))).toEqual([
    [0, 4_095],
    [4_095, 8_192],
  ]);
  expect(rowGroupsOf(zones([1, 4_095], [2, 4_095], [3, 4_095]))).toEqual([
    [0, 8_192],
    [8_192, 12_285],
  ]);
  expect(rowGroupsOf(zones([1, 40_000]))).toEqual([
    [0, 32_768],
    [32_768, 40_000],
  ]);
});
