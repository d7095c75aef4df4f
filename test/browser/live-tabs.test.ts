import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  await ingest(app, eventLine({ logId: 'before' }));
});

afterAll(() => app?.stop());

const LIVE = 'columns=logId&clock=utc&live=on';
const post = (logId: string) => ingest(app, eventLine({ logId, timestamp: Date.now() }));
const status = (page: Page) => page.getByRole('region', { name: 'Results' }).getByRole('status').textContent();
const ids = async (page: Page) => [...(await drawnLines(page)).values()].map(([id]) => id);

/** Hides the tab, or shows it again: without a window, a browser takes every tab for one that is seen. */
const show = (page: Page, isShown: boolean) =>
  page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${!isShown} });
    document.dispatchEvent(new Event('visibilitychange'));`);

test('with six live tabs a seventh loads, and those that wait for a connection say so and get one', async () => {
  const { page: first } = await openPage(LIVE);
  const tabs = [first];
  for (let count = 1; count < 6; count += 1) {
    const tab = await first.context().newPage();
    await tab.goto(`${app.url}/?${LIVE}`, { waitUntil: 'commit' });
    tabs.push(tab);
  }
  const watching = async () => (await Promise.all(tabs.map(status))).filter((words) => words === 'Watching').length;
  const queued = async () => (await Promise.all(tabs.map(status))).filter((words) => words?.startsWith('Four other tabs are live')).length;
  await expect.poll(async () => [await watching(), await queued()]).toEqual([4, 2]);
  const seventh = await first.context().newPage();
  await seventh.goto(`${app.url}/`);
  await seventh.getByRole('region', { name: 'Fields' }).waitFor();
  const closed = tabs.splice(0, 1);
  await closed[0]?.close();
  await expect.poll(async () => [await watching(), await queued()]).toEqual([4, 1]);
});

test('a tab that is hidden for 30 s ends its stream; seen again it goes on, and later it says what is missing', async () => {
  const { page, requests } = await openPage(LIVE, { movesClock: true });
  const streams = () => requests.filter((request) => request.url().includes('/tail?'));
  const ended = async () => (await Promise.all(streams().map((request) => request.failure()))).filter((end) => end !== null).length;
  await expect.poll(() => status(page)).toBe('Watching');
  await post('seen');
  await expect.poll(() => ids(page)).toEqual(['seen']);
  await show(page, false);
  await page.clock.fastForward(20_000);
  await post('hidden for less');
  await expect.poll(() => ids(page)).toEqual(['hidden for less', 'seen']);
  await page.clock.fastForward(11_000);
  await expect.poll(ended).toBe(1);
  await post('meanwhile');
  await page.clock.fastForward(240_000);
  expect(streams().length).toBe(1);
  await show(page, true);
  await expect.poll(() => ids(page)).toEqual(['meanwhile', 'hidden for less', 'seen']);
  expect(await status(page)).toBe('Watching');
  await show(page, false);
  await page.clock.fastForward(31_000);
  await expect.poll(ended).toBe(2);
  await post('never shown');
  await page.clock.fastForward(301_000);
  await show(page, true);
  await expect.poll(() => status(page)).toMatch(/^Watching; nothing was watched from [\d-]{10} [\d:]{8} to [\d-]{10} [\d:]{8}$/);
  const [from = 0, to = 0] = [...((await status(page)) ?? '').matchAll(/[\d-]{10} [\d:]{8}/g)].map(([time]) => Date.parse(`${time}Z`));
  expect(to - from).toBeGreaterThanOrEqual(300_000);
  await post('last');
  await expect.poll(() => ids(page)).toEqual(['last', 'meanwhile', 'hidden for less', 'seen']);
});
