import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { startChromium } from './chromium.ts';

const FIELDS = ['feature', 'ruleId', 'ip', 'ja4', 'ua', 'url', 'asn', 'country', 'action'] as const;

/** Would end a text, a filter or the page if it were taken for anything but a value. */
const HOSTILE = `<img src=x onerror="document.title='run'"> * % _ \\ ' " 'größe'`;

/** All events have one time, so that the page shows them in the order of their ids. */
const AT = Date.now() - 60_000;

/** Two groups in every dimension, of three events and of two, and an event that has no dimension at all. */
const EVENTS = [
  ...['a1', 'a2', 'a3'].map((logId) => ({
    logId,
    feature: 'waf',
    ruleId: '942100',
    ip: '198.51.100.7',
    ja4: 't13d1516h2_8daaf6152771_b186095e22b6',
    ua: HOSTILE,
    url: `https://www.example.net/${HOSTILE}`,
    asn: 64_510,
    country: 'NL',
    action: 'blocked',
  })),
  ...['b1', 'b2'].map((logId) => ({
    logId,
    feature: 'rate-limit',
    ruleId: 'rl-api',
    ip: '2001:db8::1',
    ja4: 't13d1715h2_5b57614c22b0_3d5424432f57',
    ua: 'curl/8',
    url: 'https://www.example.net/login',
    asn: 64_496,
    country: 'US',
    action: 'challenged',
  })),
  { logId: 'bare' },
];

let app: RunningApp;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  app = await startApp();
  const log = '"log":{"Message":"whole","id":9007199254740993123}}\n';
  for (const event of EVENTS)
    await ingest(
      app,
      `${eventLine({ ...event, timestamp: AT })
        .trimEnd()
        .slice(0, -1)},${log}`,
    );
  browser = await startChromium();
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

beforeEach(async () => {
  page = await browser.newPage();
  complaints = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(`${app.url}/?hours=1`);
});

afterEach(async () => {
  expect(complaints).toEqual([]);
  expect(await page.title()).toBe('shieldlog');
  await page.close();
});

const groups = (): Locator => page.locator('#groups tr');
const rows = (): Locator => page.locator('#rows tr');
const dialog = (): Locator => page.locator('#event');
const shownEvent = async (): Promise<ReturnType<typeof JSON.parse>> => JSON.parse((await page.locator('#eventText').textContent()) ?? '');

/** The line that has the focus, by its key. */
const focusedLine = (): Promise<unknown> => page.evaluate('document.activeElement.closest("tr")?.dataset.key');

/** Opens a line as a person does: with the mouse anywhere in it, or with the keyboard. */
const WAYS: readonly (readonly [string, (line: Locator) => Promise<void>])[] = [
  ['a click', (line) => line.locator('td').nth(1).click()],
  ['a click on its first cell', (line) => line.locator('button').click()],
  [
    'Enter',
    async (line) => {
      await line.locator('button').focus();
      await page.keyboard.press('Enter');
    },
  ],
];

async function rowsBecome(count: number): Promise<void> {
  await expect.poll(() => rows().count()).toBe(count);
}

describe.each(WAYS)('%s', (_way, open) => {
  test('on a group asks for its events, and Back for those of all', async () => {
    await rowsBecome(6);
    await open(groups().filter({ hasText: '2001:db8::1' }));
    await rowsBecome(2);
    expect(await page.locator('#rows').textContent()).not.toContain('198.51.100.7');
    expect(await page.locator('#eventsOf').textContent()).toBe('with ip 2001:db8::1');
    expect(await groups().filter({ hasText: '2001:db8::1' }).getAttribute('aria-current')).toBe('true');
    expect(await groups().count()).toBe(3);
    await page.goBack();
    await rowsBecome(6);
    expect(await page.locator('#eventsOf').textContent()).toBe('');
    await page.goForward();
    await rowsBecome(2);
  });

  test('on an event shows all of it, with every digit, and Back closes it', async () => {
    await rowsBecome(6);
    await open(rows().filter({ hasText: '198.51.100.7' }).first());
    expect(await dialog().isVisible()).toBe(true);
    const { logId: _logId, ...sent } = EVENTS[0] as Readonly<Record<string, unknown>>;
    expect(await shownEvent()).toMatchObject({
      logId: 'a1',
      timestamp: expect.any(Number),
      fields: { ...sent, asn: '64510' },
      log: { Message: 'whole' },
    });
    expect(await page.locator('#eventText').textContent()).toContain('9007199254740993123');
    await page.goBack();
    await expect.poll(() => dialog().isVisible()).toBe(false);
    await rowsBecome(6);
  });
});

