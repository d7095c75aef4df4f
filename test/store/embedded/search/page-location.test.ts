import { expect, test } from 'vitest';
import { disjointRanges, locatePage } from '../../../../store/embedded/search/page-location.ts';

const stretch = (fromMs: number, toMs: number, events: number) => ({ fromMs, toMs, events });
const THREE = [stretch(0, 10, 5), stretch(10, 20, 3), stretch(30, 40, 2)];

test.each([
  ['the first page lies in the newest stretch', 0, 2, { fromMs: 30, toMs: 40, events: 2, skip: 0 }],
  ['a page that is longer takes the next one in', 0, 3, { fromMs: 10, toMs: 40, events: 5, skip: 0 }],
  ['a page can begin within a stretch', 1, 2, { fromMs: 10, toMs: 40, events: 5, skip: 1 }],
  ['a page leaves out the ranges that are newer', 2, 3, { fromMs: 10, toMs: 20, events: 3, skip: 0 }],
  ['the last page may be short', 9, 50, { fromMs: 0, toMs: 10, events: 5, skip: 4 }],
  ['a page of everything', 0, 500, { fromMs: 0, toMs: 40, events: 10, skip: 0 }],
  ['past the end there is none', 10, 50, undefined],
])('%s', (_, offset, limit, location) => {
  expect(locatePage(THREE, offset, limit)).toEqual(location);
});

test('ranges that touch stay apart, those that overlap come together', () => {
  expect(disjointRanges([stretch(10, 20, 1), stretch(0, 10, 2)])).toEqual([stretch(0, 10, 2), stretch(10, 20, 1)]);
  expect(disjointRanges([stretch(5, 30, 4), stretch(0, 10, 2), stretch(12, 14, 1), stretch(30, 31, 9)])).toEqual([
    stretch(0, 30, 7),
    stretch(30, 31, 9),
  ]);
});
