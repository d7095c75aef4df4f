import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRule } from '../../alerts/rule-file.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { type PageOptions, pagesOf } from './watched-page.ts';

const MINUTE = 60_000;
const HALF = 5 * MINUTE;
/** A round time, an hour or two ago. */
const TO = Math.floor(Date.now() / (60 * MINUTE)) * 60 * MINUTE - 60 * MINUTE;
/** Attacks within half of a window of ten minutes, hours apart. */
const ATTACKS = [
  { from: TO - 50 * 60 * MINUTE, ip: '198.51.100.1', events: 50 },
  { from: TO - 10 * 60 * MINUTE, ip: '198.51.100.1', events: 50 },
  { from: TO - 8 * 60 * MINUTE, ip: '198.51.100.2', events: 30 },
];
/** More addresses than are counted, each with three events within a second. */
const ADDRESSES = 205;

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  const everyday = Array.from({ length: 60 * 12 }, (_, half) => {
    return eventLine({ shieldZoneId: 7, ip: '203.0.113.7', action: 'logged', timestamp: TO - 60 * 60 * MINUTE + half * HALF + MINUTE });
  });
  const attacks = ATTACKS.flatMap(({ from, ip, events }) => {
    return Array.from({ length: events }, (_, nth) => {
      return eventLine({ shieldZoneId: 7, ip, action: 'blocked', ua: 'it\'s "one"', timestamp: from + nth * 1_000 });
    });
  });
  const many = Array.from({ length: 3 * ADDRESSES }, (_, nth) => {
    return eventLine({ shieldZoneId: 8, ip: `198.51.100.${nth % ADDRESSES}`, timestamp: TO - 2 * MINUTE + nth });
  });
  await ingest(app, [...everyday, ...attacks, ...many].join(''));
});

afterAll(() => app?.stop());

async function openDialog(query: string, options?: PageOptions) {
  const watched = await openPage(`clock=utc&${query}`, options);
  const { page } = watched;
  await page.getByRole('button', { name: 'Alert on this' }).click();
  const dialog = page.getByRole('dialog', { name: 'Alert on this' });
  const slider = dialog.getByRole('slider', { name: 'Threshold' });
  await slider.waitFor();
  const least = dialog.getByRole('spinbutton');
  return { ...watched, dialog, slider, least, file: dialog.getByRole('textbox', { name: 'The rule' }) };
}

const preview = (page: Page) => page.locator('.alert-preview strong').textContent();

test('a rule of the search says how many windows would have hit, and in how many alerts they would have been told', async () => {
  const { page, dialog, slider, least, file, requests } = await openDialog('zone=7&last=1h');
  const address = page.url();
  const kept = await page.evaluate('JSON.stringify(localStorage)');
  await dialog.getByText('of the last 72 hours').waitFor();
  // What stands out of one event in each half is the default.
  await expect.poll(() => preview(page)).toBe('6 hits in 3 alerts');
  await least.fill('51');
  await expect.poll(() => preview(page)).toBe('4 hits in 2 alerts');
  expect(await slider.getAttribute('aria-valuetext')).toBe('At least 51 events: 4 hits in 2 alerts');
  expect(await file.inputValue()).toBe("name: 'every-event'\nzones: 7\nkind: count\nat_least: 51\nwindow: 10m\n");
  await dialog.getByRole('combobox', { name: 'in windows of' }).selectOption('1h');
  await slider.waitFor();
  // Of twelve events in an hour beside each attack.
  await least.fill('63');
  await expect.poll(() => preview(page)).toBe('0 hits in 0 alerts');
  await least.fill('62');
  await expect.poll(() => preview(page)).toBe('4 hits in 2 alerts');
  // Nothing of it is kept.
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(page.url()).toBe(address);
  expect(await page.evaluate('JSON.stringify(localStorage)')).toBe(kept);
  const written = requests.filter((request) => request.method() !== 'GET').map((request) => new URL(request.url()).pathname);
  expect(new Set(written)).toEqual(new Set(['/shield/event-logs/7/explore']));
  await page.getByRole('button', { name: 'Alert on this' }).click();
  await expect.poll(() => preview(page)).toBe('6 hits in 3 alerts');
});

test('the threshold is moved by the keyboard and by the mouse', async () => {
  const { page, slider, least } = await openDialog('zone=7');
  await least.fill('20');
  await slider.focus();
  const after = async (key: string): Promise<string | null> => {
    await page.keyboard.press(key);
    return slider.getAttribute('aria-valuenow');
  };
  expect(await after('ArrowUp')).toBe('21');
  expect(await after('ArrowLeft')).toBe('20');
  // The scale ends above the highest window, which has 52 events.
  expect(await after('End')).toBe('58');
  expect(await preview(page)).toBe('0 hits in 0 alerts');
  expect(await after('PageDown')).toBe('52');
  expect(await preview(page)).toBe('4 hits in 2 alerts');
  expect(await after('Home')).toBe('1');
  expect(await least.inputValue()).toBe('1');
  await least.fill('29');
  const box = await page.locator('.threshold-bars').boundingBox();
  const { x = 0, y = 0, width = 0, height = 0 } = box ?? {};
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2, y + height / 4, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => Math.abs(Number(await least.inputValue()) - 58 * 0.75)).toBeLessThan(2);
  await page.mouse.click(x + width / 3, y + height * 0.75);
  await expect.poll(async () => Math.abs(Number(await least.inputValue()) - 58 * 0.25)).toBeLessThan(2);
});

