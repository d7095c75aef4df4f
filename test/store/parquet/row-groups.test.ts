import { expect, test } from 'vitest';
import { rowGroupsOf, splitByBytes } from '../../../store/parquet/row-groups.ts';

const zones = (...counts: readonly (readonly [zone: number, rows: number])[]) =>
  Int32Array.from(counts.flatMap(([zone, rows]) => new Array<number>(rows).fill(zone)));

const allFit = (_from: number, to: number): number => to;

test('row groups are of 8,192 rows, and of 32,768 of a zone that has 4,096 and more', () => {
  expect(rowGroupsOf(zones(), allFit)).toEqual([]);
  expect(rowGroupsOf(zones([1, 4_095], [2, 4_097]), allFit)).toEqual([
    [0, 4_095],
    [4_095, 8_192],
  ]);
  expect(rowGroupsOf(zones([1, 4_095], [2, 4_095], [3, 4_095]), allFit)).toEqual([
    [0, 8_192],
    [8_192, 12_285],
  ]);
  expect(rowGroupsOf(zones([1, 40_000]), allFit)).toEqual([
    [0, 32_768],
    [32_768, 40_000],
  ]);
});

/** Rows of these weights fit up to a weight of 10. */
const upToTen =
  (weightOf: (row: number) => number) =>
  (from: number, to: number): number => {
    let taken = 0;
    for (let row = from; row < to; row += 1) {
      taken += weightOf(row);
      if (taken > 10 && row > from) return row;
    }
    return to;
  };

test('a row group ends before the row that would bring too many bytes into a vector, and vectors are of 2,048 rows', () => {
  const spread = upToTen((row) => (row % 1_024 === 0 ? 5 : 0));
  expect(splitByBytes([0, 40_000], spread)).toEqual([[0, 40_000]]);
  expect(
    splitByBytes(
      [3, 7],
      upToTen(() => 10),
    ),
  ).toEqual([
    [3, 4],
    [4, 5],
    [5, 6],
    [6, 7],
  ]);
  expect(
    splitByBytes(
      [0, 3],
      upToTen(() => 11),
    ),
  ).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  const late = upToTen((row) => (row >= 5_000 && row < 5_003 ? 6 : 0));
  expect(splitByBytes([0, 8_000], late)).toEqual([
    [0, 5_001],
    [5_001, 5_002],
    [5_002, 8_000],
  ]);
  expect(splitByBytes([5, 5], spread)).toEqual([]);
});
