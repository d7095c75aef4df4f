import { expect, inject, test } from 'vitest';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

/** The grounds of elements, as the browser draws them. */
const grounds = (selector: string): string =>
  `[...document.querySelectorAll('${selector}')].map((element) => getComputedStyle(element).backgroundColor)`;

/** How many pixels of the chart have each of these colours. */
const pixels = (colors: readonly string[]): string => `(() => {
  const canvas = document.querySelector('.plot canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const color = 'rgb(' + data[at] + ', ' + data[at + 1] + ', ' + data[at + 2] + ')';
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  return ${JSON.stringify(colors)}.map((color) => counts.get(color) ?? 0);
})()`;

test.each([
  ['light', 'dark'],
  ['dark', 'light'],
] as const)(
  'in a %s palette that the system forces, chart, legend and bars keep their colours, and a pressed peak has a border',
  async (palette, chosen) => {
    // The scheme that somebody has chosen on the page is not that of the palette.
    const initScript = `localStorage.setItem('shieldlog colour scheme', '${chosen}');`;
    const { page } = await openPage('', { forcedColors: 'active', colorScheme: palette, initScript });
    await page.getByRole('region', { name: 'Fields' }).waitFor();
    const swatches = (await page.evaluate(grounds('.swatch'))) as readonly string[];
    expect(new Set(swatches).size).toBe(swatches.length);
    expect(swatches.length).toBeGreaterThan(2);
    for (const count of (await page.evaluate(pixels(swatches))) as readonly number[]) expect(count).toBeGreaterThan(0);
    const [ground] = (await page.evaluate(grounds('body'))) as readonly string[];
    for (const share of (await page.evaluate(grounds('.facet-line .share'))) as readonly string[]) expect(share).not.toBe(ground);
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light dark');

    const peak = page.getByRole('list', { name: 'Peaks' }).getByRole('button').first();
    const border = () => page.evaluate("getComputedStyle(document.querySelector('.peak')).borderStyle");
    expect(await border()).toBe('solid');
    await peak.click();
    await page.getByRole('region', { name: 'What is different' }).waitFor();
    expect(await border()).toBe('double');
    for (const bar of (await page.evaluate(grounds('.pair-bar'))) as readonly string[]) expect(bar).not.toBe(ground);
  },
);
