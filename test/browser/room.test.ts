import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { violationsOf } from './accessibility.ts';
import { linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const fields = (page: Page) => page.getByRole('region', { name: 'Fields' });
const values = (page: Page, field: string) =>
  fields(page)
    .locator('.facet')
    .filter({ has: page.getByText(field, { exact: true }) })
    .locator('.value');

test('an event stands above the fold of a usual screen, with all fields', async () => {
  const { page } = await openPage('', { viewport: { width: 1440, height: 900 } });
  await linesAround(page, 0);
  await page.locator('main[aria-busy=false]').waitFor();
  await values(page, 'url').first().waitFor();
  const { y = Number.NaN, height = Number.NaN } = (await page.locator('[role=grid] [aria-rowindex="2"]').boundingBox()) ?? {};
  expect(y + height).toBeLessThanOrEqual(900);
  expect(await fields(page).locator('.facet').count()).toBe(10);
});

test('the fields fold away, which the browser keeps', async () => {
  const { page } = await openPage('');
  await values(page, 'country').first().waitFor();
  const fold = fields(page).getByRole('button', { name: 'Fields' });
  expect(await fold.getAttribute('aria-expanded')).toBe('true');
  await fold.click();
  expect(await values(page, 'country').count()).toBe(0);
  expect(await fold.getAttribute('aria-expanded')).toBe('false');
  await page.reload();
  await expect.poll(() => fold.getAttribute('aria-expanded')).toBe('false');
  await fold.press('Enter');
  await expect.poll(() => values(page, 'country').count()).toBeGreaterThan(0);
  expect(await fold.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
  await page.reload();
  await values(page, 'country').first().waitFor();
});

test('More shows a hundred values of a field, those that are most frequent first, and Less the first ones again', async () => {
  const { page, requests, lastQuestion } = await openPage('q=-action:allowed');
  await values(page, 'ip').first().waitFor();
  const first = await values(page, 'ip').allTextContents();
  const before = requests.length;
  await fields(page).getByRole('button', { name: 'More values of ip' }).click();
  await expect.poll(() => values(page, 'ip').count()).toBe(100);
  expect((await values(page, 'ip').allTextContents()).slice(0, first.length)).toEqual(first);
  const [asked] = requests.slice(before).filter((request) => request.url().endsWith('/explore'));
  const { from, to, query, filters, exclude } = lastQuestion();
  expect(asked?.postDataJSON()).toEqual({
    from,
    to,
    query,
    filters,
    exclude,
    pageSize: 0,
    facets: [{ field: 'ip', limit: 100, order: 'count' }],
  });
  expect(await violationsOf(page)).toEqual([]);
  // What is shown goes along with the search.
  await values(page, 'action').first().click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await page.locator('main[aria-busy=false]').waitFor();
  await expect.poll(() => requests.at(-1)?.postDataJSON().filters?.length).toBe(1);
  await expect.poll(() => values(page, 'ip').count()).toBeGreaterThan(first.length);
  await fields(page).getByRole('button', { name: 'Less values of ip' }).click();
  await expect.poll(() => values(page, 'ip').count()).toBe(first.length);
  // A field whose values all stand there has no more.
  expect(await fields(page).getByRole('button', { name: 'More values of action' }).count()).toBe(0);
});

test('why values do not come is said, with a button that asks again', async () => {
  const { page } = await openPage('', { expectsFailures: true });
  await values(page, 'ip').first().waitFor();
  await page.locator('main[aria-busy=false]').waitFor();
  const problem = { errorKey: 'store.busy', title: 'Busy', detail: 'Too much is asked' };
  await page.route('**/explore', (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  );
  await fields(page).getByRole('button', { name: 'More values of ip' }).click();
  await fields(page).getByText('Too much is asked').waitFor();
  await page.unroute('**/explore');
  await fields(page).getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => values(page, 'ip').count()).toBe(100);
});

test('the search field has 16 px, so that a telephone does not zoom in', async () => {
  const { page } = await openPage('');
  const size = await page
    .getByRole('combobox', { name: 'Search line' })
    .evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).fontSize);
  expect(size).toBe('16px');
});

test.each(['', 'group=asn', 'live=on'])('e goes to the table: %s', async (query) => {
  const { page } = await openPage(query);
  await page.getByRole('grid').waitFor();
  await page.keyboard.press('e');
  expect(await page.evaluate(`document.activeElement.getAttribute('role')`)).toBe('grid');
  expect(Number(await page.evaluate(`document.activeElement.getBoundingClientRect().top`))).toBeLessThan(900);
});
