import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { type PageOptions, pagesOf } from './watched-page.ts';

/** What is shown while an answer is awaited is of the last answer, or of none; nothing is of the one before. */

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  const countries = ['NL', 'DE', 'NL'];
  const lines = countries.map((country, index) =>
    eventLine({ logId: `e${index}`, timestamp: Date.now() - 60_000 - index * 1000, country, action: 'blocked' }),
  );
  await ingest(app, lines.join(''));
  await ingest(app, eventLine({ logId: 'other zone', shieldZoneId: 8, timestamp: Date.now() - 120_000, country: 'FR' }));
});

afterAll(() => app?.stop());

/** Holds the answers to these requests back until what it returns is called. */
async function hold(page: Page, requests: string): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(requests, async (route) => {
    await released;
    // Questions that another one has taken the place of are gone by then.
    await route.continue().catch(() => {});
  });
  return release;
}

const firstCells = async (page: Page): Promise<readonly (string | undefined)[]> =>
  [...(await drawnLines(page)).values()].map(([first]) => first);
const chooseGroup = (page: Page, field: string) => page.getByRole('combobox', { name: 'Group by' }).selectOption(field);
const table = (page: Page): Promise<string | null> => page.getByRole('grid').getAttribute('aria-label');

async function enterLine(page: Page, text: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Search line' }).fill(text);
  await page.keyboard.press('Enter');
}

test('the table has groups or events as the last answer has them, and never those of an answer before it', async () => {
  const { page } = await openPage('zone=7&columns=logId');
  await expect.poll(() => firstCells(page)).toEqual(['e0', 'e1', 'e2']);
  await chooseGroup(page, 'country');
  await expect.poll(() => firstCells(page)).toEqual(['NL', 'DE']);
  await enterLine(page, '-country:NL');
  await expect.poll(() => firstCells(page)).toEqual(['DE']);
  let release = await hold(page, '**/explore');
  await page.getByRole('button', { name: 'Ungroup' }).click();
  await page.locator('main[aria-busy=true]').waitFor();
  expect([await table(page), await firstCells(page)]).toEqual(['Groups, the largest first', ['DE']]);
  release();
  await expect.poll(() => firstCells(page)).toEqual(['e1']);
  await enterLine(page, 'nowhere');
  await expect.poll(() => page.locator('.notice').count()).toBe(1);
  release = await hold(page, '**/explore');
  await page.getByRole('button', { name: 'Without nowhere' }).click();
  await chooseGroup(page, 'country');
  await page.locator('main[aria-busy=true]').waitFor();
  expect(await firstCells(page)).toEqual([]);
  release();
  await expect.poll(() => firstCells(page)).toEqual(['DE']);
});

test('the zone is a column as long as the events of several zones are in the table', async () => {
  const { page } = await openPage();
  const heads = (): Promise<readonly string[]> => page.getByRole('columnheader').allTextContents();
  await expect.poll(async () => (await drawnLines(page)).size).toBe(4);
  const release = await hold(page, '**/explore');
  await page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: '8', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await expect.poll(() => page.getByRole('button', { name: /^Zones:/ }).textContent()).toContain('Zone 8');
  expect(await heads()).toContain('Zone');
  release();
  await expect.poll(heads).not.toContain('Zone');
});

test('what was wrong with the last question is not said of the next one', async () => {
  const search = JSON.stringify({
    filters: [
      { field: 'ip', op: 'cidr', value: ['192.0.2.0/99'] },
      { field: 'country', op: 'eq', value: ['NL'] },
    ],
  });
  const { page } = await openPage(new URLSearchParams({ search }).toString(), { expectsFailures: true });
  const wrong = page.getByRole('list', { name: 'Conditions' }).locator('[aria-invalid=true]');
  await expect.poll(() => wrong.allTextContents()).toEqual([expect.stringContaining('192.0.2.0/99')]);
  const release = await hold(page, '**/explore');
  await page.getByRole('button', { name: /^Remove ip/ }).click();
  await expect.poll(() => page.getByRole('list', { name: 'Conditions' }).textContent()).not.toContain('192.0.2.0/99');
  expect(await wrong.count()).toBe(0);
  expect(await page.locator('.notice').count()).toBe(0);
  release();
  await page.getByRole('region', { name: 'Fields' }).waitFor();
});

