import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  const timestamp = Date.now() - 60_000;
  await ingest(app, eventLine({ logId: 'empty', ua: '', timestamp }));
  await ingest(app, eventLine({ logId: 'lines', ua: 'one\ntwo', timestamp: timestamp - 1 }));
  await ingest(app, eventLine({ logId: 'usual', ua: 'one', timestamp: timestamp - 2 }));
});

afterAll(() => app?.stop());

const ids = async (page: Page): Promise<readonly (string | undefined)[]> => [...(await drawnLines(page)).values()].map(([id]) => id);
const open = (clause: object) =>
  openPage(`columns=logId&${new URLSearchParams({ search: JSON.stringify({ query: '', filters: [clause], exclude: [] }) })}`);

describe('the editor of a condition', () => {
  test.each([
    ['an empty value', { field: 'ua', op: 'eq', value: [''] }, ['empty'], ['lines', 'usual']],
    ['an empty value among others', { field: 'ua', op: 'in', value: ['one', ''] }, ['empty', 'usual'], ['lines']],
    ['a line break in its value', { field: 'ua', op: 'eq', value: ['one\ntwo'] }, ['lines'], ['empty', 'usual']],
    ['a line break in one of its values', { field: 'ua', op: 'in', value: ['one\ntwo', ''] }, ['empty', 'lines'], ['usual']],
  ])('with %s keeps the values where only the side is changed', async (_what, clause, found, others) => {
    const { page } = await open(clause);
    await expect.poll(() => ids(page)).toEqual(found);
    await page
      .getByRole('button', { name: /^Edit / })
      .first()
      .click();
    const editor = page.getByRole('dialog', { name: /^Edit / });
    expect(await editor.getByText('A value is missing').count()).toBe(0);
    await editor.getByRole('combobox', { name: 'Side' }).selectOption('exclude');
    await editor.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => ids(page)).toEqual(others);
  });

  test('shows the lines of a value, each of which can be changed', async () => {
    const { page } = await open({ field: 'ua', op: 'eq', value: ['one\n2'] });
    await page
      .getByRole('button', { name: /^Edit / })
      .first()
      .click();
    const value = page.getByRole('dialog', { name: /^Edit / }).getByRole('textbox', { name: 'Value' });
    expect(await value.inputValue()).toBe('one\n2');
    await value.press('Control+End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('two');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => ids(page)).toEqual(['lines']);
  });
});

test('a search whose value has a line break is edited as one line with an escape in its place, and stays the same', async () => {
  const { page } = await open({ field: 'ua', op: 'eq', value: ['one\ntwo'] });
  await expect.poll(() => ids(page)).toEqual(['lines']);
  await page.getByRole('button', { name: 'Edit as text' }).click();
  const line = page.getByRole('combobox', { name: 'Search line' });
  expect(await line.inputValue()).toBe('ua:"one\\u000atwo"');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('button', { name: /^Edit ua/ }).count()).toBe(1);
  expect(await ids(page)).toEqual(['lines']);
});

test('the bar at the top scrolls with the page where its conditions fill the window, and stays in a larger one', async () => {
  const viewport = { width: 1000, height: 700 };
  const conditions = Array.from({ length: 60 }, (_, index) => `-url:*/a-path-left-out-${index}*`).join(' ');
  const { page } = await openPage(`columns=logId&q=${encodeURIComponent(conditions)}`, { viewport });
  await expect.poll(() => ids(page)).toEqual(['empty', 'lines', 'usual']);
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  const isTableInView = "document.elementFromPoint(500, 200).closest('main') !== null";
  expect(await page.evaluate(isTableInView)).toBe(true);
  const barTop = async (): Promise<number | undefined> => (await page.getByRole('banner').boundingBox())?.y;
  await page.setViewportSize({ width: 2_500, height: 1_100 });
  await page.evaluate('scrollTo(0, 50)');
  expect(await page.evaluate('scrollY')).toBe(50);
  await expect.poll(barTop).toBe(0);
});
