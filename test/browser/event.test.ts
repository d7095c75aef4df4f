import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines, linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

/** All events are of one minute, the later ones first in the table. */
const AT = Date.now() - 120_000;
const IP = '198.51.100.7';

/** A number that JavaScript cannot hold, members that are named like others' insides, and a list longer than is shown at first. */
const LONG = JSON.stringify(Array.from({ length: 150 }, (_, index) => index));
const LOG =
  '{"Message":"whole \\"quoted\\" größe","id":9007199254740993123,"ratio":1.10,' +
  `"__proto__":{"deep":{"deeper":[true,null,{}]}},"long":${LONG}}`;

beforeAll(async () => {
  app = await startApp();
  const lines = Array.from({ length: 30 }, (_, index) => {
    const line = eventLine({
      logId: `e${index}`,
      timestamp: AT - index * 1000,
      ip: index % 3 === 0 ? IP : `192.0.2.${index}`,
      action: 'blocked',
      url: `/${index}`,
    });
    return `${line.trimEnd().slice(0, -1)},"log":${LOG}}\n`;
  });
  await ingest(app, lines.join(''));
});

afterAll(() => app?.stop());

const drawer = (page: Page) => page.getByRole('dialog', { name: 'Event', exact: true });
const row = (page: Page, number: number) => page.locator(`[role=grid] [aria-rowindex="${number + 2}"]`);
const clipboard = (page: Page) => page.evaluate('navigator.clipboard.readText()');
const treeLines = (page: Page) => drawer(page).getByRole('treeitem');