test('the zones of another time are not those of this one', async () => {
  const { page } = await openPage('zone=7');
  const openPicker = () => page.getByRole('button', { name: /^Zones:/ }).click();
  const picker = page.getByRole('dialog', { name: /^Zones/ });
  await openPicker();
  await picker.getByRole('listitem').nth(1).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Time:/ }).click();
  await page.getByRole('button', { name: '15 minutes' }).click();
  const release = await hold(page, '**/zones?*');
  await openPicker();
  await expect.poll(() => picker.textContent()).toContain('Looking for zones with events');
  expect(await picker.getByRole('listitem').count()).toBe(0);
  release();
  await picker.getByRole('listitem').nth(1).waitFor();
});

/** As in a browser that gives pages no files of the disk, where downloads are the browser's. */
const DOWNLOADS: PageOptions = { initScript: 'delete globalThis.showSaveFilePicker;' };

test('a menu of downloads that is open while an answer comes is about that answer, and says so', async () => {
  const { page } = await openPage('zone=7', DOWNLOADS);
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const release = await hold(page, '**/explore');
  await enterLine(page, 'country:DE');
  await page.getByRole('button', { name: 'Download' }).click();
  const menu = page.getByRole('menu');
  expect(await menu.getAttribute('aria-label')).toBe('Of what is shown: the answer before');
  release();
  await expect.poll(() => menu.getAttribute('aria-label')).toBe('Of what is shown');
  const [file] = await Promise.all([page.waitForEvent('download'), menu.getByRole('menuitem', { name: 'All events as NDJSON' }).click()]);
  const lines = (await (await file.createReadStream()).toArray()).join('').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).logId)).toEqual(['e1']);
});

test('bars that are chosen by keys are no longer chosen when other bars have taken their place', async () => {
  const { page } = await openPage('zone=7');
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const slider = page.getByRole('slider', { name: 'Events over time' });
  await slider.press('End');
  await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe(await slider.getAttribute('aria-valuemax'));
  await enterLine(page, 'country:DE');
  await expect.poll(() => firstCells(page)).toHaveLength(1);
  expect(await slider.getAttribute('aria-valuenow')).toBe('0');
  await slider.press('Enter');
  expect(await page.getByRole('menu').count()).toBe(0);
});

test('new events of the last question are not offered while the next one is asked', async () => {
  const { page, countsOfNew } = await openPage('zone=7&q=ruleId:counted', { movesClock: true });
  await expect.poll(() => page.locator('.notice').count()).toBe(1);
  // The pause before they are counted begins with an answer.
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('main[aria-busy=false]').waitFor();
  await ingest(app, eventLine({ logId: 'new', timestamp: Date.now(), ruleId: 'counted' }));
  await expect
    .poll(async () => {
      await page.clock.runFor(4_000);
      return countsOfNew.length;
    })
    .toBeGreaterThan(0);
  const button = page.getByRole('button', { name: '1 new event' });
  await button.waitFor();
  const release = await hold(page, '**/explore');
  await enterLine(page, 'country:DE');
  await page.locator('main[aria-busy=true]').waitFor();
  expect(await button.count()).toBe(0);
  release();
});

test('before its first answer the page says that it searches', async () => {
  const { page } = await openPage('zone=7');
  const release = await hold(page, '**/explore');
  await page.reload({ waitUntil: 'commit' });
  const plot = page.getByRole('region', { name: 'Events over time' }).locator('.plot');
  await expect.poll(() => plot.textContent()).toBe('Searching…');
  release();
  await page.locator('.plot canvas').waitFor();
  expect(await plot.textContent()).not.toContain('Searching');
});
