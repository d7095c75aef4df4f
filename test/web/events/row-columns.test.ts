import { describe, expect, test } from 'vitest';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import { cellText, parseColumns, ROW_COLUMNS, usualColumns, withColumn } from '../../../web/events/row-columns.ts';

test('every field of an event can be a column', () => {
  expect(ROW_COLUMNS).toEqual(expect.arrayContaining(['time', 'logId', 'shieldZoneId', ...TEXT_FIELDS]));
  expect(ROW_COLUMNS).toHaveLength(TEXT_FIELDS.length + 3);
});

test('a cell is what the event has, or nothing', () => {
  const row = { logId: 'a', timestamp: 0, shieldZoneId: 7, fields: { ip: '::1', url: '' }, logText: '{}' };
  const cells = (['logId', 'shieldZoneId', 'ip', 'url', 'ua'] as const).map((column) => cellText(row, column));
  expect(cells).toEqual(['a', '7', '::1', '', undefined]);
});

describe('a choice of columns', () => {
  test('puts a column in at its place, and keeps the order of the others', () => {
    expect(withColumn(['url', 'time'], 'ip', true)).toEqual(['url', 'time', 'ip']);
    expect(withColumn(['action', 'url'], 'time', true)).toEqual(['time', 'action', 'url']);
    expect(withColumn(['time', 'ip'], 'ip', true)).toEqual(['time', 'ip']);
  });

  test('keeps the last column', () => {
    expect(withColumn(['time', 'ip'], 'time', false)).toEqual(['ip']);
    expect(withColumn(['ip'], 'ip', false)).toEqual(['ip']);
  });

  test.each([
    ['ip,time', ['ip', 'time']],
    [usualColumns(true).join(','), ['time', 'shieldZoneId', 'action', 'feature', 'ip', 'country', 'url']],
    ['', null],
    ['ip,ip', null],
    ['ip,nothing', null],
  ])('is read from a link: %s', (text, columns) => {
    expect(parseColumns(text)).toEqual(columns);
  });
});
