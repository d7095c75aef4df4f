import fc from 'fast-check';
import { expect, test } from 'vitest';
import { disjointRanges, locatePage } from '../../../../store/embedded/search/page-location.ts';
import { rangesOfTimes } from '../../../../store/embedded/search/ranges-of-times.ts';

const newestFirst = (times: readonly number[]) => Float64Array.from(times).sort().reverse();

test.each([
  ['no times', [], []],
  ['none in the window', [9, 20, 21], []],
  ['the window begins with its start and ends before its end', [9, 10, 19, 20], [{ fromMs: 10, toMs: 20, events: 2 }]],
  ['one moment', [15, 15, 15], [{ fromMs: 15, toMs: 16, events: 3 }]],
])('%s', (_, times, ranges) => {
  expect(rangesOfTimes(newestFirst(times), { fromMs: 10, toMs: 20 })).toEqual(ranges);
});

test('a page of very many events is located in a stretch of few', () => {
  const times = newestFirst(Array.from({ length: 50_000 }, (_, index) => index));
  const location = locatePage(disjointRanges(rangesOfTimes(times, { fromMs: 0, toMs: 40_000 })), 20_000, 50);
  expect(location).toMatchObject({ toMs: expect.any(Number), skip: expect.any(Number) });
  const { toMs = 0, events = 0, skip = 0 } = location ?? {};
  expect(toMs - skip).toBe(20_000);
  expect(events).toBeLessThanOrEqual(1_024);
});

test('every page lies where it is located, however many events happen at the same time', () => {
  const times = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 3_000, size: 'max' });
  const property = fc.property(times, fc.nat({ max: 40 }), fc.nat({ max: 41 }), fc.nat({ max: 3_000 }), (all, fromMs, toMs, offset) => {
    const within = newestFirst(all.filter((time) => time >= fromMs && time < toMs));
    const location = locatePage(disjointRanges(rangesOfTimes(newestFirst(all), { fromMs, toMs })), offset, 10);
    const page = [...within].slice(offset, offset + 10);
    const found = location === undefined ? [] : [...within].filter((time) => time >= location.fromMs && time < location.toMs);
    expect(found.slice(location?.skip ?? 0, (location?.skip ?? 0) + 10)).toEqual(page);
    expect(found).toHaveLength(location?.events ?? 0);
  });
  fc.assert(property);
});
