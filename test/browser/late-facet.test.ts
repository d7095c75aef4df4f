import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { pagesOf } from './watched-page.ts';

/** The facet of urls takes as long as all else together: the page asks for it when the rest is there. */

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  const event = (index: number) => {
    const isAttack = index < 20;
    const url = isAttack ? 'https://example.com/login' : `https://example.com/${index % 4}`;
    return eventLine({ logId: `event-${index}`, country: isAttack ? 'NL' : 'DE', url });
  };
  await ingest(app, Array.from({ length: 60 }, (_, index) => event(index)).join(''));
});

afterAll(() => app?.stop());

const isForUrls = (route: Route): boolean => {
  const { facets } = route.request().postDataJSON();
  return facets?.length === 1 && facets[0].field === 'url';
};

/** Holds the requests for urls back, or answers them with `answer`, until what it returns is called. */
async function withoutUrls(page: Page, answer?: { readonly status: number; readonly body: string }): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const handler = async (route: Route): Promise<void> => {
    if (isForUrls(route)) {
      if (answer !== undefined) return route.fulfill(answer);
      await released;
    }
    // Questions that another one has taken the place of are gone by then.
    await route.continue().catch(() => {});
  };
  await page.route('**/explore', handler);
  return async () => {
    release();
    await page.unroute('**/explore', handler);
  };
}

const boxOf = (page: Page, field: string) =>
  page
    .getByRole('region', { name: 'Fields' })
    .locator('.facet')
    .filter({ has: page.getByRole('heading', { name: field }) });

const valuesOf = async (page: Page, field: string): Promise<readonly string[]> =>
  (await boxOf(page, field).locator('.value').allTextContents()).map((text) => text.trim());

const boxes = (page: Page) => page.getByRole('region', { name: 'Fields' }).locator('h2 > span').allTextContents();

test('all but the urls is drawn while they are awaited, and their box is in its place', async () => {
  const { page, questions } = await openPage('zone=8', { expectsFailures: true });
  const release = await withoutUrls(page);
  await page.goto(`${app.url}/?zone=7`);
  await expect.poll(() => valuesOf(page, 'country')).toEqual(['DE', 'NL']);
  await page.locator('main[aria-busy=false]').waitFor();
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('61');
  expect(await boxOf(page, 'url').getByRole('list').textContent()).toBe('…');
  expect(await boxes(page)).toEqual(['asn', 'country', 'ip', 'ua', 'url', 'ruleId', 'feature', 'action', 'ja4']);
  await boxOf(page, 'url').getByRole('button', { name: 'Group by url' }).waitFor();
  await release();
  await expect.poll(async () => (await valuesOf(page, 'url'))[0]).toBe('https://example.com/login');
  await boxOf(page, 'url').getByRole('button', { name: '5 values: group by url' }).waitFor();
  expect(questions().at(-1)).not.toHaveProperty('facets.8');
});

test('what is different is listed without the urls, and then with them', async () => {
  const { page } = await openPage('zone=7', { expectsFailures: true });
  await boxOf(page, 'country').getByRole('button', { name: 'NL', exact: true }).waitFor();
  const release = await withoutUrls(page);
  await page.goto(`${app.url}/?zone=7&compare=country:NL`);
  const difference = page.getByRole('region', { name: 'What is different about country NL' });
  await difference.getByText('The urls are still counted…').waitFor();
  expect(await difference.getByRole('button', { name: 'https://example.com/login' }).count()).toBe(0);
  await release();
  await difference.getByRole('button', { name: 'https://example.com/login' }).waitFor();
  expect(await difference.getByText('The urls are still counted…').count()).toBe(0);
});

test('urls that cannot be counted are said to be missing, and are asked for again by a button', async () => {
  const { page, questions } = await openPage('zone=7', { expectsFailures: true });
  await boxOf(page, 'country').getByRole('button', { name: 'NL', exact: true }).waitFor();
  const release = await withoutUrls(page, { status: 503, body: '{"detail":"Not now"}' });
  await page.reload();
  await boxOf(page, 'url').getByText('Not now').waitFor();
  expect(await valuesOf(page, 'country')).toEqual(['DE', 'NL']);
  await release();
  const asked = questions().length;
  await boxOf(page, 'url').getByRole('button', { name: 'Try again' }).click();
  await expect.poll(async () => (await valuesOf(page, 'url')).length).toBe(5);
  expect(questions().length).toBe(asked);
});

test('a question that is given up leaves the urls of the answer before it to be counted', async () => {
  const { page } = await openPage('zone=7', { expectsFailures: true });
  const release = await withoutUrls(page);
  await page.reload();
  await expect.poll(() => boxOf(page, 'url').getByRole('list').textContent()).toBe('…');
  await page.getByRole('button', { name: 'Refresh' }).waitFor();
  const held: Route[] = [];
  await page.route('**/explore', async (route) => {
    if (isForUrls(route)) await route.fallback();
    else held.push(route);
  });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect.poll(() => held.length).toBe(1);
  await release();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(async () => (await valuesOf(page, 'url')).length).toBe(5);
});

test('no further question is asked where nothing is found', async () => {
  const { page, requests } = await openPage('zone=7&q=nowhere');
  await page.locator('.notice').first().waitFor();
  await page.locator('main[aria-busy=false]').waitFor();
  expect(requests.filter((request) => request.url().endsWith('/explore') && request.postDataJSON().facets?.length === 1)).toEqual([]);
});
