import { expect, test } from 'vitest';
import { type PartitionZone, planFlush } from '../../../../store/embedded/segment/segment-plan.ts';

const HOUR = 3_600_000;

function countOf(partition: number, zone: number, events: number): PartitionZone {
  const [minTimestamp, maxTimestamp] = [partition * HOUR + zone, partition * HOUR + zone + 1];
  return { partition, zone, events, minTimestamp, maxTimestamp, minSequence: BigInt(1 + zone), maxSequence: BigInt(1 + zone + partition) };
}

test('the catalog is told from when to when a segment reaches, its sequences, and the events of each zone', () => {
  const [plan, ...others] = planFlush([countOf(0, 5, 10), countOf(1, 5, 20), countOf(2, 3, 40)]);
  expect(others).toEqual([]);
  expect(plan?.slice).toEqual({ fromMs: 0, toMs: 12 * HOUR, firstZone: 3, lastZone: 5, zones: 'small' });
  expect(plan?.content).toEqual({
    rows: 70,
    minTimestamp: 5,
    maxTimestamp: 2 * HOUR + 4,
    minSequence: 4n,
    maxSequence: 7n,
    zoneRows: new Map([
      [5, 30],
      [3, 40],
    ]),
  });
});

test('a segment of one zone in one hour is described by that alone', () => {
  const [plan] = planFlush([countOf(0, 5, 10)]);
  expect(plan?.content).toEqual({
    rows: 10,
    minTimestamp: 5,
    maxTimestamp: 6,
    minSequence: 6n,
    maxSequence: 6n,
    zoneRows: new Map([[5, 10]]),
  });
});

test('a segment can hold events of very many zones', () => {
  const [plan] = planFlush(Array.from({ length: 200_000 }, (_, zone) => countOf(1, zone, 1)));
  expect(plan?.content).toMatchObject({
    rows: 200_000,
    minTimestamp: HOUR,
    maxTimestamp: HOUR + 200_000,
    minSequence: 1n,
    maxSequence: 200_001n,
  });
  expect(plan?.content.zoneRows.size).toBe(200_000);
});

test('segments of large zones get large row groups, those of small zones small ones', () => {
  const plans = planFlush([countOf(0, 1, 500_000), ...Array.from({ length: 1_000 }, (_, zone) => countOf(0, 2 + zone, 30))]);
  expect(plans.map(({ slice }) => [slice.firstZone, slice.zones])).toEqual([
    [1, 'large'],
    [2, 'small'],
  ]);
});
