import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { colorOf } from '../../../web/overview/series-colors.ts';

const CSS = readFileSync(new URL('../../../web/style/base.css', import.meta.url), 'utf8');

const layer = (value: string | null, isOther = false) => ({ value, isOther, total: 1, counts: [1] });

/** A colour in OKLab, where distances are about as large as they look. */
function labOf(hex: string): readonly [number, number, number] {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function colorsOf(property: string): readonly string[] {
  const [, light = '', dark = ''] = new RegExp(`${property}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(CSS) ?? [];
  return [light, dark];
}

function distance(one: string, other: string): number {
  const [a, b] = [labOf(one), labOf(other)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

const USUAL = [...['blocked', 'Challenged', 'logged', 'allowed', ''].map((value) => layer(value)), layer(null, true)];
const PROPERTIES = USUAL.map((one, index) => colorOf(one, index, 'action'));

test.each([
  ['light', 0],
  ['dark', 1],
])('the usual actions, none and all others are told apart in the %s scheme', (_scheme, at) => {
  const colors = PROPERTIES.map((property) => colorsOf(property)[at] ?? '');
  for (const [index, color] of colors.entries()) {
    for (const other of colors.slice(index + 1)) expect(distance(color, other), `${color} and ${other}`).toBeGreaterThan(0.15);
  }
});

test.each([0, 1, 2, 3, 4, 5, 11])('an unusual action at place %i has the colour of no usual one', (index) => {
  expect(PROPERTIES).not.toContain(colorOf(layer('redirected'), index, 'action'));
});

test('values of other fields have the colours of their places', () => {
  expect([0, 11, 12].map((index) => colorOf(layer('blocked'), index, 'country'))).toEqual(['--series-1', '--series-12', '--series-1']);
  expect(colorOf(layer(null, true), 3, 'country')).toBe('--other');
});
