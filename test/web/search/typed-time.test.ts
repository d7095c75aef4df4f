import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTypedTime, readTypedWindow, typedEnds, windowText } from '../../../web/search/typed-time.ts';
import { timeText } from '../../../web/widgets/format.ts';

const NOW = Date.UTC(2026, 10, 24, 12, 30);
const SHOWN = { from: 0, to: 0 };
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
    ['2026-11-24 09:09:30.123456', Date.UTC(2026, 10, 24, 9, 9, 30, 123)],
    ['2026-11-24T09:09:30.123456789Z', Date.UTC(2026, 10, 24, 9, 9, 30, 123)],
    ['2026-11-24 09:09:30,958', Date.UTC(2026, 10, 24, 9, 9, 30, 958)],
    ['09:09:30,958', Date.UTC(2026, 10, 24, 9, 9, 30, 958)],
    ['2026-11-24 09:09:30+01', Date.UTC(2026, 10, 24, 8, 9, 30)],
    ['2026-11-24 09:09:30.958123 -03', Date.UTC(2026, 10, 24, 12, 9, 30, 958)],
    ['24/Nov/2026:09:09:30 +0100', Date.UTC(2026, 10, 24, 8, 9, 30)],
    ['[24/Nov/2026:09:09:30 +0000]', Date.UTC(2026, 10, 24, 9, 9, 30)],
    ['24/Nov/2026:09:09:30', Date.UTC(2026, 10, 24, 9, 9, 30)],
    ['1795514400123456', 1_795_514_400_123],
    ['Now', NOW],
    ['now-1h', NOW - 3_600_000],
    ['now - 90m', NOW - 90 * 60_000],
    ['now-30s', NOW - 30_000],
    ['NOW-2D', NOW - 48 * 3_600_000],
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
    '24/Foo/2026:09:09:30 +0100',
    '31/Nov/2026:09:09:30 +0100',
    '2026-11-24 09:09:30.1234567890',
    '2026-11-24 09:09:30,',
    'now-1w',
    'now-',
    'now+1h',
    '179551440012',
  ])('%j is none', (typed) => {
    expect(readTypedTime(typed, 'utc', NOW)).toBeNull();
  });

  test('may be of a leap day', () => {
    expect(readTypedTime('2028-02-29', 'utc', NOW)).toBe(Date.UTC(2028, 1, 29));
  });
});

