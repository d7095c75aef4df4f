import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shownLabels, timeTicks } from '../../../web/groups/time-axis.ts';
import { axisLabels } from '../../../web/widgets/format.ts';
import { assertProperty } from '../../random/assert-property.ts';

const at = (text: string): number => Date.parse(text);

const words = (from: string, to: string): readonly string[] =>
  [...shownLabels(timeTicks({ from: at(from), to: at(to) }, 'utc', 4))].map(({ label }) => label);

test.each([
  ['2026-11-25T15:36Z', '2026-11-26T03:36Z', ['18:00', '21:00', '26 Nov']],
  ['2026-11-25T21:00Z', '2026-11-26T09:00Z', ['21:00', '26 Nov', '06:00']],
  ['2026-11-24T10:00Z', '2026-11-24T11:00Z', ['10:00', '10:15', '10:30', '10:45']],
  ['2026-11-24T22:30Z', '2026-11-25T10:30Z', ['25 Nov', '06:00']],
  ['2026-11-24T10:00:00Z', '2026-11-24T10:00:04Z', ['10:00:00', '10:00:02']],
])('the words of an axis from %s to %s do not touch', (from, to, labels) => {
  expect(words(from, to)).toEqual(labels);
});

test.each([
  ['local' as const, ['02:00 +02:00', '02:30 +02:00', '02:00 +01:00', '02:30 +01:00']],
  ['utc' as const, ['00:00', '00:30', '01:00', '01:30']],
])('the marks of the hour that comes twice say which it is by the %s clock, those of UTC need not', (clock, labels) => {
  const before = process.env['TZ'];
  process.env['TZ'] = 'Europe/Berlin';
  try {
    const window = { from: at('2026-10-24T23:45Z'), to: at('2026-10-25T01:40Z') };
    expect(timeTicks(window, clock, 4).map(({ label }) => label.replace('25 Oct', '00:00'))).toEqual(labels);
    const seconds = ['00:30', '01:30', '02:30'].map((time) => at(`2026-10-25T${time}Z`) / 1000);
    const [earlier, later] = clock === 'local' ? [' +02:00', '\n+01:00'] : ['', ''];
    const [one, two, three] = clock === 'local' ? ['02:30', '02:30', '03:30'] : ['00:30', '01:30', '02:30'];
    expect(axisLabels(seconds, 60, clock)).toEqual([`${one}\n10-25${earlier}`, `${two}${later}`, three]);
    expect(axisLabels(seconds.slice(0, 1), 30, clock)).toEqual([`${one}:00\n10-25${earlier}`]);
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

test.each([
  ['Europe/Berlin', '2026-10-23T22:00Z', '2026-10-26T22:00Z', ['24 Oct', '25 Oct', '26 Oct']],
  ['Europe/Berlin', '2026-03-28T23:00Z', '2026-03-29T06:00Z', ['29 Mar', '04:00', '06:00']],
  ['America/New_York', '2026-03-08T05:00Z', '2026-03-09T04:00Z', ['8 Mar', '06:00', '12:00', '18:00']],
  ['Australia/Lord_Howe', '2026-10-03T13:30Z', '2026-10-04T13:00Z', ['4 Oct', '06:00', '12:00', '18:00']],
  ['Australia/Lord_Howe', '2026-04-04T13:00Z', '2026-04-05T12:30Z', ['5 Apr', '06:00', '12:00', '18:00']],
])('the marks of a day on which the clock of %s is put on or back are round times', (zone, from, to, labels) => {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    expect(timeTicks({ from: at(from), to: at(to) }, 'local', 4).map(({ label }) => label)).toEqual(labels);
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

describe('the marks of an axis', () => {
  test.each([
    ['2026-11-24T10:00Z', '2026-11-24T11:00Z', ['10:00', '10:15', '10:30', '10:45']],
    ['2026-11-24T10:07Z', '2026-11-25T10:07Z', ['12:00', '18:00', '25 Nov', '06:00']],
    ['2026-11-22T10:00Z', '2026-11-25T10:00Z', ['23 Nov', '24 Nov', '25 Nov']],
    ['2026-11-24T10:00:00Z', '2026-11-24T10:00:04Z', ['10:00:00', '10:00:01', '10:00:02', '10:00:03']],
  ])('from %s to %s are round times', (from, to, labels) => {
    expect(timeTicks({ from: at(from), to: at(to) }, 'utc', 4).map(({ label }) => label)).toEqual(labels);
  });

  test('stand where their times are', () => {
    const [first, second] = timeTicks({ from: at('2026-11-24T00:30Z'), to: at('2026-11-24T04:30Z') }, 'utc', 4);
    expect([first, second]).toEqual([
      { at: 0.125, label: '01:00' },
      { at: 0.375, label: '02:00' },
    ]);
  });

  test('are in the window and no more than wanted, whatever the window and the clock', () => {
    const window = fc.tuple(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1, max: 72 * 3_600_000 }));
    assertProperty(
      fc.property(window, fc.constantFrom('utc' as const, 'local' as const), ([from, length], clock) => {
        const ticks = timeTicks({ from, to: from + length }, clock, 4);
        expect(ticks.length).toBeLessThanOrEqual(4);
        for (const tick of ticks) expect(tick.at >= 0 && tick.at < 1).toBe(true);
      }),
    );
  });
});
