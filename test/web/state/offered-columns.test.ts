import { describe, expect, test } from 'vitest';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import { OFFERED_COLUMNS, readColumns, usualColumns, withColumn } from '../../../web/state/offered-columns.ts';

test('every field of an event can be a column, once, the log id last', () => {
  expect([...OFFERED_COLUMNS].sort()).toEqual(['time', 'logId', 'shieldZoneId', ...TEXT_FIELDS].sort());
  expect([OFFERED_COLUMNS[0], OFFERED_COLUMNS.at(-1)]).toEqual(['time', 'logId']);
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
    [usualColumns(true).join(','), ['time', 'shieldZoneId', 'action', 'feature', 'ruleName', 'ip', 'country', 'url']],
    ['', null],
    ['ip,ip', null],
    ['ip,nothing', null],
  ])('is read from a link: %s', (text, columns) => {
    expect(readColumns(text)).toEqual(columns);
  });
});