describe.each([
  { zone: 'Europe/Berlin', twice: '2026-10-25T00:30Z', shown: '2026-10-25 02:30:00', offsets: ['+02:00', '+01:00'], laterBy: 60 },
  { zone: 'America/St_Johns', twice: '2026-11-01T03:45Z', shown: '2026-11-01 01:15:00', offsets: ['-02:30', '-03:30'], laterBy: 60 },
  { zone: 'Australia/Lord_Howe', twice: '2026-04-04T14:45Z', shown: '2026-04-05 01:45:00', offsets: ['+11:00', '+10:30'], laterBy: 30 },
])('in the hour that comes twice in $zone', ({ zone, twice, shown, offsets, laterBy }) => {
  const before = process.env['TZ'];
  beforeAll(() => {
    process.env['TZ'] = zone;
  });
  afterAll(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
  const earlier = Date.parse(twice);
  const later = earlier + laterBy * 60_000;
  const now = later + 3_600_000;

  test('a time is shown with its offset, is read back with it, and is the earlier one without', () => {
    expect([earlier, later].map((ms) => timeText(ms, 'local'))).toEqual(offsets.map((offset) => `${shown} ${offset}`));
    for (const ms of [earlier, later]) expect(readTypedTime(timeText(ms, 'local'), 'local', now)).toBe(ms);
    expect(readTypedTime(shown, 'local', now)).toBe(earlier);
    expect(timeText(earlier, 'utc')).not.toMatch(/[+-]\d\d:\d\d$/);
  });

  test('of the minutes of three days those have an offset whose text is there twice, and each is read back', () => {
    const minutes = Array.from({ length: 3 * 24 * 60 }, (_, index) => earlier + (index - 36 * 60) * 60_000);
    const texts = minutes.map((ms) => timeText(ms, 'local'));
    const once = Map.groupBy(texts, (text) => text.slice(0, 19));
    expect(texts.filter((text) => text.length > 19).length).toBe(2 * laterBy);
    for (const [clock, same] of once) expect(same.map((text) => text !== clock)).toEqual(same.length === 1 ? [false] : [true, true]);
    expect(texts.map((text) => readTypedTime(text, 'local', now))).toEqual(minutes);
  });

  test('a window of a text that nobody has changed keeps its milliseconds, also where its texts are the other way round', () => {
    const window = { from: earlier + 29_123, to: later - 13 * 60_000 + 7 };
    const [from, to] = [window.from, window.to].map((ms) => timeText(ms, 'local'));
    expect(readTypedWindow(from ?? '', to ?? '', 'local', now, window)).toEqual(window);
    expect(readTypedWindow(from ?? '', 'now', 'local', now, window)).toEqual({ from: window.from, to: now });
  });
});

test.each([
  ['Europe/Berlin', '2026-03-29 02:30', '2026-03-29 03:30'],
  ['America/St_Johns', '2026-03-08 02:00', '2026-03-08 01:59'],
  ['Australia/Lord_Howe', '2026-10-04 02:15', '2026-10-04 02:30'],
])('in %s %s is a time that no clock shows, and %s is one', (zone, skipped, shown) => {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    expect(readTypedTime(skipped, 'local', NOW)).toBe('skipped');
    expect(readTypedTime(`${skipped}+00:00`, 'local', NOW)).toEqual(expect.any(Number));
    expect(readTypedTime(skipped, 'utc', NOW)).toEqual(expect.any(Number));
    expect(timeText(Number(readTypedTime(shown, 'local', NOW)), 'local')).toBe(`${shown}:00`);
    const fault = { end: 'from', message: 'No clock shows this time here: it is put forward over it' };
    expect(readTypedWindow(skipped, 'now', 'local', NOW, SHOWN)).toEqual(fault);
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

describe('a window as the page shows it', () => {
  test.each([
    ['2026-11-24 09:09:00 – 09:36:00 UTC', '2026-11-24 09:09:00 UTC', '2026-11-24 09:36:00 UTC'],
    ['2026-11-23 23:00:00 – 2026-11-24 01:00:00', '2026-11-23 23:00:00', '2026-11-24 01:00:00'],
    ['2026-10-25 02:30:00 +02:00 – 02:30:00 +01:00', '2026-10-25 02:30:00 +02:00', '2026-10-25 02:30:00 +01:00'],
    ['2026-11-24 09:09:00 to 2026-11-24 09:36:00', '2026-11-24 09:09:00', '2026-11-24 09:36:00'],
    ['09:09 – 09:36', '09:09', '09:36'],
    ['now-2h – now', 'now-2h', 'now'],
  ])('%s has two ends', (typed, from, to) => {
    expect(typedEnds(typed, 'utc', NOW)).toEqual({ from, to });
  });

  test.each(['', 'now', '2026-11-24 09:09', '2026-11-24 09:09 -03', '24/Nov/2026:09:09:30 +0100', 'today', '09:09 – 1', 'soon to 09:36'])(
    '%j is one time',
    (typed) => {
      expect(typedEnds(typed, 'utc', NOW)).toBeNull();
    },
  );

  test.each([
    ['within a day', { from: Date.UTC(2026, 10, 24, 9, 9), to: Date.UTC(2026, 10, 24, 9, 36, 5) }],
    ['over midnight', { from: Date.UTC(2026, 10, 23, 23, 9), to: Date.UTC(2026, 10, 24, 9, 36) }],
  ])('%s is read back', (_what, window) => {
    for (const clock of ['utc', 'local'] as const) {
      const { from = '', to = '' } = typedEnds(windowText(window, clock), clock, NOW) ?? {};
      expect(readTypedWindow(from, to, clock, NOW, SHOWN)).toEqual(window);
    }
  });
});

describe('a typed window', () => {
  test('has two ends within what can be searched', () => {
    expect(readTypedWindow('09:00', 'now', 'utc', NOW, SHOWN)).toEqual({ from: Date.UTC(2026, 10, 24, 9), to: NOW });
  });

  test.each([
    ['soon', 'now', { end: 'from', message: expect.stringContaining('such as') }],
    ['09:00', '', { end: 'to', message: expect.stringContaining('such as') }],
    ['2026-11-20', 'now', { end: 'from', message: 'Events are searched up to 72 hours back' }],
    ['09:00', '13:00', { end: 'to', message: 'This is in the future' }],
    ['10:00', '10:00', { end: 'to', message: 'The end has to be after the beginning' }],
  ])('from %s to %s is refused at the end that is wrong', (from, to, fault) => {
    expect(readTypedWindow(from, to, 'utc', NOW, SHOWN)).toEqual(fault);
  });
});
