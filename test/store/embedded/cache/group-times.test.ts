import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bucketAt } from '../../../../query/buckets.ts';
import { TIMES_BELOW } from '../../../../sql/group-statements.ts';
import { addToSparkline, bucketStarts, type GroupTimes, mergeTimes, TimesCollector } from '../../../../store/embedded/cache/group-times.ts';
import { GroupFacts } from '../../../../store/embedded/search/group-facts.ts';
import { assertProperty } from '../../../random/assert-property.ts';
import { NOW } from '../stored-events.ts';

const WIDEST_MS = 72 * 3_600_000 + 120_000;

/** The times of two groups. Both groups get the same ones, in different orders. */
function collected(originMs: number, times: readonly number[]): GroupTimes {
  const collector = new TimesCollector(2, originMs);
  collector.take(times.map((time) => time - originMs));
  collector.take(times.toReversed().map((time) => TIMES_BELOW + time - originMs));
  const [one, other] = collector.times();
  expect(other).toEqual(one);
  return one as GroupTimes;
}

const windowed = fc
  .record({
    fromMs: fc.integer({ min: NOW - WIDEST_MS, max: NOW }),
    widthMs: fc.integer({ min: 1, max: WIDEST_MS }),
    buckets: fc.integer({ min: 1, max: 500 }),
  })
  .chain(({ fromMs, widthMs, buckets }) => {
    const toMs = fromMs + widthMs;
    const atStart = fc.integer({ min: 0, max: buckets }).map((bucket) => fromMs + Math.floor((bucket * widthMs) / buckets));
    const near = fc.tuple(atStart, fc.integer({ min: -1, max: 1 })).map(([time, by]) => Math.min(toMs - 1, Math.max(fromMs, time + by)));
    const times = fc.array(fc.oneof(near, fc.integer({ min: fromMs, max: toMs - 1 })), { maxLength: 60 });
    return fc.record({ window: fc.constant({ fromMs, toMs }), buckets: fc.constant(buckets), early: times, late: times });
  });

test('times are counted into the bucket that each of them is in, whatever parts they come in', () => {
  assertProperty(
    fc.property(windowed, fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }), ({ window, buckets, early, late }, before, earlier) => {
      const merged = mergeTimes(collected(window.fromMs - before, early), collected(window.fromMs - earlier, late));
      const facts = new GroupFacts(buckets);
      addToSparkline(facts, merged, bucketStarts(window, buckets));
      const expected = new Array<number>(buckets).fill(0);
      for (const time of [...early, ...late]) {
        const bucket = bucketAt({ from: window.fromMs, to: window.toMs, buckets }, time);
        expected[bucket] = (expected[bucket] ?? 0) + 1;
      }
      expect(facts.sparkline).toEqual(expected);
    }),
  );
});

test('more buckets than milliseconds leave some without any', () => {
  expect(bucketStarts({ fromMs: 100, toMs: 102 }, 4)).toEqual([100, 101, 101, 102, 102]);
  const facts = new GroupFacts(4);
  addToSparkline(facts, collected(90, [100, 100, 101]), bucketStarts({ fromMs: 100, toMs: 102 }, 4));
  expect(facts.sparkline).toEqual([2, 0, 1, 0]);
});
