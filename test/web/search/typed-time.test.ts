import { describe, expect, test } from 'vitest';
import { readTypedTime, readTypedWindow } from '../../../web/search/typed-time.ts';

const NOW = Date.UTC(2026, 10, 24, 12, 30);
const local = (...parts: [number, number, number, number, number]): number => new Date(...parts).getTime();

describe('a typed time', () => {
  test.each([
    ['2026-11-24 09:09', Date.UTC(2026, 10, 24, 9, 9)],
    ['2026-11-24T09:09:30', Date.UTC(2026, 10, 24, 9, 9, 30)],
    ['2026-11-24T09:09:30.5Z', Date.UTC(2026, 10, 24, 9, 9, 30, 500)],
    ['2026-11-24 9:09 utc', Date.UTC(2026, 10, 24, 9, 9)],
    ['2026-11-24 09:09 +0530', Date.UTC(2026, 10, 24, 3, 39)],
    ['2026-11-24T09:09-01:00', Date.UTC(2026, 10, 24, 10, 9)],
    ['2026-11-24', Date.UTC(2026, 10, 24)],
    [' 09:09 ', Date.UTC(2026, 10, 24, 9, 9)],
    ['9:09:05', Date.UTC(2026, 10, 24, 9, 9, 5)],
    ['1795514400', 1_795_514_400_000],
    ['1795514400123', 1_795_514_400_123],
    ['Now', NOW],
  ])('%s is read by the clock of UTC', (typed, ms) => {
    expect(readTypedTime(typed, 'utc', NOW)).toBe(ms);
  });

  test('without a zone is by the local clock where that is chosen', () => {
    expect(readTypedTime('2026-11-24 09:09', 'local', NOW)).toBe(local(2026, 10, 24, 9, 9));
    expect(readTypedTime('2026-11-24 09:09Z', 'local', NOW)).toBe(Date.UTC(2026, 10, 24, 9, 9));
  });

  test.each([
    '',
    'yesterday',
    '2026-13-01',
    '2026-02-31',
    '2026-11-31 09:09 +02:00',
    '2025-02-29',
    '25:00',
    '2026-11-24 09:99',
    '123',
    '24/11/2026',
    '2026-11-24 09:09 CET',
  ])('%j is none', (typed) => {
    expect(readTypedTime(typed, 'utc', NOW)).toBeNull();
  });

  test('may be of a leap day', () => {
    expect(readTypedTime('2028-02-29', 'utc', NOW)).toBe(Date.UTC(2028, 1, 29));
  });
});

describe('a typed window', () => {
  test('has two ends within what can be searched', () => {
    expect(readTypedWindow('09:00', 'now', 'utc', NOW)).toEqual({ from: Date.UTC(2026, 10, 24, 9), to: NOW });
  });

  test.each([
    ['soon', 'now', { end: 'from', message: expect.stringContaining('such as') }],
    ['09:00', '', { end: 'to', message: expect.stringContaining('such as') }],
    ['2026-11-20', 'now', { end: 'from', message: 'Events are searched up to 72 hours back' }],
    ['09:00', '13:00', { end: 'to', message: 'This is in the future' }],
    ['10:00', '10:00', { end: 'to', message: 'The end has to be after the beginning' }],
  ])('from %s to %s is refused at the end that is wrong', (from, to, fault) => {
    expect(readTypedWindow(from, to, 'utc', NOW)).toEqual(fault);
  });
});
