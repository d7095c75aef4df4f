import type { Page } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import { COLOUR_RULES, violationsOf } from './accessibility.ts';
import { linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

interface State {
  readonly name: string;
  /** The query of its link. */
  readonly query: string;
  /** What is done to come to the state, and waits until it is there. */
  readonly arrive: (page: Page) => Promise<unknown>;
}

const fields = (page: Page) => page.getByRole('region', { name: 'Fields' });

const STATES: readonly State[] = [
  {
    name: 'the first view',
    query: '',
    arrive: (page) =>
      fields(page)
        .getByRole('button')
        .first()
        .waitFor()
        .then(() => linesAround(page, 0)),
  },
  {
    name: 'more values of a field',
    query: '',
    arrive: async (page) => {
      await fields(page).getByRole('button', { name: 'More values of ip' }).click();
      await fields(page).locator('.whole .value').nth(99).waitFor();
    },
  },
  {
    name: 'the fields folded away',
    query: '',
    arrive: async (page) => {
      await linesAround(page, 0);
      await fields(page).getByRole('button', { name: 'Fields' }).click();
    },
  },
  { name: 'groups', query: 'group=asn,country', arrive: (page) => linesAround(page, 0) },
  {
    name: 'what is different',
    query: '',
    arrive: async (page) => {
      await page.getByRole('list', { name: 'Peaks' }).getByRole('button').first().click();
      await page.getByRole('region', { name: 'What is different' }).getByRole('row').nth(1).waitFor();
    },
  },
  {
    name: 'a comparison with a search line',
    query: 'zone=1&compare-with=country:NL',
    arrive: async (page) => {
      await page.locator('.share-line').waitFor();
      await page.getByRole('button', { name: 'Compare…' }).click();
    },
  },
  {
    name: 'an event',
    query: 'zone=1',
    arrive: async (page) => {
      await linesAround(page, 1);
      await page.locator('[role=grid] [aria-rowindex="3"]').click();
      await page.getByRole('dialog', { name: 'Event', exact: true }).getByRole('treeitem').first().waitFor();
    },
  },
  { name: 'live', query: 'live=on', arrive: (page) => page.getByText('Watching').waitFor() },
  { name: 'nothing found', query: 'q=nowhere+country:NL+-action:allowed', arrive: (page) => page.locator('.notice').waitFor() },
  { name: 'the menu of a value', query: '', arrive: (page) => fields(page).locator('.value').first().click() },
  { name: 'the time', query: '', arrive: (page) => page.getByRole('button', { name: /^Time:/ }).click() },
  { name: 'the zones', query: '', arrive: (page) => page.getByRole('button', { name: /^Zones:/ }).click() },
  { name: 'a new filter', query: '', arrive: (page) => page.getByRole('button', { name: 'Add a filter' }).click() },
  { name: 'the columns', query: '', arrive: (page) => page.getByRole('button', { name: 'Columns' }).click() },
  {
    name: 'the saved searches',
    query: '',
    arrive: async (page) => {
      await page.getByRole('button', { name: 'Saved' }).click();
      await page.keyboard.type('one');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Remove one' }).waitFor();
    },
  },
  {
    name: 'saved searches that cannot be read',
    query: '',
    arrive: async (page) => {
      await page.evaluate("localStorage.setItem('shieldlog.searches', '{')");
      await page.getByRole('button', { name: 'Saved' }).click();
      await page.getByRole('button', { name: 'Start with an empty list' }).waitFor();
    },
  },
  {
    name: 'a rule of alerts',
    query: 'group=ip,country',
    arrive: async (page) => {
      await page.getByRole('button', { name: 'Alert on this' }).click();
      await page.getByRole('slider', { name: 'Threshold' }).waitFor();
    },
  },
  { name: 'the downloads', query: '', arrive: (page) => page.getByRole('button', { name: 'Download' }).click() },
  { name: 'the access key', query: '', arrive: (page) => page.getByRole('button', { name: 'Key' }).click() },
  {
    name: 'completions',
    query: '',
    arrive: async (page) => {
      await fields(page).locator('.value').first().waitFor();
      await page.keyboard.press('/');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.getByRole('listbox', { name: 'Completions' }).waitFor();
    },
  },
  { name: 'the help', query: '', arrive: (page) => page.getByRole('button', { name: 'Help' }).click() },
];

/**
 * A phone, a laptop, a wide screen, and the phone once more: its page has been wide by then. No rule of a style tells the wide screen from
 * the laptop, so axe looks at the first two. It looks at all in light, and in dark at the colours, because they alone are others there.
 */
const SCREENS = [
  { width: 360, height: 740 },
  { width: 1280, height: 900 },
  { width: 3840, height: 1600 },
  { width: 360, height: 740 },
];

/** By how much the page is wider than the window. */
const OVERHANG = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

describe.each(STATES)('$name', ({ query, arrive }) => {
  test('has nothing that axe objects to, in light and in dark, and no scroll bar to the side from 360 to 3840 px', async () => {
    const { page } = await openPage(query, { viewport: { width: 360, height: 740 } });
    await arrive(page);
    for (const [index, screen] of SCREENS.entries()) {
      await page.setViewportSize(screen);
      expect(await page.evaluate(OVERHANG), `${screen.width} px`).toBeLessThanOrEqual(0);
      if (index > 1) continue;
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await violationsOf(page), `${screen.width} px, light`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await violationsOf(page, COLOUR_RULES), `${screen.width} px, dark`).toEqual([]);
    }
  });
});

test('a histogram that is still as wide as the window was makes the page no wider, and shrinks with it', async () => {
  const { page } = await openPage('q=nowhere+country:NL+-action:allowed', { viewport: { width: 1280, height: 900 } });
  await page.locator('.notice').waitFor();
  const drawn = page.locator('.plot .u-wrap');
  await drawn.waitFor();
  const wide = `(() => { document.querySelector('.plot .u-wrap').style.width = '3000px'; return ${OVERHANG}; })()`;
  expect(await page.evaluate(wide)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => drawn.evaluate((element) => element.clientWidth)).toBeLessThan(360);
});

test('the box of a column stands beside its name, and what a key does has more room than the key', async () => {
  const { page } = await openPage('', { viewport: { width: 360, height: 740 } });
  await page.getByRole('button', { name: 'Columns' }).click();
  const below = await page.evaluate(`[...document.querySelectorAll('.column-choice label')].map((label) => {
    const words = document.createRange();
    words.selectNodeContents(label.lastChild);
    return words.getBoundingClientRect().top - label.querySelector('input').getBoundingClientRect().bottom;
  })`);
  expect(Math.max(...(below as number[]))).toBeLessThan(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Help' }).click();
  const [key = 0, words = 0] = (await page.evaluate(
    `[...document.querySelector('.help-list div').children].map((one) => one.clientWidth)`,
  )) as number[];
  expect(words).toBeGreaterThan(key);
});

test('the histogram takes on the colours that are chosen', async () => {
  const { page } = await openPage('last=6h');
  const picture = async (): Promise<unknown> => page.evaluate(`document.querySelector('.plot canvas')?.toDataURL()`);
  await page.locator('.plot canvas').waitFor();
  await page.getByRole('button', { name: 'Colours: auto' }).click();
  const light = await picture();
  await page.getByRole('button', { name: 'Colours: light' }).click();
  await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
  await expect.poll(async () => (await picture()) === light).toBe(false);
});
