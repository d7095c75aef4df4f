import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf, type WatchedPage } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

const CUSTOMER = '198.51.100.7';

beforeAll(async () => {
  app = await startApp();
  const timestamp = Date.now() - 60_000;
  const events = [
    { logId: 'blocked', ip: CUSTOMER, action: 'blocked', feature: 'waf', ruleId: '942100', ruleName: 'SQL injection', url: '/a"b c' },
    { logId: 'allowed', ip: CUSTOMER, action: 'allowed', timestamp: timestamp - 1_000 },
    { logId: 'other', ip: '203.0.113.9', action: 'blocked', url: '\u202egpj.a' },
  ];
  await ingest(app, events.map((event) => eventLine({ timestamp, ...event })).join(''));
});

afterAll(() => app?.stop());

const copied = (page: Page): Promise<unknown> => page.evaluate('navigator.clipboard.readText()');
const said = (page: Page) => page.getByRole('status').filter({ hasText: 'Copied' });

/** The times of the last question. */
const timesOf = ({ lastQuestion }: WatchedPage) => [lastQuestion().from, lastQuestion().to].map((ms) => new Date(ms).toISOString());

test('one click copies the link with the times that are shown; its menu has the one up to now', async () => {
  const watched = await openPage('last=1h&q=action:blocked&live=on&columns=logId');
  const { page, actions } = watched;
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const before = await actions();
  await page.getByRole('button', { name: 'Share' }).click();
  await said(page).waitFor();
  expect((await actions()) - before).toBe(1);
  const link = new URL(String(await copied(page)));
  const [from = '', to = ''] = timesOf(watched);
  expect(Object.fromEntries(link.searchParams)).toEqual({ from, to, q: 'action:blocked', columns: 'logId' });
  expect(new URL(page.url()).searchParams.get('live')).toBe('on');

  await page.getByRole('button', { name: 'Other links' }).click();
  await page.getByRole('menuitem', { name: 'Copy the link to the last hour' }).click();
  const parameters = (url: unknown): object => Object.fromEntries(new URL(String(url)).searchParams);
  await expect.poll(async () => parameters(await copied(page))).toEqual(parameters(page.url()));

  // Whoever opens the link sees the same events.
  const other = await openPage(link.search.slice(1));
  await expect.poll(async () => [...(await drawnLines(other.page)).values()].flat()).toEqual(['blocked', 'other']);
  expect(await other.page.getByRole('button', { name: 'Other links' }).count()).toBe(0);
  expect(timesOf(other)).toEqual([from, to]);
});

test('a link too long for a query is copied as it stands in the address', async () => {
  const urls = Array.from({ length: 500 }, (_, index) => `/path/${index}`).join(',');
  const { page } = await openPage(`q=${encodeURIComponent(`-url:${urls}`)}`);
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await page.getByRole('button', { name: 'Share' }).click();
  await expect.poll(async () => new URL(String(await copied(page))).hash.length).toBeGreaterThan(5_000);
});

test('whether a customer was blocked, and by which rule, takes eight keys beside the address to the text for a ticket', async () => {
  const watched = await openPage('', { timezoneId: 'Europe/Berlin' });
  const { page, actions } = watched;
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('/');
  await page.keyboard.type(CUSTOMER);
  await press('ArrowDown', 'Enter', 'Enter');
  await expect.poll(async () => [...(await drawnLines(page)).values()].length).toBe(2);
  await press('Escape', 'e', 'Enter');
  await page.getByRole('dialog', { name: 'Event', exact: true }).waitFor();
  await press('c');
  await said(page).waitFor();
  expect((await actions()) - CUSTOMER.length).toBe(8);
  const [what, when = '', rule, address, , event, link = ''] = String(await copied(page)).split('\n');
  expect([what, rule, address, event]).toEqual([
    'What: blocked waf /a"b c',
    'Rule: 942100 SQL injection',
    `Address: ${CUSTOMER}`,
    'Event: blocked of zone 7',
  ]);
  expect(when).toMatch(/^When: [\d-]{10} [\d:.]{12} \+0[12]:00 \(Europe\/Berlin\), [\d-]{10}T[\d:.]{12}Z$/);
  const other = await openPage(new URL(link.replace('Link: ', '')).search.slice(1));
  await expect.poll(() => other.page.getByRole('dialog', { name: 'Event', exact: true }).textContent()).toContain('SQL injection');
});

test.each([
  ['', 'shieldlog'],
  ['q=login+-country:NL', 'login -country:NL · shieldlog'],
  [`q=${encodeURIComponent('url:\u202egpj.a')}`, 'url:\\u202egpj.a · shieldlog'],
  [
    `search=${encodeURIComponent('{"filters":[{"field":"ua","op":"wildcard","value":["x"]}]}')}`,
    'ua matches, with * for anything x · shieldlog',
  ],
  [`q=url:${'x'.repeat(300)}`, `url:${'x'.repeat(196)}… · shieldlog`],
])('the title of the tab has the search: %s', async (query, title) => {
  const { page } = await openPage(query);
  await expect.poll(() => page.title()).toBe(title);
});

test('the title follows the search, and Back', async () => {
  const { page } = await openPage('q=action:blocked');
  await page.getByRole('button', { name: 'Remove action:blocked' }).click();
  await expect.poll(() => page.title()).toBe('shieldlog');
  await page.goBack();
  await expect.poll(() => page.title()).toBe('action:blocked · shieldlog');
});

test.each(['events', 'live'])('text that is marked by the mouse in a line opens nothing, in the table of %s', async (table) => {
  const { page } = await openPage(table === 'live' ? 'live=on&columns=logId,ip' : 'columns=logId,ip');
  if (table === 'live') {
    await page.getByText('Watching').waitFor();
    await ingest(app, eventLine({ logId: 'marked', ip: CUSTOMER, timestamp: Date.now() }));
  }
  const cell = page.locator('[role=grid] [role=gridcell]').first();
  await expect.poll(() => cell.textContent()).toMatch(/\w/);
  await cell.scrollIntoViewIfNeeded();
  const { x = 0, y = 0, width = 0, height = 0 } = (await cell.boundingBox()) ?? {};
  const drawer = page.getByRole('dialog', { name: 'Event', exact: true });
  // A word is marked by two clicks.
  await cell.dblclick({ position: { x: 20, y: height / 2 } });
  expect(String(await page.evaluate('getSelection().toString()')).length).toBeGreaterThan(0);
  expect(await drawer.count()).toBe(0);
  for (const [from, to] of [
    [9, 60],
    [60, 9],
    [9, width + 40],
  ] as const) {
    await page.mouse.move(x + from, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + to, y + height / 2, { steps: 4 });
    await page.mouse.up();
    expect(String(await page.evaluate('getSelection().toString()')).length).toBeGreaterThan(0);
    expect(await drawer.count()).toBe(0);
  }
  await page.mouse.click(x + width + 90, y + height / 2);
  await drawer.waitFor();
});
