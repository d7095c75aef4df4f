import { describe, expect, test } from 'vitest';
import { chooseMerge } from '../../store/compaction.ts';
import type { Segment } from '../../store/segment.ts';
import { HOUR, NOW } from './stored-events.ts';

function segments(count: number, rows: number, hourStart: number): Segment[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    file: `${index}.parquet`,
    rows,
    bytes: rows,
    minTimestamp: hourStart,
    maxTimestamp: hourStart + HOUR - 1,
    minSequence: 1n,
    maxSequence: 2n,
    zoneRows: new Map([[7, rows]]),
  }));
}

const hour = Math.floor(NOW / HOUR) * HOUR;

/** The same segment of 200,000 zones, `count` times. */
function segmentsOfManyZones(count: number): Segment[] {
  const zoneRows = new Map(Array.from({ length: 200_000 }, (_, zone) => [zone, 1]));
  return segments(count, 200_000, hour - 24 * HOUR).map((segment) => ({ ...segment, zoneRows }));
}

test.each([
  ['seven small segments of an hour that still receives events are left alone', segments(7, 1_000, hour), undefined],
  ['eight are merged', segments(8, 1_000, hour), 8],
  ['large ones are not', segments(8, 100_000, hour), undefined],
  ['no more are merged than make one segment', segments(200, 8_300, hour), 60],
  ['two segments of a slab that has gone quiet are merged', segments(2, 1_000, hour - 24 * HOUR), 2],
  ['two segments that are large already are left alone', segments(2, 400_000, hour - 24 * HOUR), undefined],
  ['one is not', segments(1, 1_000, hour - 24 * HOUR), undefined],
  ['segments of very many zones are merged too', segmentsOfManyZones(2), 2],
  ['a zone too large for one segment keeps its hours, in bounded pieces', segments(200, 12_500, hour - 24 * HOUR), 40],
])('%s', (_, given, merged) => {
  const merge = chooseMerge(given, NOW);
  expect(merge?.segments.length).toBe(merged);
  expect((merge?.segments ?? []).reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(500_000);
});

test('a quiet slab in which a zone has three segments is merged, however large they are', () => {
  const given = segments(3, 400_000, hour - 24 * HOUR);
  expect(chooseMerge(given, NOW)?.segments).toEqual(given);
});

test('what came late is merged with its like, not with a large segment of the same zone', () => {
  const [large, ...late] = [...segments(1, 480_000, hour - 24 * HOUR), ...segments(2, 900, hour - 24 * HOUR)];
  expect(
    chooseMerge(
      [large, late[0]].flatMap((segment) => segment ?? []),
      NOW,
    ),
  ).toBeUndefined();
});

describe('hours that go quiet are put together step by step', () => {
  const midnight = Math.floor(NOW / (24 * HOUR)) * 24 * HOUR;
  const hourly = Array.from({ length: 12 }, (_, index) => segments(2, 80_000, midnight + index * HOUR)).flat();
  test.each([
    ['an hour, an hour after its end', 2, 1, 2],
    ['three hours, an hour after their end', 4, 3, 6],
    ['twelve hours, an hour after their end', 13, 12, 24],
  ])('%s', (_, nowHours, slabHours, count) => {
    const merge = chooseMerge(hourly, midnight + nowHours * HOUR);
    expect({ slabHours: (merge?.slabMs ?? 0) / HOUR, count: merge?.segments.length }).toEqual({ slabHours, count });
  });
});
