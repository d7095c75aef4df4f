import { expect, test } from 'vitest';
import { groupMean, type Pair, ratioOf, ratiosOf } from '../../../bench/compare/paired-ratios.ts';

function pair(before: number, after: number, isCpuKnown = true): Pair {
  const spent = (ms: number) => ({ wallMs: ms, cpuMs: isCpuKnown ? ms * 2 : undefined });
  return { before: spent(before), after: spent(after) };
}

test('a ratio tells how many times as much the second side spent, with its smallest and largest pair', () => {
  const pairs = [pair(10, 20), pair(10, 5), pair(10, 15), pair(10, 10)];
  expect(ratioOf(ratiosOf(pairs, 'wallMs'))).toEqual({ median: 1.25, least: 0.5, most: 2 });
  expect(ratioOf(ratiosOf(pairs.slice(0, 3), 'cpuMs'))).toEqual({ median: 1.5, least: 0.5, most: 2 });
});

test('where the system does not tell the processor time, there is no ratio of it and no mean', () => {
  const pairs = [pair(10, 20, false)];
  expect(ratioOf(ratiosOf(pairs, 'cpuMs'))).toBeUndefined();
  expect(groupMean([pairs], 'cpuMs')).toBeUndefined();
  expect(groupMean([pairs], 'wallMs')?.mean).toBeCloseTo(2);
});

test('a group has the geometric mean of its rows, so that twice and half are equal', () => {
  const rows = [
    [pair(10, 20), pair(10, 20)],
    [pair(40, 20), pair(40, 20)],
  ];
  expect(groupMean(rows, 'cpuMs')).toEqual({ mean: expect.closeTo(1), spread: expect.closeTo(0) });
});

test('the spread is that of the turns, and one turn that is disturbed does not count', () => {
  const turns = (...after: number[]) => [after.map((ms) => pair(100, ms))];
  expect(groupMean(turns(100, 100, 100, 100, 100, 100, 300), 'wallMs')?.spread).toBeCloseTo(0);
  expect(groupMean(turns(90, 90, 90, 100, 110, 110, 110), 'wallMs')?.spread).toBeCloseTo(0.1);
});

test('a group without rows has no mean', () => {
  expect(groupMean([], 'wallMs')).toBeUndefined();
});
