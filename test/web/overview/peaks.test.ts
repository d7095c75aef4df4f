import { describe, expect, test } from 'vitest';
import { attackAt, DemoDensity } from '../../../ingest/demo/demo-schedule.ts';
import { peaksIn } from '../../../web/overview/peaks.ts';

const flat = (count: number, buckets = 60): number[] => Array<number>(buckets).fill(count);

/** The stretches of the peaks, in the order of time. */
const stretches = (totals: readonly number[]): readonly (readonly [number, number])[] =>
  peaksIn(totals)
    .map(({ first, end }) => [first, end] as const)
    .toSorted(([a], [b]) => a - b);

describe('peaks', () => {
  test('are the buckets that stand out, put together where they touch', () => {
    const totals = [...flat(100, 20), 300, 900, 400, ...flat(100, 20), 250, ...flat(90, 20)];
    expect(stretches(totals)).toEqual([
      [20, 23],
      [43, 44],
    ]);
    expect(peaksIn(totals)[0]).toEqual({ first: 20, end: 23, events: 1600, excess: 1300, times: 1600 / 300 });
  });

  test.each([
    ['nothing', []],
    ['no events', flat(0)],
    ['the same all the time', flat(1000)],
    ['a few events now and then', [0, 1, 0, 0, 2, 0, 0, 3, 0, 1, 0, 0, 4, 0, 0]],
    ['what varies by chance', [9, 12, 7, 10, 14, 8, 11, 9, 13, 10, 6, 12]],
    ['a slow rise and fall', [...Array(60).keys()].map((bucket) => Math.round(1000 + 600 * Math.sin((bucket / 60) * 2 * Math.PI)))],
  ])('there are none in %s', (_what, totals) => {
    expect(peaksIn(totals)).toEqual([]);
  });

  test('a wave where nothing else is stands out', () => {
    const totals = [...flat(0, 10), 500, 600, ...flat(0, 30)];
    expect(stretches(totals)).toEqual([[10, 12]]);
    expect(peaksIn(totals)[0]?.times).toBeNull();
  });

  test('are the attacks of a day of the demo, each whole, and nothing else', () => {
    const [begin, width] = [1_795_478_400, 600];
    const density = new DemoDensity(100_000);
    const totals = flat(0, 144).map((_, bucket) => {
      let sum = 0;
      for (let second = 0; second < width; second += 1) sum += density.eventsAt(begin + bucket * width + second);
      return sum;
    });
    const attacks = flat(0, 144).map((_, bucket) => {
      const seconds = [...Array(width).keys()].filter((second) => attackAt(begin + bucket * width + second) !== null);
      return seconds.length / width;
    });
    const found = new Set(peaksIn(totals).flatMap(({ first, end }) => [...Array(end - first).keys()].map((offset) => first + offset)));
    expect(peaksIn(totals).length).toBe(9);
    for (const [bucket, share] of attacks.entries()) {
      if (share > 0.5) expect([bucket, found.has(bucket)]).toEqual([bucket, true]);
      if (share === 0) expect([bucket, found.has(bucket)]).toEqual([bucket, false]);
    }
  });
});
