import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pauseClock } from './page-clock.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  await ingest(app, eventLine({ logId: 'before', action: 'allowed' }));
});

afterAll(() => app?.stop());

const post = (rule: string, count: number, first = 0) =>
  ingest(
    app,
    Array.from({ length: count }, (_, index) =>
      eventLine({ logId: `${rule} ${first + index}`, ruleId: rule, action: 'blocked', timestamp: Date.now() + index }),
    ).join(''),
  );
const status = (page: Page) => page.getByRole('region', { name: 'Results' }).getByRole('status');
const watching = (page: Page) => expect.poll(() => status(page).textContent()).toContain('Watching');
const total = (page: Page) => page.getByRole('status').locator('strong').textContent();
const texts = async (page: Page) => [...(await drawnLines(page)).values()].map(([id]) => id);
const grid = (page: Page) => page.getByRole('grid', { name: /^Live events/ });

/** The program's clock goes on with that of the page, which would otherwise be put right. */
async function holdClock(page: Page): Promise<void> {
  await page.route('**/explore', async (route) => {
    const answer = await route.fetch();
    const now = await page.evaluate(() => Date.now());
    await route.fulfill({ response: answer, headers: { ...answer.headers(), date: new Date(now).toUTCString() } });
  });
}

test('whether a block works is watched by one key: the chart, the counts and the fields have the new events within 15 s', async () => {
  const { page, actions } = await openPage('q=-ruleId:other&columns=logId', { movesClock: true });
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  expect(await total(page)).toBe('1 event');
  await holdClock(page);
  await page.keyboard.press('l');
  expect(await actions()).toBe(1);
  await post('chart', 3);
  await page.clock.runFor(15_000);
  await expect.poll(() => total(page)).toBe('4 events');
  await expect.poll(() => page.getByRole('region', { name: 'Events over time' }).getByRole('button', { name: 'blocked' }).count()).toBe(1);
  expect(await page.getByRole('region', { name: 'Fields' }).textContent()).toContain('chart');
  // Neither an event that is open nor a table that is scrolled holds them back; a menu does.
  await expect.poll(async () => (await texts(page)).length).toBe(3);
  await grid(page).press('ArrowDown');
  await grid(page).press('Enter');
  await page.getByRole('dialog', { name: 'Event', exact: true }).waitFor();
  await post('chart', 2, 3);
  await page.clock.runFor(15_000);
  await expect.poll(() => total(page)).toBe('6 events');
  await page.getByRole('button', { name: 'Download' }).click();
  await post('chart', 1, 5);
  await page.clock.runFor(15_000);
  expect(await total(page)).toBe('6 events');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('events a second are told, and Clear empties the table and counts anew, in a pause too', async () => {
  const { page } = await openPage('q=ruleId:rate&columns=logId&live=on');
  await watching(page);
  await post('rate', 20);
  const results = page.getByRole('region', { name: 'Results' });
  await expect.poll(() => results.textContent()).toMatch(/20 events; [\d.]*[1-9] a second/);
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect.poll(() => texts(page)).toEqual([]);
  expect(await results.textContent()).toContain('0 events');
  await post('rate', 1, 20);
  await expect.poll(() => texts(page)).toEqual(['rate 20']);
  await page.getByRole('button', { name: 'Pause' }).click();
  await post('rate', 1, 21);
  await expect.poll(() => results.textContent()).toContain('paused, 1 new');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect.poll(() => results.textContent()).toContain('0 events; paused, 0 new');
  await page.getByRole('button', { name: 'Pause' }).click();
  await post('rate', 1, 22);
  await expect.poll(() => texts(page)).toEqual(['rate 22']);
});

test('whoever has scrolled, or gone to a line, keeps the row; at the top stand the newest', async () => {
  const { page } = await openPage('q=ruleId:kept&columns=logId&live=on');
  await watching(page);
  await post('kept', 100);
  await expect.poll(async () => (await texts(page)).includes('kept 99')).toBe(true);
  /** The line that is just below the head of the table. */
  const atTop = () =>
    page.evaluate(`(() => {
      const grid = document.querySelector('[role=grid]');
      const { bottom, left } = grid.querySelector('.grid-head').getBoundingClientRect();
      return document.elementFromPoint(left + 20, bottom + 12).textContent.trim();
    })()`);
  await grid(page).scrollIntoViewIfNeeded();
  await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 600`);
  await expect.poll(atTop).toMatch(/^kept 7\d$/);
  const row = await atTop();
  await post('kept', 30, 100);
  await expect.poll(() => page.getByRole('region', { name: 'Results' }).textContent()).toContain('130 events');
  await expect.poll(async () => Number(await grid(page).getAttribute('aria-rowcount'))).toBe(131);
  expect(await atTop()).toBe(row);
  // A line of the keyboard, too, is that of the same event.
  await grid(page).press('Home');
  await expect.poll(atTop).toBe('kept 129');
  await grid(page).press('ArrowDown');
  await post('kept', 5, 130);
  const active = () =>
    page.evaluate(
      `document.getElementById(document.querySelector('[role=grid]').getAttribute('aria-activedescendant')).textContent.trim()`,
    );
  await expect.poll(async () => Number(await grid(page).getAttribute('aria-rowcount'))).toBe(136);
  await expect.poll(active).toBe('kept 128');
  await grid(page).press('Home');
  await post('kept', 5, 135);
  await expect.poll(atTop).toBe('kept 139');
  // The table is full, and what it had is gone.
  await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 600`);
  await post('kept', 600, 140);
  await expect.poll(async () => Number(await grid(page).getAttribute('aria-rowcount'))).toBe(501);
  await expect.poll(atTop).toMatch(/^kept \d+$/);
});

test('a screen reader hears at most once in ten seconds how many came', async () => {
  const { page } = await openPage('q=ruleId:heard&columns=logId', { movesClock: true });
  await page.locator('main[aria-busy=false]').waitFor();
  await pauseClock(page);
  await page.keyboard.press('l');
  await watching(page);
  await page.evaluate(`(() => {
    globalThis.heard = [];
    const spoken = document.querySelector('.results [aria-live]');
    new MutationObserver(() => {
      const text = spoken.textContent;
      if (text !== '') heard.push([performance.now(), text]);
    }).observe(spoken, { childList: true, characterData: true, subtree: true });
  })()`);
  let posted = 0;
  for (const count of [1, 3, 2]) {
    await post('heard', count, posted);
    posted += count;
    await expect
      .poll(async () => {
        await page.clock.runFor(200);
        return (await texts(page)).length;
      })
      .toBe(posted);
    await page.clock.runFor(11_000);
  }
  const heard = (await page.evaluate('heard')) as readonly (readonly [at: number, text: string])[];
  expect(heard.length).toBeGreaterThanOrEqual(3);
  for (const [index, [at]] of heard.entries()) expect(at - (heard[index - 1]?.[0] ?? -Infinity)).toBeGreaterThanOrEqual(10_000);
  const came = heard.map(([, text]) => /^(\d+) events? came, (\d+) in all$/.exec(text)?.slice(1).map(Number) ?? []);
  expect(came.reduce((sum, [count = 0]) => sum + count, 0)).toBe(posted);
  expect(came.at(-1)?.[1]).toBe(posted);
  // Nothing is said where nothing came.
  await page.clock.runFor(11_000);
  expect(await page.locator('.results [aria-live]').textContent()).toBe('');
});

test('a range that has ended turns Live off, also in a link; Live in such a range looks at the last hours again', async () => {
  const ended = new URLSearchParams({
    from: new Date(Date.now() - 7_200_000).toISOString(),
    to: new Date(Date.now() - 3_600_000).toISOString(),
  });
  const { page } = await openPage(`${ended}&live=on`);
  const live = page.getByRole('button', { name: 'Live', exact: true });
  await page.getByRole('button', { name: /^Time:/ }).waitFor();
  expect(await live.getAttribute('aria-pressed')).toBe('false');
  await page.keyboard.press('l');
  await watching(page);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ live: 'on' });
  await page.getByRole('button', { name: /^Time:/ }).click();
  await page.getByRole('button', { name: 'Search this time' }).click();
  await expect.poll(() => live.getAttribute('aria-pressed')).toBe('false');
  expect(new URL(page.url()).searchParams.get('live')).toBeNull();
  await page.goBack();
  await expect.poll(() => live.getAttribute('aria-pressed')).toBe('true');
});
