import { expect, test } from 'vitest';
import type { SizeFigures } from '../../../bench/report/race-result.ts';
import { raceText } from '../../../bench/report/race-text.ts';
import { alone, coldOnly, full, hotOnly, nothing, withTimes } from './race-examples.ts';

/** The words of the line that begins with a text. */
function lineOf(text: string, start: string): string {
  const found = text.split('\n').find((line) => line.startsWith(start));
  return (found ?? '').replaceAll(/\s+/g, ' ').trim();
}

test('a race is told in tables: intake, searches at each temperature, growth', () => {
  const [, later = ''] = raceText(full).split('4,000,000 events of 1140 bytes: intake');
  expect(lineOf(later, 'shieldlog ')).toBe('shieldlog 100,000 80,000 1.25 512 MiB 142');
  expect(lineOf(later, 'first page')).toBe('first page 123,456 40 280 5.80x 80 840 9.44x 16 80 3.46x');
  expect(lineOf(raceText(full), 'large zone')).toBe('large zone 500,000 190 370 1.90x 19 190 6.90x 10% 51%');
  const [, growth = ''] = raceText(full).split('the time grows by this power');
  expect(lineOf(growth, 'first page')).toBe('first page 1.00 1.00');
});

test('our searches are told beside their floor, and a mean that no row below it lowers', () => {
  const size = full.sizes[0] as SizeFigures;
  const row = (title: string, ours: number, least: number) => ({ name: title, title, total: 7, oursMs: [ours], floorMs: [least] });
  const text = raceText({ ...full, sizes: [{ ...size, floor: [row('slow', 40, 10), row('fast', 5, 10)] }] });
  const [, floor = ''] = text.split('beside its floor');
  expect(lineOf(floor, 'slow')).toBe('slow 7 40 10 4.00x');
  expect(lineOf(floor, 'fast')).toBe('fast 7 5.0 10 0.50x');
  expect(lineOf(floor, 'geometric mean')).toBe('geometric mean, none below 1 2.00x');
});

test.each([
  ['one engine', alone],
  ['hot only', hotOnly],
  ['cold only', coldOnly],
  ['an intake whose searches were only compared', withTimes(() => ({ hotMs: [], coldMs: [] }))],
  ['nothing', nothing],
])('what was not measured is left out: %s', (_, result) => {
  expect(raceText(result)).not.toMatch(/NaN|Infinity|undefined/);
});

test('the growth is left out where no search was timed', () => {
  expect(raceText(coldOnly)).not.toContain('the time grows by this power');
});