describe('a group', () => {
  test.each(FIELDS)('by %s is asked for as it is, whatever is in it', async (field) => {
    await page.selectOption('[name=groupBy]', field);
    await expect.poll(() => page.locator('#status').textContent()).toBe(`6 events in 3 groups by ${field}`);
    await groups().nth(0).locator('button').click();
    await rowsBecome(3);
    expect(await page.locator('#eventsOf').textContent()).toBe(`with ${field} ${String(EVENTS[0]?.[field as keyof (typeof EVENTS)[0]])}`);
    expect(await page.locator('#status').textContent()).toBe(`3 events of one of 3 groups by ${field}`);
  });

  test('of events without the field cannot be asked for, and is no button', async () => {
    await rowsBecome(6);
    const bare = groups().filter({ hasText: '(none)' });
    expect(await bare.locator('button').count()).toBe(0);
    await bare.click();
    expect(await page.locator('#eventsOf').textContent()).toBe('');
  });

  test('is left by its button, by another zone and by another grouping, and comes back with the page', async () => {
    await rowsBecome(6);
    await groups().filter({ hasText: '2001:db8::1' }).locator('button').click();
    await rowsBecome(2);
    await page.reload();
    await page.selectOption('[name=hours]', '1');
    await rowsBecome(2);
    await page.selectOption('[name=groupBy]', 'asn');
    await rowsBecome(6);
    await page.selectOption('[name=groupBy]', 'ip');
    await rowsBecome(2);
    await page.locator('#allEvents').click();
    await rowsBecome(6);
    expect(await page.locator('#allEvents').isVisible()).toBe(false);
  });

  test('and an event of it are closed one after the other by Back', async () => {
    await rowsBecome(6);
    await groups().filter({ hasText: '2001:db8::1' }).locator('button').click();
    await rowsBecome(2);
    await rows().first().click();
    expect((await shownEvent()).logId).toBe('b1');
    await page.goBack();
    await expect.poll(() => dialog().isVisible()).toBe(false);
    await rowsBecome(2);
    await page.goBack();
    await rowsBecome(6);
  });
});

describe('an event', () => {
  test.each([
    ['Escape', () => page.keyboard.press('Escape')],
    ['its button', () => page.locator('#eventClose').click()],
  ])('is closed by %s, once, and the focus is where it was', async (_how, close) => {
    await rowsBecome(6);
    for (let turn = 0; turn < 2; turn++) {
      const line = rows().nth(1).locator('button');
      await line.focus();
      await page.keyboard.press('Enter');
      expect(await dialog().isVisible()).toBe(true);
      // The page asks again meanwhile, and draws its tables anew.
      const asked = page.waitForResponse((response) => response.url().endsWith('/search'));
      await page.evaluate('document.querySelector("#search").requestSubmit()');
      await asked;
      await close();
      await expect.poll(() => page.evaluate('history.state?.event ?? null')).toBeNull();
      expect(await dialog().isVisible()).toBe(false);
      await expect.poll(() => focusedLine()).toBe(`${AT} a2`);
    }
    expect(page.url()).toContain(app.url);
  });

  test('is still shown after the page was loaded again, and closed by Back', async () => {
    await rowsBecome(6);
    await rows().first().click();
    await page.reload();
    expect(await dialog().isVisible()).toBe(true);
    await page.goBack();
    await expect.poll(() => dialog().isVisible()).toBe(false);
  });

  test('of the live tail is shown too', async () => {
    await page.locator('#livePower').click();
    await expect.poll(() => page.locator('#liveStatus').textContent()).toContain('watching');
    await ingest(app, eventLine({ logId: 'live', ip: '192.0.2.99' }));
    await page.locator('#liveRows tr').filter({ hasText: '192.0.2.99' }).locator('button').focus();
    await page.keyboard.press('Enter');
    expect((await shownEvent()).logId).toBe('live');
  });
});

test('the line that has the focus keeps it when the tables are drawn anew', async () => {
  const button = groups().nth(1).locator('button');
  await button.focus();
  for (let turn = 0; turn < 3; turn++) {
    const before = await button.elementHandle();
    await page.evaluate('document.querySelector("#search").requestSubmit()');
    await expect.poll(() => before?.evaluate((element) => element.isConnected)).toBe(false);
    expect(await focusedLine()).toBe('2001:db8::1');
  }
});