describe('an event', () => {
  test('is opened by a click, stands in the link, and Back closes it', async () => {
    const { page } = await openPage();
    await linesAround(page, 5);
    await row(page, 3).click();
    await expect.poll(() => drawer(page).textContent()).toContain('e3');
    expect(new URL(page.url()).searchParams.get('event')).toBe(`7/${AT - 3000}/e3`);
    await page.reload();
    await expect.poll(() => drawer(page).textContent()).toContain('e3');
    await page.goBack();
    await expect.poll(() => drawer(page).count()).toBe(0);
    await page.goForward();
    await expect.poll(() => drawer(page).textContent()).toContain('e3');
  });

  test('is opened by Enter and closed by Escape and by its button; the focus goes back to the table', async () => {
    const { page } = await openPage();
    await linesAround(page, 0);
    for (const close of [() => page.keyboard.press('Escape'), () => drawer(page).getByRole('button', { name: 'Close' }).click()]) {
      await page.getByRole('grid').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await drawer(page).waitFor();
      await close();
      await expect.poll(() => drawer(page).count()).toBe(0);
      await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('grid');
    }
  });

  test('has buttons to the newer and the older one, which take no step back', async () => {
    const { page } = await openPage();
    await linesAround(page, 5);
    await row(page, 2).click();
    await drawer(page).getByRole('button', { name: 'Older event' }).click();
    await expect.poll(() => drawer(page).textContent()).toContain('e3');
    await drawer(page).getByRole('button', { name: 'Newer event' }).click();
    await drawer(page).getByRole('button', { name: 'Newer event' }).click();
    await expect.poll(() => drawer(page).textContent()).toContain('e1');
    await page.goBack();
    await expect.poll(() => drawer(page).count()).toBe(0);
  });

  test('has beside it those of the table as it is by now', async () => {
    const { page } = await openPage();
    await linesAround(page, 5);
    await row(page, 3).click();
    const older = drawer(page).getByRole('button', { name: 'Older event' });
    await older.waitFor();
    await page.getByRole('combobox', { name: 'Search line' }).fill('-url:/4,/5');
    await page.keyboard.press('Enter');
    await expect.poll(() => row(page, 4).textContent()).toContain('/6');
    await older.click();
    await expect.poll(() => drawer(page).textContent()).toContain('e6');
  });

  test('shows its log with every digit, as a tree that is folded by mouse and keyboard', async () => {
    const { page } = await openPage(`event=7/${AT}/e0`);
    await treeLines(page).first().waitFor();
    const shown = async (): Promise<string> => (await treeLines(page).allTextContents()).join('\n');
    expect(await shown()).toContain('9007199254740993123');
    expect(await shown()).toContain('1.10');
    expect(await shown()).toContain('whole "quoted" größe');
    const proto = treeLines(page).filter({ hasText: '__proto__' });
    const wasOpen = (await proto.getAttribute('aria-expanded')) === 'true';
    await proto.click();
    await expect.poll(() => proto.getAttribute('aria-expanded')).toBe(String(!wasOpen));
    await page.keyboard.press(wasOpen ? 'ArrowRight' : 'ArrowLeft');
    await expect.poll(() => proto.getAttribute('aria-expanded')).toBe(String(wasOpen));
    const long = treeLines(page).filter({ hasText: '150 elements' });
    if ((await long.getAttribute('aria-expanded')) === 'false') await long.click();
    await treeLines(page).filter({ hasText: '50 more' }).click();
    await expect
      .poll(() =>
        treeLines(page)
          .filter({ hasText: /^\s*149\s*149\s*$/ })
          .count(),
      )
      .toBe(1);
  });

  test('is said to be copied each time, also while the sentence before is still shown', async () => {
    const { page } = await openPage(`event=7/${AT}/e0`);
    await treeLines(page).first().waitFor();
    // A screen reader reads what is added to a live region, and nothing where it stays the same.
    await page.evaluate(`{
      globalThis.heard = [];
      new MutationObserver((records) => {
        for (const { addedNodes } of records) for (const { textContent } of addedNodes) heard.push(textContent);
      }).observe(document.querySelector('.toasts[role=status]'), { childList: true, characterData: true, subtree: true });
    }`);
    for (const times of [1, 2, 3]) {
      await drawer(page).getByRole('button', { name: 'Copy JSON' }).click();
      await expect.poll(() => page.evaluate('heard')).toEqual(Array(times).fill('Copied'));
    }
    expect(await page.locator('.toast').count()).toBe(1);
  });

  test('is copied without HTTPS by a key, and the focus stays on the button', async () => {
    const initScript = `Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined });`;
    const { page } = await openPage(`event=7/${AT}/e0`, { initScript });
    const button = drawer(page).getByRole('button', { name: 'Copy JSON' });
    await button.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Copy JSON');
  });

  test('is copied whole, its log byte for byte, and so is a value of the log', async () => {
    const { page } = await openPage(`event=7/${AT}/e0`);
    await drawer(page).getByRole('button', { name: 'Copy JSON' }).click();
    await expect.poll(() => clipboard(page)).toBe(LOG);
    await drawer(page).getByRole('button', { name: 'Copy event' }).click();
    await expect.poll(() => clipboard(page)).toContain(`"log":${LOG}}`);
    expect(JSON.parse(String(await clipboard(page)))).toMatchObject({ logId: 'e0', timestamp: AT, shieldZoneId: 7, fields: { ip: IP } });
    await treeLines(page).filter({ hasText: 'Message' }).click();
    await page.getByRole('menuitem', { name: 'Copy the text' }).click();
    await expect.poll(() => clipboard(page)).toBe('whole "quoted" größe');
  });

  test('has what its address did around it, and leads there', async () => {
    const { page } = await openPage(`event=7/${AT - 6000}/e6`);
    const around = drawer(page).getByRole('region', { name: 'Around it' });
    await expect.poll(() => around.getByRole('listitem').count()).toBe(10);
    expect(await around.locator('[aria-current=true]').textContent()).toContain('/6');
    await around.getByRole('button', { name: '/9' }).click();
    await expect.poll(() => drawer(page).textContent()).toContain('e9');
    await around.getByRole('button', { name: `All events of ${IP}` }).click();
    await expect.poll(() => page.getByRole('list', { name: 'Conditions' }).textContent()).toContain(IP);
    await expect.poll(async () => (await drawnLines(page)).size).toBe(10);
  });

  test('that is not there is said to be gone, and the page goes on', async () => {
    const { page } = await openPage(`event=7/${AT}/none`);
    await expect.poll(() => drawer(page).textContent()).toContain('none of zone 7');
    await drawer(page).getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => drawer(page).count()).toBe(0);
    await linesAround(page, 0);
  });
});
