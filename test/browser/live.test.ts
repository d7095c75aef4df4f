import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  await ingest(app, eventLine({ logId: 'before', ip: '192.0.2.1' }));
});

afterAll(() => app?.stop());

const post = (logId: string, rest: object = {}) => ingest(app, eventLine({ logId, timestamp: Date.now(), ...rest }));

test('live mode shows events as they are posted, newest first, those that match alone; a pause holds them back', async () => {
  const { page } = await openPage('columns=logId,ip&q=-country:NL');
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  const ids = async (): Promise<readonly (string | undefined)[]> => [...(await drawnLines(page)).values()].map(([id]) => id);
  await expect.poll(() => page.getByRole('main').textContent()).toContain('Watching');
  await post('first');
  await expect.poll(ids).toEqual(['first']);
  await post('other country', { country: 'NL' });
  await post('second');
  await expect.poll(ids).toEqual(['second', 'first']);
  // Screen readers are not told of each event.
  const results = page.getByRole('region', { name: 'Results' });
  expect(await results.getByRole('status').textContent()).toBe('Watching');
  expect(await results.textContent()).toContain('Watching; 2 events');
  const pause = page.getByRole('button', { name: 'Pause' });
  await pause.click();
  await post('third');
  await expect.poll(() => page.getByRole('main').textContent()).toContain('1 new');
  expect(await ids()).toEqual(['second', 'first']);
  await pause.click();
  await expect.poll(ids).toEqual(['third', 'second', 'first']);
  expect(new URL(page.url()).searchParams.get('live')).toBe('on');
  await page.locator('[role=grid] [aria-rowindex="2"]').click();
  await expect.poll(() => page.getByRole('dialog', { name: 'Event', exact: true }).textContent()).toContain('third');
});

test('events that have come meanwhile are counted on a button, which shows them', async () => {
  const { page } = await openPage('columns=logId,ip&q=ruleId:counted');
  await expect.poll(() => page.getByRole('status').filter({ hasText: 'meets the condition' }).count()).toBe(1);
  await post('new one', { ruleId: 'counted' });
  await page.getByRole('button', { name: '1 new event' }).click();
  await expect.poll(async () => [...(await drawnLines(page)).values()].map(([id]) => id)).toEqual(['new one']);
});

test('an event of the live table has beside it those of that table, for its buttons and for the keys of the table', async () => {
  const { page } = await openPage('columns=logId&q=ruleId:beside&live=on');
  await expect.poll(() => page.getByRole('main').textContent()).toContain('Watching');
  for (const logId of ['old', 'middle', 'new']) await post(logId, { ruleId: 'beside' });
  const grid = page.getByRole('grid');
  await expect.poll(() => grid.locator('[aria-rowindex="4"]').textContent()).toBe('old');
  await grid.locator('[aria-rowindex="3"]').click();
  const drawer = page.getByRole('dialog', { name: 'Event', exact: true });
  await drawer.getByRole('button', { name: 'Older event' }).click();
  await expect.poll(() => drawer.textContent()).toContain('Log idold');
  await drawer.getByRole('button', { name: 'Newer event' }).click();
  await drawer.getByRole('button', { name: 'Newer event' }).click();
  await expect.poll(() => drawer.textContent()).toContain('Log idnew');
  await grid.press('ArrowDown');
  await expect.poll(() => drawer.textContent()).toContain('Log idold');
});

test('the key for live mode brings its table into the window, wherever the page is', async () => {
  const { page } = await openPage('', { viewport: { width: 1000, height: 600 } });
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const button = page.getByRole('button', { name: 'Live', exact: true });
  const top = async (): Promise<number> => (await button.boundingBox())?.y ?? Number.NaN;
  await page.evaluate('scrollTo(0, 0)');
  expect(await top()).toBeGreaterThan(600);
  await page.keyboard.press('l');
  await expect.poll(() => page.getByRole('grid', { name: /^Live events/ }).count()).toBe(1);
  expect(await top()).toBeLessThan(600);
});

test('files that are stored in live mode are said to be without the live events', async () => {
  const { page } = await openPage('live=on&clock=utc');
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  const label = await page.getByRole('menu').getAttribute('aria-label');
  expect(label).toMatch(/^Files of the search up to [\d-]{10} [\d:]{8}, without the live events$/);
});
