import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const dialogOf = (page: Page): Locator => page.getByRole('dialog', { name: 'Saved searches' });

/** The names in the list, in its order. */
const namesIn = (page: Page): Promise<readonly string[]> => dialogOf(page).locator('li .line').allTextContents();

const file = (searches: readonly object[]) => ({
  name: 'searches.json',
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify({ shieldlogSearches: 1, searches })),
});

const choose = (page: Page, chosen: ReturnType<typeof file>): Promise<void> =>
  dialogOf(page).locator('input[type=file]').setInputFiles(chosen);

/** The name of what has the focus. */
const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.name ?? ""');

test.each([
  [1280, 800],
  [360, 740],
])('with the longest names, every button of the dialog is within it, %i pixels wide', async (width, height) => {
  const { page } = await openPage('zone=12', { viewport: { width, height } });
  await page.getByRole('button', { name: 'Saved' }).click();
  await choose(page, file([{ name: 'W'.repeat(100), link: `?q=${'w'.repeat(500)}` }]));
  await expect.poll(() => namesIn(page)).toHaveLength(1);
  const edges = await page.evaluate(`(() => {
    const dialog = document.querySelector('dialog');
    const { right } = dialog.getBoundingClientRect();
    return [...dialog.querySelectorAll('button, input')].map((one) => Math.round(right - one.getBoundingClientRect().right));
  })()`);
  expect(Math.min(...(edges as number[]))).toBeGreaterThan(0);
});

test('the dialog says what was done, takes it back, and keeps the focus of the keyboard', async () => {
  const { page } = await openPage('zone=12');
  await linesAround(page, 0);
  await page.keyboard.press('s');
  const dialog = dialogOf(page);
  const status = dialog.getByRole('status');
  for (const name of ['one', 'two', 'three']) {
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await expect.poll(() => status.textContent()).toContain(`Saved ${name}`);
  }
  await dialog.getByRole('button', { name: 'Remove two' }).press('Enter');
  await expect.poll(() => status.textContent()).toContain('Removed two');
  expect(await focused(page)).toBe('Remove three');
  await dialog.getByRole('button', { name: 'Undo' }).press('Enter');
  await expect.poll(() => namesIn(page)).toEqual(['one', 'two', 'three']);
  expect(await focused(page)).toBe('Remove two');

  await choose(page, file([{ name: 'one', link: '?zone=1' }]));
  await expect.poll(() => status.textContent()).toContain('Imported searches.json: 1 new');
  await choose(page, file([{ name: 'one', link: '?zone=1' }]));
  await expect.poll(() => status.textContent()).toContain('Imported searches.json: 0 new');
  const large = { ...file([]), name: 'large.json', buffer: Buffer.alloc(8 * 1024 * 1024 + 1, ' ') };
  await choose(page, large);
  await expect
    .poll(() => dialog.getByRole('alert').textContent())
    .toBe('large.json has 8388609 bytes; a file of searches has at most 8388608');
  expect(await namesIn(page)).toEqual(['one', 'two', 'three', 'one (2)']);
});

test('keys that are typed straight after s are the name of a search, and do nothing on the page', async () => {
  const { page } = await openPage('zone=12&last=6h');
  await linesAround(page, 0);
  const link = page.url();
  // All on their way at once: somebody who types fast does not wait for the dialog.
  await Promise.all([...'stzluxarf'].map((key) => page.keyboard.press(key)));
  const dialog = dialogOf(page);
  await expect.poll(() => dialog.getByRole('textbox').inputValue()).toBe('tzluxarf');
  await page.keyboard.press('Enter');
  await expect.poll(() => namesIn(page)).toEqual(['tzluxarf']);
  expect(page.url()).toBe(link);
});

test('what a saved search says and the page does not understand is named when it is opened', async () => {
  const { page } = await openPage('');
  await linesAround(page, 0);
  await page.getByRole('button', { name: 'Saved' }).click();
  await choose(page, file([{ name: 'odd', link: '?zone=12&last=soon' }]));
  await dialogOf(page).getByRole('button', { name: 'odd', exact: true }).click();
  await expect.poll(() => page.getByText('Not taken from the link').textContent()).toContain('last=soon');
});

test.each([
  ['damaged', '{"shieldlogSearches":1,"searches":[{"name":"größe"'],
  ['written by something else', '["<b>größe</b>"]'],
])('a list that is %s stays until a person has begun with an empty one, and is stored as a file before', async (_, text) => {
  const stored = (): Promise<string | null> => page.evaluate("localStorage.getItem('shieldlog.searches')");
  const initScript = `localStorage.getItem('begun') ?? localStorage.setItem('shieldlog.searches', '${text}');
    localStorage.setItem('begun', 'yes');`;
  const { page } = await openPage('zone=12', { initScript });
  await page.getByRole('button', { name: 'Saved' }).click();
  const dialog = dialogOf(page);
  const fault = dialog.getByRole('alert');
  expect(await fault.textContent()).toContain('the searches of this browser cannot be read');
  await dialog.getByRole('textbox').fill('one');
  await page.keyboard.press('Enter');
  await choose(page, file([{ name: 'one', link: '?zone=1' }]));
  await choose(page, { ...file([]), name: 'large.json', buffer: Buffer.alloc(8 * 1024 * 1024 + 1, ' ') });
  await expect.poll(() => fault.textContent()).toContain('large.json');
  expect(await stored()).toBe(text);

  const [kept] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download what is stored' }).click(),
  ]);
  expect(kept.suggestedFilename()).toBe('shieldlog-searches-unreadable.txt');
  expect(readFileSync(await kept.path(), 'utf8')).toBe(text);
  expect(await stored()).toBe(text);

  const anew = dialog.getByRole('button', { name: 'Start with an empty list' });
  await anew.press('Enter');
  const status = dialog.getByRole('status');
  await expect.poll(() => status.textContent()).toContain('Started with an empty list');
  expect([await stored(), await fault.count(), await anew.count()]).toEqual([null, 0, 0]);
  // The keyboard keeps its place: what has gone leaves the focus to what follows.
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Undo');
  await page.keyboard.press('Enter');
  await anew.waitFor();
  expect(await stored()).toBe(text);

  await anew.click();
  await choose(page, file([{ name: 'one', link: '?zone=1' }]));
  await expect.poll(() => namesIn(page)).toEqual(['one']);
  await page.reload();
  await page.getByRole('button', { name: 'Saved' }).click();
  await expect.poll(() => namesIn(page)).toEqual(['one']);
});
