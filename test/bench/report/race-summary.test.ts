import { describe, expect, test } from 'vitest';
import type { MixedFigures, QuestionFigures, SizeFigures, WorkloadFigures } from '../../../bench/report/race-result.ts';
import {
  coresBusy,
  eventsPerSecond,
  geometricMean,
  growthExponent,
  secondShare,
  slowdown,
  timesAsFast,
  timesAsFastAt,
} from '../../../bench/report/race-summary.ts';

function workload(name: string, ours: readonly number[], theirs: readonly number[]): WorkloadFigures {
  return {
    name,
    title: name,
    total: 1,
    engines: {
      shieldlog: { hotMs: ours, coldMs: [], rememberedMs: [] },
      clickhouse: { hotMs: theirs, coldMs: [], rememberedMs: [] },
    },
  };
}

function size(events: number, ms: number): SizeFigures {
  return {
    events,
    files: { count: 1, bytes: 0 },
    intake: {},
    searchPeakMemoryBytes: {},
    workloads: [workload('page', [ms], [ms * 2])],
    floor: [],
  };
}

function mixed(turns: MixedFigures['turns']): MixedFigures {
  return { storedEvents: 1, wantedEventsPerSecond: null, turns, peakMemoryBytes: 0 };
}

describe('the summary of a race', () => {
  test('compares medians, with ten milliseconds added to both', () => {
    expect(timesAsFast(workload('page', [10, 1000, 5], [30, 30, 1]), 'shieldlog', 'clickhouse', 'hotMs')).toBe(2);
    expect(timesAsFast(workload('page', [30], [10]), 'shieldlog', 'clickhouse', 'hotMs')).toBe(0.5);
  });

  test('holds what is remembered against the runs that the rival made in turns with it', () => {
    const rememberedMs = { shieldlog: [10, 10, 500], clickhouse: [30, 30, 1] };
    const engines = Object.fromEntries(
      Object.entries(rememberedMs).map(([name, times]) => [name, { hotMs: [1], coldMs: [], rememberedMs: times }]),
    );
    expect(timesAsFast({ ...workload('page', [], []), engines }, 'shieldlog', 'clickhouse', 'rememberedMs')).toBe(2);
  });

  test('has no ratio where one of them was not timed', () => {
    expect(timesAsFast(workload('page', [], [10]), 'shieldlog', 'clickhouse', 'hotMs')).toBeNaN();
    expect(timesAsFast(workload('page', [1], [10]), 'shieldlog', 'clickhouse', 'coldMs')).toBeNaN();
  });

  test('compares the medians of each look, and the second one with the first', () => {
    const looks = { shieldlog: { firstMs: [40, 90, 10], secondMs: [10] }, clickhouse: { firstMs: [90], secondMs: [30, 10, 90] } };
    const question: QuestionFigures = { name: 'explore-1', title: 'large zone', total: 1, engines: looks };
    expect(timesAsFastAt(question, 'shieldlog', 'clickhouse', 'firstMs')).toBe(2);
    expect(timesAsFastAt(question, 'shieldlog', 'clickhouse', 'secondMs')).toBe(2);
    expect(secondShare(question, 'shieldlog')).toBe(0.25);
    expect(secondShare({ ...question, engines: {} }, 'shieldlog')).toBeNaN();
  });

  test('takes the geometric mean of what was timed', () => {
    expect(geometricMean([4, 1, Number.NaN])).toBeCloseTo(2);
  });

  test.each([
    ['in proportion', [size(1_000, 3), size(10_000, 30), size(100_000, 300)], 1],
    ['not at all', [size(1_000, 3), size(10_000, 3)], 0],
    ['with the square', [size(1_000, 1), size(2_000, 4)], 2],
  ])('finds the power that times grow by: %s', (_, sizes, exponent) => {
    expect(growthExponent(sizes, 'page', 'shieldlog')).toBeCloseTo(exponent);
  });

  test('says how much longer searches take beside the intake, by the 95th percentile of all turns and of each', () => {
    const upTo = (count: number, last: number) => [...Array.from({ length: count - 1 }, (_, index) => index / count), last];
    const turns = [
      { aloneMs: upTo(20, 10), eventsPerSecond: 1, besideMs: [30] },
      { aloneMs: [20], eventsPerSecond: 1, besideMs: [30, 50] },
    ];
    // The 95th percentile of twenty is the 19th, 0.9; of all 21 it is the 20th, 10.
    expect(slowdown(mixed(turns))).toEqual({ all: 5, byTurn: [30 / 0.9, 2.5] });
  });

  test('has no such figure where nothing was searched alone', () => {
    expect(slowdown(mixed([{ aloneMs: [], eventsPerSecond: 1, besideMs: [3] }]))).toEqual({ all: Number.NaN, byTurn: [Number.NaN] });
  });

  test('says how many cores an intake kept busy', () => {
    expect(coresBusy({ elapsedMs: 2_000, settleMs: 500, cpuMs: 3_000, peakMemoryBytes: 0 })).toBe(1.5);
  });

  test('has one pace for turns that took in as many events', () => {
    const turn = (pace: number) => ({ aloneMs: [], eventsPerSecond: pace, besideMs: [] });
    expect(eventsPerSecond(mixed([turn(10), turn(30)]))).toBeCloseTo(15);
  });
});
