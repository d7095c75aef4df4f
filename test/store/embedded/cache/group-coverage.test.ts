import { expect, test } from 'vitest';
import {
  type Coverage,
  coverageOf,
  coversAll,
  isInside,
  isPartOf,
  nameOf,
  segmentsCut,
} from '../../../../store/embedded/cache/group-coverage.ts';
import type { Segment } from '../../../../store/embedded/segment/segment.ts';
import { asChecked } from '../integrity/segment-checks-under-test.ts';
import { rowsPlan } from '../stored-events.ts';

function segment(id: number, minTimestamp: number, maxTimestamp: number): Segment {
  return {
    id,
    file: `${id}.parquet`,
    rows: 1,
    bytes: 1,
    zoneRows: new Map([[7, 1]]),
    minTimestamp,
    maxTimestamp,
    minSequence: 1n,
    maxSequence: 1n,
  };
}

const OLD = segment(1, 1_000, 1_999);
const MIDDLE = segment(2, 2_000, 2_999);
const YOUNG = segment(3, 3_000, 3_999);
const ALL = [OLD, MIDDLE, YOUNG];

const covered = (fromMs: number, ...segments: Segment[]): Coverage => ({ segments: asChecked(segments), fromMs });
const of = (fromMs: number, toMs: number) => coverageOf({ plan: rowsPlan({ window: { fromMs, toMs } }), segments: asChecked(ALL) });

// A window of 2,048 milliseconds and up to twice that long has steps of 128.
test.each([
  ['a window that cuts none has all that there is', of(900, 4_000), covered(1_000, ...ALL)],
  ['so has a window that begins with the first event', of(1_000, 4_000), covered(1_000, ...ALL)],
  ['one that is cut at the end is not covered', of(900, 3_999), covered(1_000, OLD, MIDDLE)],
  ['one that is cut is covered from the next step on', of(1_001, 4_000), covered(1_024, ...ALL)],
  ['and so it is until there', of(1_024, 4_000), covered(1_024, ...ALL)],
  ['and then from the one after it on', of(1_025, 4_000), covered(1_152, ...ALL)],
  ['one that ends before the next step is not covered', of(1_930, 4_100), covered(2_048, MIDDLE, YOUNG)],
])('%s', (_, coverage, expected) => {
  expect(coverage).toEqual(expected);
});

test('windows of about the same length cover the same, and others do not', () => {
  expect(nameOf(of(1_010, 4_000))).toBe(nameOf(of(1_001, 4_100)));
  expect(nameOf(of(1_025, 4_000))).not.toBe(nameOf(of(1_001, 4_000)));
  expect(nameOf(of(1_001, 3_999))).not.toBe(nameOf(of(1_001, 4_000)));
  const many = Array.from({ length: 10_000 }, (_, id) => segment(id, 1_000, 1_999));
  expect(nameOf(covered(1_000, ...many)).length).toBeLessThanOrEqual(64);
});

test.each([
  ['whole', covered(1_000, ...ALL), { fromMs: 1_000, toMs: 4_000 }, true],
  ['that begins later', covered(1_024, ...ALL), { fromMs: 1_001, toMs: 4_000 }, true],
  ['that begins too early', covered(1_024, ...ALL), { fromMs: 1_025, toMs: 4_000 }, false],
  ['that ends too late', covered(1_024, ...ALL), { fromMs: 1_000, toMs: 3_999 }, false],
])('a coverage %s is in a window, or not', (_, coverage, window, expected) => {
  expect(isInside(coverage, window)).toBe(expected);
});

test.each([
  ['the same', covered(1_024, ...ALL), covered(1_024, ...ALL), true, true],
  ['fewer segments', covered(1_024, OLD, MIDDLE), covered(1_024, ...ALL), false, true],
  ['more segments', covered(1_024, ...ALL), covered(1_024, OLD, YOUNG), true, false],
  ['an earlier time of a segment that is cut', covered(1_024, ...ALL), covered(1_152, ...ALL), true, false],
  ['a later time of a segment that is cut', covered(1_152, ...ALL), covered(1_024, ...ALL), false, false],
  ['an earlier time than all of its segments', covered(1_024, MIDDLE), covered(1_152, ...ALL), false, true],
  ['segments that begin later than either', covered(2_000, MIDDLE, YOUNG), covered(1_000, ...ALL), false, true],
])('of %s it is known whether all is covered, and whether it can be added to', (_, coverage, other, all, part) => {
  expect([coversAll(coverage, other), isPartOf(coverage, other)]).toEqual([all, part]);
});

test('a segment is cut that has events before those that are covered', () => {
  expect(segmentsCut(covered(1_000, ...ALL))).toEqual([]);
  expect(segmentsCut(covered(2_001, ...ALL))).toEqual([OLD, MIDDLE]);
});
