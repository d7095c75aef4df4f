import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { drawnLines, linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const HOUR_MS = 3_600_000;
const TO = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
const iso = (ms: number): string => new Date(ms).toISOString();

/** What a person sees of the state, without what moves with the clock. */
async function seen(page: Page): Promise<unknown> {
  const text = async (name: RegExp): Promise<string | null> => page.getByRole('button', { name }).textContent();
  return {
    zones: await text(/^Zones:/),
    time: await text(/^Time:/),
    conditions: await page.getByRole('list', { name: 'Conditions' }).textContent(),
    by: await page.getByRole('combobox', { name: 'Coloured by' }).inputValue(),
    difference: await page.locator('.difference h2').allTextContents(),
    event: await page.getByRole('dialog', { name: 'Event', exact: true }).locator('dl').allTextContents(),
    lines: [...(await drawnLines(page)).values()].slice(0, 5),
    columns: await page.getByRole('columnheader').allTextContents(),
  };
}

test('the link holds all of the state: another browser and a reload show the same; Back and Forward go through them', async () => {
  const { page } = await openPage(`zone=1&from=${iso(TO - 24 * HOUR_MS)}&to=${iso(TO)}`);
  const visited: { readonly url: string; readonly seen: unknown }[] = [];
  const visit = async (act: () => Promise<unknown>): Promise<void> => {
    const before = page.url();
    await act();
    await expect.poll(() => page.url()).not.toBe(before);
    await expect.poll(() => page.locator('main').getAttribute('aria-busy')).toBe('false');
    await linesAround(page, 0);
    visited.push({ url: page.url(), seen: await seen(page) });
  };
  await linesAround(page, 0);
  await visit(() => page.getByRole('combobox', { name: 'Coloured by' }).selectOption('country'));
  await visit(async () => {
    await page.getByRole('combobox', { name: 'Search line' }).fill('login -country:DE');
    await page.keyboard.press('Enter');
  });
  await visit(() => page.getByRole('list', { name: 'Peaks' }).getByRole('button').first().click());
  await visit(() => page.getByRole('combobox', { name: 'Group by' }).selectOption('asn'));
  await visit(() => page.getByRole('button', { name: 'Ungroup' }).click());
  await visit(() => page.locator('[role=grid] [aria-rowindex="4"]').getByRole('gridcell').first().click());

  for (const { url, seen: expected } of visited) {
    const other = await openPage(new URL(url).search.slice(1));
    await linesAround(other.page, 0);
    await expect.poll(() => seen(other.page)).toEqual(expected);
  }
  await page.reload();
  await expect.poll(() => seen(page)).toEqual(visited.at(-1)?.seen);
  for (const { url, seen: expected } of visited.slice(0, -1).toReversed()) {
    await page.goBack();
    expect(page.url()).toBe(url);
    await expect.poll(() => seen(page)).toEqual(expected);
  }
  for (const { url, seen: expected } of visited.slice(1)) {
    await page.goForward();
    expect(page.url()).toBe(url);
    await expect.poll(() => seen(page)).toEqual(expected);
  }
});

test('the columns of the table are chosen, moved, and part of the link', async () => {
  const { page } = await openPage('zone=12');
  await linesAround(page, 0);
  const heads = async (): Promise<readonly string[]> => page.getByRole('columnheader').allTextContents();
  const before = await heads();
  await page.getByRole('button', { name: 'Columns' }).click();
  const choice = page.getByRole('dialog', { name: 'Columns' });
  await choice.getByRole('checkbox', { name: 'JA4' }).check();
  await choice.getByRole('checkbox', { name: 'Feature' }).uncheck();
  await choice.getByRole('button', { name: 'Move JA4 to the front' }).click();
  await expect.poll(heads).not.toEqual(before);
  const after = await heads();
  expect(after).toContain('JA4');
  expect(after).not.toContain('Feature');
  await page.reload();
  await expect.poll(heads).toEqual(after);
});
