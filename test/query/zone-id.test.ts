import { expect, test } from 'vitest';
import { zoneIdIn } from '../../query/zone-id.ts';

test.each([
  ['0', 0],
  ['-0', 0],
  ['007', 7],
  ['2147483647', 2_147_483_647],
  ['-2147483648', -2_147_483_648],
  ['2147483648', null],
  ['-2147483649', null],
  ['99999999999', null],
  ['', null],
  ['-', null],
  ['+7', null],
  ['7.0', null],
  ['1e3', null],
  ['0x10', null],
  [' 7', null],
  ['7\n', null],
  ['٧', null],
])('%j is the zone id %j', (text, zoneId) => {
  expect(zoneIdIn(text)).toBe(zoneId);
});
