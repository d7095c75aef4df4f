import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

const AT = Date.now() - 60_000;
/** It would read as `/evil` and then `php.jpg`; some characters of it are nowhere to be seen, and one is Persian's. */
const URL_PATH = '/\u200bevil\u00ad\u2060\ufeff\u202egpj.php?\u0645\u06cc\u200c\u062e';
const SHOWN = '/\\u200bevil\\u00ad\\u2060\\ufeff\\u202egpj.php?\u0645\u06cc\u200c\u062e';
const ID = 'id\u202e1';

beforeAll(async () => {
  app = await startApp();
  const fields = { url: URL_PATH, ua: URL_PATH, ruleName: URL_PATH, ruleId: URL_PATH, ip: '192.0.2.1', action: 'blocked' };
  const line = eventLine({ logId: ID, timestamp: AT, ...fields });
  const log = { Url: URL_PATH, [URL_PATH]: 'name', Lines: 'one\ntwo' };
  await ingest(app, `${line.trimEnd().slice(0, -1)},"log":${JSON.stringify(log)}}\n`);
});

afterAll(() => app?.stop());

/** Texts of the page, and what tooltips and screen readers say, in which such a character is left. */
const obeyed = (page: Page) =>
  page.evaluate(`(() => {
    const odd = /[\\u00ad\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060\\u2066-\\u2069\\ufeff]/u;
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) if (odd.test(node.data)) found.push(node.data);
    for (const element of document.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        if ((name === 'title' || name.startsWith('aria-')) && odd.test(value)) found.push(name + '=' + value);
      }
    }
    return found;
  })()`);

test('marks that turn text around, and what nobody sees, are escapes wherever a value stands, and copied as they are', async () => {
  const { page } = await openPage('columns=time,url,ua,ruleName,ruleId,logId');
  const shown = (text: string | null): boolean => text?.includes(SHOWN) === true;
  expect((await linesAround(page, 0)).get(0)?.slice(1)).toEqual([SHOWN, SHOWN, SHOWN, SHOWN, 'id\\u202e1']);
  expect(await obeyed(page)).toEqual([]);

  const facet = page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: SHOWN, exact: true }).first();
  expect(await facet.getAttribute('title')).toBe(SHOWN);
  expect(await facet.locator('.escape').allTextContents()).toEqual(['\\u200b', '\\u00ad', '\\u2060', '\\ufeff', '\\u202e']);
  await facet.click();
  expect(shown(await page.getByRole('menu').textContent())).toBe(true);
  expect(await obeyed(page)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Copy' }).click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(URL_PATH);

  await facet.click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  const chips = page.getByRole('list', { name: 'Conditions' });
  await expect.poll(async () => shown(await chips.textContent())).toBe(true);
  await expect.poll(async () => shown(await page.locator('.toast').first().textContent())).toBe(true);
  expect(await obeyed(page)).toEqual([]);

  await page.getByRole('button', { name: 'Edit as text' }).click();
  expect(shown(await page.getByRole('combobox', { name: 'Search line' }).inputValue())).toBe(true);
  await page.keyboard.press('Enter');
  await expect.poll(async () => shown(await chips.textContent())).toBe(true);
  await linesAround(page, 0);

  await page.locator('[role=grid] [aria-rowindex="2"]').click();
  const drawer = page.getByRole('dialog', { name: 'Event', exact: true });
  const tree = drawer.getByRole('tree');
  await tree.waitFor();
  expect(shown(await drawer.locator('.fields').textContent())).toBe(true);
  expect((await tree.textContent())?.split(SHOWN).length).toBe(3);
  expect(await tree.textContent()).toContain('one\\u000a\ntwo');
  expect(await obeyed(page)).toEqual([]);
  await page.keyboard.press('Escape');

  await page.getByRole('combobox', { name: 'Group by' }).selectOption('url');
  await page.getByRole('grid', { name: 'Groups' }).getByRole('button', { name: SHOWN, exact: true }).waitFor();
  expect(await obeyed(page)).toEqual([]);
});

test('a file has the value itself, and a link that is not understood is told of with escapes', async () => {
  // A browser that gives pages no files of the disk downloads them.
  const initScript = 'delete globalThis.showSaveFilePicker;';
  const { page } = await openPage(`nothing=${encodeURIComponent('\u202ex')}`, { initScript });
  await page.getByText('Not taken from the link: nothing=\\u202ex').waitFor();
  expect(await obeyed(page)).toEqual([]);
  await linesAround(page, 0);
  const choose = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByRole('menuitem', { name: 'All events as NDJSON' }).click();
  };
  const [file] = await Promise.all([page.waitForEvent('download'), choose()]);
  expect(readFileSync(await file.path(), 'utf8')).toContain(URL_PATH);
});
