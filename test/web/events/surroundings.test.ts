import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ErrorList } from '../../../query/request/request-errors.ts';
import { checkWindow } from '../../../query/request/request-window.ts';
import type { Window } from '../../../web/api/explore.ts';
import { around, EACH_SIDE, pageSizeForEnd, windowsAround } from '../../../web/events/surroundings.ts';
import { assertProperty } from '../../random/assert-property.ts';

test('the last page of any number of events has as many as are wanted', () => {
  assertProperty(
    fc.property(fc.nat(1_000_000), (total) => {
      const size = pageSizeForEnd(total, 20);
      expect(size).toBeLessThanOrEqual(500);
      const lastPage = total % size === 0 ? size : total % size;
      expect(Math.min(lastPage, total)).toBeGreaterThanOrEqual(Math.min(20, total));
    }),
  );
});

describe('the windows around an event', () => {
  const NOW = 1_795_514_400_000;
  const REACH = 72 * 3_600_000;
  const isTaken = (window: Window): boolean =>
    checkWindow({ from: BigInt(window.from), to: BigInt(window.to) }, NOW, new ErrorList()) !== undefined;

  test.each([0, 1, REACH - 1, REACH, REACH + 1, REACH + 600_000, -30_000])('of %i ms ago are such as the program takes', (age) => {
    const { after, before } = windowsAround(NOW - age, NOW);
    expect(isTaken(after)).toBe(true);
    expect(before === null ? age >= REACH : isTaken(before)).toBe(true);
  });
});

const rowsOf = (...times: readonly number[]) =>
  times.map((timestamp) => ({ logId: `e${timestamp}`, timestamp, shieldZoneId: 7, fields: {}, logText: '{}' }));

const downFrom = (time: number, count: number) => rowsOf(...Array.from({ length: count }, (_, index) => time - index));

describe('the events around one', () => {
  const [row] = rowsOf(50);
  if (row === undefined) throw new Error('there is no row');

  test('are as many as fit on each side, and say that there are more', () => {
    const found = around(row, downFrom(70, 21), downFrom(49, EACH_SIDE), { newer: 30, older: 12 });
    expect(found.rows.map(({ timestamp }) => timestamp)).toEqual(downFrom(60, 21).map(({ timestamp }) => timestamp));
    expect([found.moreNewer, found.moreOlder]).toEqual([true, true]);
  });

  test('are all, where there are few', () => {
    const found = around(row, rowsOf(52, 50), rowsOf(3), { newer: 2, older: 1 });
    expect(found).toEqual({ rows: rowsOf(52, 50, 3), moreNewer: false, moreOlder: false });
  });

  test('have the event itself where the program does not know it yet', () => {
    expect(around(row, rowsOf(52), rowsOf(3), { newer: 1, older: 1 }).rows).toEqual(rowsOf(52, 50, 3));
  });
});
