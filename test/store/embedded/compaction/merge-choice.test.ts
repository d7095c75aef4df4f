import { describe, expect, test } from 'vitest';
import { chooseMerge } from '../../../../store/embedded/compaction/merge-choice.ts';
import type { Segment } from '../../../../store/embedded/segment/segment.ts';
import { HOUR, NOW } from '../stored-events.ts';

/** Segments of one zone and hour that came in one after the other. */
function segments(count: number, rows: number, hourStart: number): Segment[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    file: `${index}.parquet`,
    rows,
    bytes: rows,
    minTimestamp: hourStart,
    maxTimestamp: hourStart + HOUR - 1,
    minSequence: BigInt(index * rows),
    maxSequence: BigInt((index + 1) * rows - 1),
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
  ['larger ones are not', segments(8, 100_000, hour), undefined],
  ['no more are merged than make one segment', segments(200, 8_300, hour), 60],
  ['two segments of an old time partition are merged', segments(2, 1_000, hour - 24 * HOUR), 2],
  ['two segments that are large already are left alone', segments(2, 400_000, hour - 24 * HOUR), undefined],
  ['one is not', segments(1, 1_000, hour - 24 * HOUR), undefined],
  ['segments of very many zones are merged too', segmentsOfManyZones(2), 2],
  ['a zone too large for one segment keeps its hours, in bounded pieces', segments(200, 12_500, hour - 24 * HOUR), 40],
])('%s', (_, given, merged) => {
  const merge = chooseMerge(given, NOW);
  expect(merge?.segments.length).toBe(merged);
  expect((merge?.segments ?? []).reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(500_000);
});

test('an old time partition in which a zone has three segments is merged, however large they are', () => {
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

describe('hours that get old are put together step by step', () => {
  const midnight = Math.floor(NOW / (24 * HOUR)) * 24 * HOUR;
  const hourly = Array.from({ length: 12 }, (_, index) => segments(2, 80_000, midnight + index * HOUR)).flat();
  test.each([
    ['an hour, an hour after its end', 2, 1, 2],
    ['three hours, an hour after their end', 4, 3, 6],
    ['twelve hours, an hour after their end', 13, 12, 24],
  ])('%s', (_, nowHours, partitionHours, count) => {
    const merge = chooseMerge(hourly, midnight + nowHours * HOUR);
    expect({ partitionHours: (merge?.partitionMs ?? 0) / HOUR, count: merge?.segments.length }).toEqual({ partitionHours, count });
  });
});

/** Segments of this many rows each that came in one after the other; all of the `zones` zones have as many events. */
function runs(rows: readonly number[], { zones = 10, hourStart = hour } = {}): Segment[] {
  let sequence = 0n;
  return rows.map((count, index) => {
    const minSequence = sequence;
    sequence += BigInt(count);
    return {
      ...(segments(1, count, hourStart)[0] as Segment),
      id: index + 1,
      minSequence,
      maxSequence: sequence - 1n,
      zoneRows: new Map(Array.from({ length: zones }, (_, zone) => [zone, count / zones])),
    };
  });
}

const FLUSH = 100_000;
const many = (count: number, rows: number) => new Array<number>(count).fill(rows);

describe('of an hour that receives more than is merged at once', () => {
  test.each([
    ['sixty-four flushes are merged', many(64, FLUSH), 0, 64],
    ['sixty-three are not', many(63, FLUSH), 0, 0],
    ['those behind what was merged before are, without that', [64 * FLUSH, ...many(64, FLUSH)], 1, 65],
    ['larger ones are merged as many as one merge may have', [...many(6, 16 * FLUSH), ...many(3, FLUSH)], 0, 5],
    ['so many as that are not, while more may come', many(5, 16 * FLUSH), 0, 0],
    ['those that are too large already are left alone', many(80, 50 * FLUSH), 0, 0],
  ])('%s', (_, rows, from, to) => {
    const given = runs(rows);
    expect(chooseMerge(given, NOW)?.segments ?? []).toEqual(given.slice(from, to));
  });

  test('no more of one zone are than a merge can sort', () => {
    const given = runs(many(30, FLUSH), { zones: 1 });
    expect(chooseMerge(given, NOW)?.segments).toEqual(given.slice(0, 20));
    const merged = runs(many(10, 20 * FLUSH), { zones: 1 });
    expect(chooseMerge(merged, NOW)).toBeUndefined();
  });

  test('segments with zones of their own are left alone', () => {
    const given = runs(many(64, FLUSH)).map((segment, index) => ({ ...segment, zoneRows: new Map([[index, FLUSH]]) }));
    expect(chooseMerge(given, NOW)).toBeUndefined();
  });

  test('the segments of one merge count as one', () => {
    const given = runs(many(40, FLUSH)).flatMap((segment) =>
      [0, 1].map((part) => ({ ...segment, zoneRows: new Map([...segment.zoneRows].map(([zone, rows]) => [10 * part + zone, rows])) })),
    );
    expect(chooseMerge(given, NOW)).toBeUndefined();
  });
});

test('in half a day with more than one merge may have, flushes with late events of several hours are merged beside merged segments', () => {
  const halfDay = Math.floor((NOW - 24 * HOUR) / (12 * HOUR)) * 12 * HOUR;
  const late = runs([90 * FLUSH, ...many(20, FLUSH)], { hourStart: halfDay }).map((segment, index) =>
    index === 0 ? { ...segment, maxTimestamp: halfDay + 12 * HOUR - 1 } : { ...segment, maxTimestamp: halfDay + 5 * HOUR },
  );
  const merge = chooseMerge(late, NOW);
  expect([merge?.partitionMs, merge?.segments]).toEqual([12 * HOUR, late.slice(1)]);
});

test('once such an hour is old, what is left of it is merged by itself, and stays', () => {
  const hourStart = hour - 24 * HOUR;
  const left = runs([...many(2, 16 * FLUSH), ...many(6, FLUSH)], { zones: 1, hourStart });
  expect(chooseMerge(left, NOW)?.segments).toEqual(left.slice(2, 8));
  const merged = runs([16 * FLUSH, 16 * FLUSH, 6 * FLUSH], { zones: 1, hourStart });
  expect(chooseMerge(merged, NOW)).toBeUndefined();
});
