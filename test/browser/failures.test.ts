import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addressOf, killAll, startCli } from '../src/cli/cli-process.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const KEY = 'a-key-of-sixteen-characters';

let app: RunningApp;
let url: string;
const openPage = pagesOf(() => url);

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `page:${KEY}:7+9` } });
  url = app.url;
  for (const logId of ['a', 'b']) await ingest(app, eventLine({ logId, country: 'NL' }), { AccessKey: KEY });
});

afterEach(() => {
  url = app.url;
});

afterAll(async () => {
  await app?.stop();
  await killAll();
});

const ids = async (page: Page): Promise<readonly (string | undefined)[]> =>
  [...(await drawnLines(page)).values()].map(([id]) => id).toSorted();
const notice = (page: Page) => page.locator('.notice');

/** The page with its key, as after somebody has typed it. */
const WITH_KEY = { initScript: `sessionStorage.setItem('shieldlog access key', '${KEY}')` };

describe('an access key', () => {
  test('is asked for when the program wants one, and again when it is wrong; it is in no link, and is forgotten with the tab', async () => {
    const { page } = await openPage('columns=logId', { expectsFailures: true });
    const dialog = page.getByRole('dialog', { name: 'Access key' });
    await dialog.getByLabel('Key').fill('a-wrong-key-of-some-length');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Key').fill(KEY);
    await page.keyboard.press('Enter');
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
    expect(page.url()).not.toContain(KEY);
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(KEY);
    await page.reload();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  });

  test('is asked for again, whichever request it is that the program refuses', async () => {
    const { page } = await openPage('columns=logId', { ...WITH_KEY, expectsFailures: true });
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
    const dialog = page.getByRole('dialog', { name: 'Access key' });
    for (const [path, button] of [
      ['zones', /^Zones:/],
      ['all/tail', 'Live'],
    ] as const) {
      const detail = `${path} is refused`;
      await page.route(`**/event-logs/${path}?**`, (route) => route.fulfill({ status: 401, json: { detail } }));
      await page.getByRole('button', { name: button, exact: true }).click();
      await expect.poll(() => dialog.getByRole('alert').textContent()).toBe(detail);
      await page.keyboard.press('Escape');
      await expect.poll(() => dialog.count()).toBe(0);
      await page.keyboard.press('Escape');
    }
  });

  test('with a character that cannot be sent is said to have one, in the dialog and by the live tail', async () => {
    const { page } = await openPage('columns=logId&live=on', { expectsFailures: true });
    const dialog = page.getByRole('dialog', { name: 'Access key' });
    await dialog.getByLabel('Key').fill('a-key-with-€-inside-it');
    await page.keyboard.press('Enter');
    await expect.poll(() => dialog.getByRole('alert').textContent()).toContain('Character 12 of the key');
    await expect.poll(() => page.getByRole('main').textContent()).toContain('refused the live tail: Character 12 of the key');
    expect(await notice(page).textContent()).not.toContain('No connection');
    await dialog.getByLabel('Key').fill(KEY);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('main').textContent()).toContain('Watching');
  });

  test('that does not open a zone is said so, with a way to those that it opens', async () => {
    const { page } = await openPage('columns=logId&zone=8', { ...WITH_KEY, expectsFailures: true });
    await expect.poll(() => notice(page).textContent()).toContain('Not with this key');
    await notice(page).getByRole('button', { name: 'All zones of the key' }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  });
});

test('a browser that lets the page keep nothing shows it all the same, with a key until it is left', async () => {
  const refuse = (name: string) =>
    `Object.defineProperty(globalThis, '${name}', { get() { throw new DOMException('no', 'SecurityError'); } });`;
  const initScript = refuse('localStorage') + refuse('sessionStorage');
  const { page } = await openPage('columns=logId', { initScript, expectsFailures: true });
  await page.getByRole('dialog', { name: 'Access key' }).getByLabel('Key').fill(KEY);
  await page.keyboard.press('Enter');
  await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  await page.getByRole('button', { name: 'Colours: auto' }).click();
  await page.getByRole('button', { name: 'Colours: light' }).waitFor();
});

describe('a slow search', () => {
  test('says so, is given up by a button, and asked again', async () => {
    const { page } = await openPage('columns=logId', WITH_KEY);
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/explore', async (route) => {
      await released;
      // The page has given it up meanwhile.
      await route.continue().catch(() => {});
    });
    await page.getByRole('button', { name: 'Refresh' }).click();
    // The program stops a query whose request is cut off.
    const cutOff = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/explore'));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await cutOff;
    await expect.poll(() => notice(page).textContent()).toContain('given up');
    expect(await ids(page)).toEqual(['a', 'b']);
    release();
    await page.unroute('**/explore');
    await notice(page).getByRole('button', { name: 'Search again' }).click();
    await expect.poll(() => notice(page).count()).toBe(0);
  });
});

