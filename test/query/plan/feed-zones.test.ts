import { describe, expect, test } from 'vitest';
import { type FeedZones, hasPart, type ZonePart, zonePartIn, zonesAmong, zonesOfPart } from '../../../query/plan/feed-zones.ts';
import { LARGEST_ZONE_ID, SMALLEST_ZONE_ID } from '../../../query/zone-id.ts';

describe('a part of the zones', () => {
  test.each([
    ['1/1', { modulo: 1, remainder: 0 }],
    ['2/4', { modulo: 4, remainder: 1 }],
    ['1000/1000', { modulo: 1000, remainder: 999 }],
  ])('is written as %s', (text, part) => {
    expect(zonePartIn(text)).toEqual(part);
  });

  test.each([
    '',
    '/',
    '1',
    '1/',
    '/1',
    '0/1',
    '2/1',
    '1/0',
    '1001/1001',
    '1/1001',
    '-1/2',
    '1/-2',
    '1/2/3',
    ' 1/2',
    '1.0/2',
    '0x1/2',
    'a/b',
  ])('is not written as %j', (text) => {
    expect(zonePartIn(text)).toBeNull();
  });

  test.each([
    ['1/2', [-2, 0, 2, 1_000]],
    ['2/2', [-1, 1, 999]],
    ['3/3', [-1, 2]],
  ])('%s has the zones whose number has its remainder, which is never negative', (text, expected) => {
    expect(zonesOfPart([-2, -1, 0, 1, 2, 999, 1_000], zonePartIn(text) as ZonePart)).toEqual(expected);
  });

  test('is one of several to which every zone belongs once', () => {
    const zones = [SMALLEST_ZONE_ID, -1_001, -7, -1, 0, 1, 6, 7, 8, 999, 1_000, 1_001, LARGEST_ZONE_ID];
    for (const parts of [1, 2, 3, 7, 999, 1_000]) {
      const all = Array.from({ length: parts }, (_, index) => zonesOfPart(zones, zonePartIn(`${index + 1}/${parts}`) as ZonePart));
      expect((all as number[][]).flat().sort((a, b) => a - b)).toEqual(zones);
    }
  });

  test.each([
    ['1/1', '3/7', true],
    ['1/2', '1/4', true],
    ['1/2', '3/4', true],
    ['1/2', '2/4', false],
    ['2/4', '2/4', true],
    ['2/4', '2/2', false],
    ['1/2', '1/3', false],
  ])('%s has all of %s: %s', (whole, part, expected) => {
    expect(hasPart(zonePartIn(whole) as ZonePart, zonePartIn(part) as ZonePart)).toBe(expected);
  });
});

test.each<[string, FeedZones, readonly number[]]>([
  ['all', 'all', [-1, 4, 5]],
  ['those of a list, known or not', [9], [9]],
  ['those of a part', { modulo: 2, remainder: 1 }, [-1, 5]],
  ['of a list in no part none', [], []],
])('of the zones that are known, %s are selected', (_, zones, expected) => {
  expect([...zonesAmong(zones, [-1, 4, 5])]).toEqual(expected);
});
