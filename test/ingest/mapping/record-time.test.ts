import { describe, expect, it } from 'vitest';
import { parseTime, TIME_FORMS, type TimeForm } from '../../../ingest/mapping/record-time.ts';

const iso = (text: string, form: TimeForm, zoneMinutes: number | null = 0): string | null => {
  const timeMs = parseTime(text, [form], zoneMinutes);
  return timeMs === null ? null : new Date(timeMs).toISOString();
};

describe('unix times in every unit, as digits', () => {
  it.each([
    ['1795838661', '2026-11-28T04:04:21.000Z'],
    ['1795838661.558', '2026-11-28T04:04:21.558Z'],
    ['1795838661.5', '2026-11-28T04:04:21.500Z'],
    ['1795838661.558999999', '2026-11-28T04:04:21.558Z'],
    ['1795838661.', '2026-11-28T04:04:21.000Z'],
    ['1795838661558', '2026-11-28T04:04:21.558Z'],
    ['1795838661558.9', '2026-11-28T04:04:21.558Z'],
    ['1795838661558123', '2026-11-28T04:04:21.558Z'],
    ['1795838661558123456', '2026-11-28T04:04:21.558Z'],
    ['9795838661558123456', '2280-06-01T18:17:41.558Z'],
    ['0001795838661', '2026-11-28T04:04:21.000Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
    ['99999999999', '5138-11-16T09:46:39.000Z'],
    ['100000000000', '1973-03-03T09:46:40.000Z'],
    ['1.795838661e9', '2026-11-28T04:04:21.000Z'],
    ['1.795838661558E+12', '2026-11-28T04:04:21.558Z'],
    ['1.795838661558123e18', '2026-11-28T04:04:21.558Z'],
  ])('%s', (text, time) => {
    expect(iso(text, 'unix')).toBe(time);
  });

  it.each([
    '',
    '-1',
    '-1795838661',
    '+1795838661',
    '12345678901234567890',
    '0x10',
    '1e',
    '1e400',
    'NaN',
    ' 1795838661',
    '1,5',
    '1.5.5',
    '1795838661Z',
  ])('no time: %j', (text) => {
    expect(iso(text, 'unix')).toBeNull();
  });
});

describe('times as texts', () => {
  it.each<[TimeForm, string, string | null]>([
    ['iso', '2026-11-28T04:04:21Z', '2026-11-28T04:04:21.000Z'],
    ['iso', '2026-11-28T04:04:21.1234567Z', '2026-11-28T04:04:21.123Z'],
    ['iso', '2026-11-28T04:04:21.123456789+01:00', '2026-11-28T03:04:21.123Z'],
    ['iso', '2026-11-28T04:04:21.910626-0400', '2026-11-28T08:04:21.910Z'],
    ['iso', '2026-11-28T04:04:21', null],
    ['iso', '2026-02-30T04:04:21Z', null],
    ['clf', '28/Nov/2026:04:28:10 +0000', '2026-11-28T04:28:10.000Z'],
    ['clf', '[28/Nov/2026:04:28:10 -0330]', '2026-11-28T07:58:10.000Z'],
    ['clf', '28/nov/2026:04:28:10.123', '2026-11-28T04:28:10.123Z'],
    ['clf', '31/Nov/2026:04:28:10 +0000', null],
    ['clf', '28/Foo/2026:04:28:10 +0000', null],
    ['clf', '28/Nov/2026:04:28:10 +9900', null],
    ['ctime', 'Mon May  9 09:41:59 2022', '2022-05-09T09:41:59.000Z'],
    ['ctime', 'Sat Nov 28 09:41:59 2026', '2026-11-28T09:41:59.000Z'],
    ['ctime', 'Sat Nov 28 24:00:00 2026', null],
    ['ctime', '28 Nov 2026', null],
    ['yyyy-MM-dd HH:mm:ss', '2018-11-19 22:34:40', '2018-11-19T22:34:40.000Z'],
    ['yyyy-MM-dd HH:mm:ss', '2018/11/19 22:34:40', '2018-11-19T22:34:40.000Z'],
    ['yyyy-MM-dd HH:mm:ss', '2018-11-19T22:34:40.5', '2018-11-19T22:34:40.500Z'],
    ['yyyy-MM-dd HH:mm:ss', '2018-11/19 22:34:40', null],
    ['yyyy-MM-dd HH:mm:ss', '2018-13-19 22:34:40', null],
    ['yyyy-MM-dd HH:mm:ss', '2018-11-19 22:34:40Z', null],
  ])('%s: %s', (form, text, time) => {
    expect(iso(text, form)).toBe(time);
  });

  it('one without a zone is in that of the mapping, or none', () => {
    expect(iso('2018-11-19 22:34:40', 'yyyy-MM-dd HH:mm:ss', 120)).toBe('2018-11-19T20:34:40.000Z');
    expect(iso('Mon May  9 09:41:59 2022', 'ctime', -90)).toBe('2022-05-09T11:11:59.000Z');
    expect(iso('28/Nov/2026:04:28:10', 'clf', null)).toBeNull();
    expect(iso('28/Nov/2026:04:28:10 +0200', 'clf', 60)).toBe('2026-11-28T02:28:10.000Z');
  });

  it('of several forms, the first one that it is in counts', () => {
    expect(parseTime('1795838661', TIME_FORMS, 0)).toBe(1_795_838_661_000);
    expect(parseTime('yesterday', TIME_FORMS, 0)).toBeNull();
  });
});
