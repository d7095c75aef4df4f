import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { pauseClock } from './page-clock.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  for (const country of ['NL', 'NL', 'DE']) await ingest(app, eventLine({ country, action: 'blocked' }));
});

afterAll(() => app?.stop());

const total = (page: Page): Promise<string | null> =>
  page.getByRole('status').filter({ hasText: 'events' }).locator('strong').textContent();

async function search(page: Page, line: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Search line' }).fill(line);
  await page.keyboard.press('Enter');
}

test('a question that another one overtakes is given up, and its answer is never shown', async () => {
  const { page, questions } = await openPage('', { expectsFailures: true });
  await expect.poll(() => total(page)).toBe('3 events');
  const held: Route[] = [];
  await page.route('**/explore', async (route) => {
    if (held.length === 0) held.push(route);
    else await route.continue();
  });
  await search(page, 'country:NL');
  await expect.poll(() => held.length).toBe(1);
  await search(page, '-country:NL country:DE');
  await expect.poll(() => total(page)).toBe('0 events');
  // What the page asks for after its first answer may be given up, too.
  await expect.poll(() => held[0]?.request().failure()?.errorText).toBe('net::ERR_ABORTED');
  await held[0]?.fulfill({ body: '{}' }).catch(() => undefined);
  expect(await total(page)).toBe('0 events');
  expect(questions().length).toBe(3);
});

test('the page asks again by itself as long as that is turned on, and never while something is open', async () => {
  const { page, questions } = await openPage('', { movesClock: true });
  await expect.poll(() => total(page)).toBe('3 events');
  const asked = (): number => questions().length;
  // Each answer has the time of the page, those about alerts too: another time would be put right by a further question.
  await page.route(/\/(event-logs|alerts)\b/, async (route) => {
    const answer = await route.fetch();
    const now = await page.evaluate(() => Date.now());
    await route.fulfill({ response: answer, headers: { ...answer.headers(), date: new Date(now).toUTCString() } });
  });
  // A clock that went on by itself would have the page ask while a slow machine clicks.
  await pauseClock(page);
  const auto = page.getByRole('button', { name: 'Auto', exact: true });
  await auto.click();
  expect(new URL(page.url()).search).toBe('?refresh=on');
  await page.clock.runFor(4_000);
  expect(asked()).toBe(1);
  await page.clock.runFor(7_000);
  await expect.poll(asked).toBe(2);
  await page.locator('main[aria-busy=false]').waitFor();
  await page.getByRole('button', { name: /^Zones:/ }).click();
  const offered = async () => {
    await page.clock.runFor(10);
    return page.locator(':popover-open').getByRole('checkbox').count();
  };
  await expect.poll(offered).toBeGreaterThan(0);
  await page.clock.runFor(15_000);
  expect(asked()).toBe(2);
  await page.keyboard.press('Escape');
  await page.clock.runFor(2_000);
  await expect.poll(asked).toBe(3);
  await page.locator('main[aria-busy=false]').waitFor();
  await auto.click();
  await page.clock.runFor(15_000);
  expect(asked()).toBe(3);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});
