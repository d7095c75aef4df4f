import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();

beforeAll(async () => {
  app = await startApp();
  for (const logId of ['a', 'b']) await ingest(app, eventLine({ logId, country: 'NL', timestamp: Date.now() - 2 * HOUR_MS }));
});

afterAll(() => app?.stop());

const ids = async (page: Page): Promise<readonly (string | undefined)[]> =>
  [...(await drawnLines(page)).values()].map(([id]) => id).toSorted();
const notice = (page: Page) => page.locator('.notice');

test.each([
  ['days that do not exist', 'from=2026-02-31T10:00Z&to=2026-03-04T10:00Z', 'from=2026-02-31T10:00Z, to=2026-03-04T10:00Z'],
  ['two times in the wrong order', `from=${hoursAgo(1)}&to=${hoursAgo(3)}`, 'from='],
  ['one time alone', `to=${hoursAgo(3)}`, 'to='],
  ['too many hours', 'last=9999h', 'last=9999h'],
  ['the same thing twice', 'q=country:NL&q=country:DE', 'q=country:DE'],
  ['the time in two ways', `last=24h&from=${hoursAgo(9)}&to=${hoursAgo(8)}`, 'from='],
  ['parameters that nobody knows', 'utm_source=mail&__proto__=1', 'utm_source=mail, __proto__=1'],
  ['bytes that are no text', 'q=%E4%', 'q=\uFFFD%'],
  ['an operation that does not exist', 'search={"filters":[{"field":"ip","op":"like","value":["1"]}]}', 'search='],
  ['a zone that cannot be', 'zone=99999999999', 'zone=99999999999'],
  ['an event that cannot be', 'event=99999999999/1/a', 'event=99999999999/1/a'],
  ['all of it wrong', Array.from({ length: 200 }, (_, index) => `p${index}=1`).join('&'), 'and 190 more'],
])('a link with %s opens the page, which says what it has not taken', async (_what, query, words) => {
  const { page } = await openPage(`columns=logId&${query}`);
  await expect.poll(() => notice(page).textContent()).toContain(words);
  await expect.poll(() => ids(page)).toEqual(['a', 'b']);
});

describe('a link to a time that cannot be searched', () => {
  test.each([
    ['begins too early', `from=${hoursAgo(100)}&to=${hoursAgo(1)}`],
    ['ends in the future', `from=${hoursAgo(3)}&to=${hoursAgo(-24)}`],
  ])('as a whole, because it %s, leads to what of it can', async (_what, query) => {
    const { page } = await openPage(`columns=logId&${query}`, { expectsFailures: true });
    await notice(page).getByRole('button', { name: 'What of it can be searched' }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
    expect(await notice(page).count()).toBe(0);
  });

  test.each([
    ['past', `from=${hoursAgo(100)}&to=${hoursAgo(90)}`],
    ['to come', `from=${hoursAgo(-1)}&to=${hoursAgo(-2)}`],
  ])('at all, because it is %s, leads to the last hours', async (_what, query) => {
    const { page } = await openPage(`columns=logId&${query}`, { expectsFailures: true });
    const wayOut = notice(page).getByRole('button', { name: 'The last 12 hours' });
    await wayOut.waitFor();
    expect(await notice(page).getByRole('button', { name: 'What of it can be searched' }).count()).toBe(0);
    await wayOut.click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  });
});

test.each([
  ['past', hoursAgo(100)],
  ['to come', hoursAgo(-1)],
])('a link to an event of a time that is %s says that there is none', async (_what, time) => {
  const { page } = await openPage(`columns=logId&event=7/${Date.parse(time)}/a`, { expectsFailures: true });
  const words = 'There is no event a of zone 7 any more, or not yet. Searches reach 72 hours back, and end now.';
  await expect.poll(() => page.getByRole('dialog', { name: 'Event' }).textContent()).toContain(words);
});

test('a search for a thousand addresses is kept by its link; the live tail says that it is too long for it, and what to do', async () => {
  const { page } = await openPage('columns=logId,ip', { expectsFailures: true });
  const addresses = Array.from({ length: 1_000 }, (_, index) => `198.51.${100 + (index >> 8)}.${index & 255}`);
  await ingest(app, eventLine({ logId: 'one of them', ip: addresses[999], timestamp: Date.now() - HOUR_MS }));
  await page.getByRole('combobox', { name: 'Search line' }).fill(`ip:${addresses.join(',')}`);
  await page.keyboard.press('Enter');
  await expect.poll(() => ids(page)).toEqual(['one of them']);
  await page.reload();
  await expect.poll(() => ids(page)).toEqual(['one of them']);
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  const results = page.getByRole('region', { name: 'Results' });
  await expect.poll(() => results.textContent()).toContain('Take values away, or look for networks');
  await page.getByRole('button', { name: /^Edit ip:/ }).click();
  const editor = page.getByRole('dialog', { name: /^Edit ip:/ });
  await editor.getByRole('combobox', { name: 'Operation' }).selectOption('cidr');
  await editor.getByRole('textbox', { name: 'Value' }).fill('198.51.100.0/22');
  await editor.getByRole('button', { name: 'Apply' }).click();
  await expect.poll(() => results.textContent()).toContain('Watching');
  expect(page.url().length).toBeLessThan(200);
});
