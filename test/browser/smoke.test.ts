import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { startChromium } from './chromium.ts';
import { openPage, PAGE } from './watched-page.ts';

let app: RunningApp;
let browser: Browser;

beforeAll(async () => {
  app = await startApp();
  for (const ip of ['192.0.2.1', '192.0.2.1', '198.51.100.7']) await ingest(app, eventLine({ ip, country: 'NL', action: 'blocked' }));
  browser = await startChromium();
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

test('the page shows the events that there are, keeps those of an address, and comes back, by requests that are described', async () => {
  const { page, requests, close } = await openPage(browser, `${app.url}${PAGE}`);
  const rows = page.getByRole('region', { name: 'Events', exact: true }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: '192.0.2.1' }).click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await expect.poll(() => rows.count()).toBe(2);
  expect(page.url()).toBe(`${app.url}${PAGE}?q=ip%3A192.0.2.1`);
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(3);
  expect(requests.filter((request) => request.url().endsWith('/explore')).length).toBeGreaterThanOrEqual(3);
  await close();
});