describe('what is wrong with a question', () => {
  test('is shown at the condition that it is about', async () => {
    const search = JSON.stringify({
      filters: [
        { field: 'ip', op: 'cidr', value: ['192.0.2.0/99'] },
        { field: 'country', op: 'eq', value: ['NL'] },
      ],
    });
    const { page } = await openPage(`columns=logId&${new URLSearchParams({ search })}`, { ...WITH_KEY, expectsFailures: true });
    await expect.poll(() => notice(page).textContent()).toContain('This cannot be searched');
    const wrong = page.getByRole('list', { name: 'Conditions' }).locator('[aria-invalid=true]');
    expect(await wrong.count()).toBe(1);
    expect(await wrong.textContent()).toContain('192.0.2.0/99');
    expect(await wrong.getAttribute('title')).toContain('192.0.2.0/99');
    await page.getByRole('button', { name: /^Remove ip/ }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  });

  test('about a time that has partly left the reach of searches is said in times, with what is left of it', async () => {
    const hour = 3_600_000;
    const time = (ms: number): string => new Date(ms).toISOString();
    const link = `columns=logId&from=${time(Date.now() - 80 * hour)}&to=${time(Date.now() + hour)}`;
    const { page } = await openPage(link, { ...WITH_KEY, expectsFailures: true });
    await expect.poll(() => notice(page).textContent()).toMatch(/Searches reach 72 hours back, by now to \d{4}-\d\d-\d\d \d\d:/);
    await notice(page).getByRole('button', { name: 'What of it can be searched' }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  });

  test('in a link is left out and named', async () => {
    const { page } = await openPage('columns=logId&group=nothing&clock=moon', WITH_KEY);
    await expect.poll(() => notice(page).textContent()).toContain('group=nothing, clock=moon');
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
    await notice(page).getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => notice(page).count()).toBe(0);
  });
});

describe('nothing found', () => {
  test('says which conditions stand in the way, and takes one away', async () => {
    const { page } = await openPage('columns=logId&q=country:NL+nowhere', WITH_KEY);
    await expect.poll(() => notice(page).textContent()).toContain('No event');
    await notice(page).getByRole('button', { name: 'Without nowhere' }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  });

  test('for a very long condition stays inside of the window', async () => {
    const { page } = await openPage(`columns=logId&q=${'nowhere'.repeat(146)}`, WITH_KEY);
    await expect.poll(() => notice(page).textContent()).toContain('No event in all zones in the last 12 hours meets the condition.');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: /^Remove nowhere/ }).click();
    const said = page.locator('.toast').filter({ hasText: 'Removed' });
    expect((await said.boundingBox())?.height).toBeLessThan(200);
    await said.getByRole('button', { name: 'Undo' }).waitFor();
  });

  test('in a zone without events leads to the zones that have some', async () => {
    const { page } = await openPage('columns=logId&zone=9', WITH_KEY);
    await expect.poll(() => notice(page).textContent()).toContain('There are no events in zone 9');
    await notice(page).getByRole('button', { name: 'Zone 7' }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b']);
  });
});

describe('a lost connection', () => {
  test('is said, leaves what is shown, and heals by itself when the program is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shieldlog-lost-'));
    const start = (port: string) => startCli(['serve', '--port', port, '--data-dir', folder]);
    const first = start('0');
    url = await addressOf(first);
    await ingest({ url }, eventLine({ logId: 'kept' }));
    const { page } = await openPage('columns=logId', { expectsFailures: true });
    await expect.poll(() => ids(page)).toEqual(['kept']);
    first.child.kill('SIGTERM');
    await first.ended;
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect.poll(() => notice(page).textContent()).toContain('No connection');
    expect(await ids(page)).toEqual(['kept']);
    await addressOf(start(new URL(url).port));
    await expect.poll(() => notice(page).count()).toBe(0);
    await page.reload();
    await expect.poll(() => ids(page)).toEqual(['kept']);
    await killAll();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('events that the program cannot read', () => {
  test('are counted above what is shown', async () => {
    const damaged = await startApp();
    // The page is closed by then: it may still ask for something.
    onTestFinished(() => damaged.stop());
    url = damaged.url;
    await ingest(damaged, eventLine({ logId: 'whole' }));
    await damaged.store.settle('flush');
    const segments = () => readdirSync(join(damaged.dataDir, 'segments')).filter((name) => !name.includes('-log'));
    const whole = segments();
    await ingest(damaged, `${eventLine({ logId: 'lost', shieldZoneId: 9 })}${eventLine({ logId: 'lost, too', shieldZoneId: 9 })}`);
    await damaged.store.settle('flush');
    for (const name of segments().filter((one) => !whole.includes(one))) rmSync(join(damaged.dataDir, 'segments', name));
    const { page } = await openPage('columns=logId');
    await expect.poll(() => ids(page)).toEqual(['whole']);
    await expect.poll(() => notice(page).textContent()).toContain('up to 2 events cannot be read');
  });
});