test('a finger moves the threshold on a telephone', async () => {
  const { page, slider, least } = await openDialog('zone=7', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await least.fill('29');
  await slider.scrollIntoViewIfNeeded();
  const { x = 0, y = 0, width = 0, height = 0 } = (await page.locator('.threshold-bars').boundingBox()) ?? {};
  const session = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', share?: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: share === undefined ? [] : [{ x: x + width / 2, y: y + height * (1 - share) }],
    });
  await touch('touchStart', 0.5);
  for (const share of [0.6, 0.7, 0.8]) await touch('touchMove', share);
  await touch('touchEnd');
  await expect.poll(async () => Math.abs(Number(await least.inputValue()) - 58 * 0.8)).toBeLessThan(2);
});

test('windows of each group are counted by themselves, also by several fields', async () => {
  const { page, dialog, least, file } = await openDialog('zone=7&group=ip,action,country,ua');
  await least.fill('30');
  await expect.poll(() => preview(page)).toBe('6 hits in 3 alerts');
  await least.fill('31');
  await expect.poll(() => preview(page)).toBe('4 hits in 2 alerts');
  expect(await file.inputValue()).toContain('by: [ip, action, country]\n');
  await dialog.getByRole('combobox', { name: 'and by' }).nth(1).selectOption('');
  await dialog.getByRole('combobox', { name: 'and by' }).first().selectOption('');
  await expect.poll(() => file.inputValue()).toContain('by: ip\n');
  await expect.poll(() => preview(page)).toBe('4 hits in 2 alerts');
});

test('where not all groups are counted, the page says from which threshold on its number is whole', async () => {
  const { page, least } = await openDialog('zone=8&group=ip');
  await least.fill('3');
  await expect.poll(() => preview(page)).toBe('at least 400 hits in 200 alerts');
  await page.getByText('from 4 events on, no other can hit').waitFor();
  await least.fill('4');
  await expect.poll(() => preview(page)).toBe('0 hits in 0 alerts');
});

test('a window of a minute is counted over three days, too, in questions one after the other', async () => {
  const { page, dialog, slider, least, requests } = await openDialog('zone=7&q=action:blocked');
  const before = requests.length;
  await dialog.getByRole('combobox', { name: 'in windows of' }).selectOption('1m');
  await least.fill('30');
  await slider.waitFor();
  // Each attack has thirty events in its first half minute, which is in two windows.
  await expect.poll(() => preview(page)).toBe('6 hits in 3 alerts');
  const asked = requests.slice(before).map((request) => request.postDataJSON());
  expect(asked.length).toBe(Math.ceil((72 * 120 - 2) / 499));
  expect(new Set(asked.map(({ histogram, pageSize }) => JSON.stringify({ histogram, pageSize }))).size).toBe(1);
});

test.each([
  ['the clipboard', undefined],
  ['a page by HTTP, which has no clipboard of its own,', "Object.defineProperty(navigator, 'clipboard', { value: undefined })"],
])('the file of the rule is copied by %s and is one that the program reads', async (_what, initScript) => {
  const line = 'ua:"it\'s \\"one\\"" -country:NL "a: b"';
  const options = initScript === undefined ? {} : { initScript };
  const { page, dialog, least, file } = await openDialog(`zone=7,8&q=${encodeURIComponent(line)}`, options);
  await least.fill('9');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('no name');
  await dialog.getByText('A name has 1 to 64 letters').waitFor();
  expect(await dialog.getByRole('button', { name: 'Copy' }).isDisabled()).toBe(true);
  await dialog.getByRole('textbox', { name: 'Name' }).fill('quoted');
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
  await file.evaluate((element) => {
    (element as unknown as { value: string }).value = '';
  });
  await page.keyboard.press('Escape');
  await page.getByRole('combobox', { name: 'Search' }).focus();
  const pasted = page.evaluate(
    "new Promise((resolve) => addEventListener('paste', (event) => resolve(event.clipboardData.getData('text/plain')), { once: true }))",
  );
  await page.keyboard.press('Control+V');
  const text = String(await pasted);
  expect(readRule(text)).toMatchObject({ name: 'quoted', zones: [7, 8], kind: { kind: 'count', atLeast: 9 }, windowMs: 10 * MINUTE });
  expect(text).toContain(`search: '"a: b" ua:"it''s \\"one\\"" -country:NL'`);
});

test('events that cannot be counted are said to be so, with a way to ask again', async () => {
  const { page, requests } = await openPage('zone=7', { expectsFailures: true });
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await page.route('**/explore', (route) => route.fulfill({ status: 503, body: '{"detail":"Not now"}' }));
  await page.getByRole('button', { name: 'Alert on this' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'The events cannot be counted: Not now' });
  await alert.waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => preview(page)).toBe('6 hits in 3 alerts');
  expect(requests.length).toBeGreaterThan(3);
});

test('times are those of the clock that is chosen, and bars that hit differ where the system forces its colours', async () => {
  const { page, dialog } = await openDialog('zone=7', { forcedColors: 'active', colorScheme: 'dark' });
  const words = await dialog.getByRole('img', { name: 'The highest window' }).getAttribute('aria-label');
  const [, first = ''] = /window of (\S+ \S+) to/.exec(words ?? '') ?? [];
  expect(Math.abs(Date.parse(`${first.replace(' ', 'T')}Z`) - (Date.now() - 72 * 60 * MINUTE))).toBeLessThan(2 * HALF);
  expect(words).toContain('has 52 events');
  const fills = (await page.evaluate(
    `[...document.querySelectorAll('.threshold-bars path')].map((bar) => getComputedStyle(bar).fill)`,
  )) as readonly string[];
  expect(new Set(fills).size).toBe(2);
});
