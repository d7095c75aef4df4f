import { expect, test } from 'vitest';
import { exportPath, fileColumns } from '../../../web/files/export-request.ts';
import { DEFAULT_STATE, type Zones } from '../../../web/state/explorer-state.ts';
import { OFFERED_COLUMNS, type OfferedColumn } from '../../../web/state/offered-columns.ts';
import { questionOf } from '../../../web/state/question.ts';

const of = (zones: Zones) => questionOf({ ...DEFAULT_STATE, zones }, Date.UTC(2026, 0, 1));

test.each<[zones: Zones, columns: readonly OfferedColumn[] | null, hasByteOrderMark: boolean, path: string]>([
  ['all', null, false, 'shield/event-logs/all/export'],
  [[7], null, true, 'shield/event-logs/7/export?bom=true'],
  [[7], ['url', 'shieldZoneId', 'time'], false, 'shield/event-logs/7/export?columns=url%2Ctime'],
  [[1, 7], ['url', 'shieldZoneId', 'time'], true, 'shield/event-logs/1,7/export?columns=url%2CshieldZoneId%2Ctime&bom=true'],
  ['all', ['shieldZoneId'], false, 'shield/event-logs/all/export?columns=shieldZoneId'],
])('events of %s with the columns %j, with a byte order mark: %s', (zones, columns, hasByteOrderMark, path) => {
  expect(exportPath(of(zones), { columns, hasByteOrderMark })).toBe(path);
});

test('every column of a table is one of a file, but for the zone of one zone', () => {
  expect(fileColumns(of('all'), OFFERED_COLUMNS)).toEqual(OFFERED_COLUMNS);
  expect(fileColumns(of([7]), OFFERED_COLUMNS)).toEqual(OFFERED_COLUMNS.filter((column) => column !== 'shieldZoneId'));
  expect(fileColumns(of([7]), ['shieldZoneId'])).toEqual([]);
});
