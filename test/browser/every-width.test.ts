import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { violationsOf } from './accessibility.ts';
import { startChromium } from './chromium.ts';
import { openPage, PAGE } from './watched-page.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await startChromium();
});

afterAll(() => browser?.close());

/** A state by the query of its link, and what is seen when it is there. */
const STATES: readonly (readonly [name: string, query: string, region: string])[] = [
  ['events', '', 'Events'],
  ['groups', 'group=asn,country', 'Groups'],
];

const WIDTHS = [
  { width: 1280, height: 900 },
  { width: 3840, height: 1600 },
];

describe.each(STATES)('%s', (_name, query, region) => {
  for (const viewport of WIDTHS) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`at ${viewport.width} px, ${colorScheme}, has nothing that axe objects to, and no scroll bar to the side`, async () => {
        const { page, close } = await openPage(browser, `${inject('demoUrl')}${PAGE}?${query}`, { viewport, colorScheme });
        await page.getByRole('region', { name: region, exact: true }).getByRole('button').first().waitFor();
        expect(await violationsOf(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
        await close();
      });
    }
  }
});
