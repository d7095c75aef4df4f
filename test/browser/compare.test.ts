import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { pagesOf } from './watched-page.ts';

const MINUTE = 60_000;
/** A round time, an hour or two ago. */
const TO = Math.floor(Date.now() / (60 * MINUTE)) * 60 * MINUTE - 60 * MINUTE;
const FROM = TO - 2 * 60 * MINUTE;
const LINK = `clock=utc&zone=7&from=${new Date(FROM).toISOString()}&to=${new Date(TO).toISOString()}`;

let app: RunningApp;
const openPage = pagesOf(() => app.url);

/** A rule that fires for the network of an office in the first hour alone, and for others all the time. */
beforeAll(async () => {
  app = await startApp();
  const lines = Array.from({ length: 120 }, (_, index) => {
    const at = FROM + index * MINUTE;
    const fields = { ruleId: '942100', ruleName: 'SQL injection', action: 'blocked', timestamp: at };
    const office = index < 60 ? [1, 2, 3].map((host) => ({ ...fields, ip: `198.51.100.${host}`, ua: 'Intranet/1.0' })) : [];
    const others = [{ ...fields, ip: `203.0.113.${index}`, ua: 'sqlmap' }];
    const rest = { ruleId: 'other', ruleName: 'Other', action: 'logged', ip: '192.0.2.1', ua: 'Mozilla', timestamp: at };
    return [...office, ...others, rest].map((one, place) => eventLine({ ...one, logId: `${index} ${place}` })).join('');
  });
  await ingest(app, lines.join(''));
});

afterAll(() => app?.stop());

const legend = (page: Page) => page.getByRole('region', { name: 'Events over time' }).locator('.legend');

/** `ip:198.51.100.0/24 60%`; empty while there is no line. */
async function shareOf(page: Page): Promise<string> {
  const texts = await legend(page).locator('.share-line :is(.code, .number)').allTextContents();
  return texts.map((text) => text.trim()).join(' ');
}

const valueText = (page: Page) => page.getByRole('slider', { name: 'Events over time' }).getAttribute('aria-valuetext');

/** The request of the line of shares, which has no facets. */
const forShares = (body: { readonly histogram?: object; readonly facets?: object }) =>
  body.histogram !== undefined && body.facets === undefined;

test('three clicks and the network lead to its share of the events of a rule over time', async () => {
  const watched = await openPage(LINK);
  const { page, requests, actions } = watched;
  await page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: '942100 SQL injection' }).click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await expect.poll(() => watched.lastQuestion().filters.length).toBe(1);
  await page.getByRole('button', { name: 'Compare…' }).click();
  expect(await actions()).toBe(3);
  await page.keyboard.type('ip:198.51.100.0/24');
  await page.keyboard.press('Enter');
  await legend(page).locator('.share-line').waitFor();
  expect(await shareOf(page)).toBe('ip:198.51.100.0/24 60%');
  expect(await actions()).toBe(3 + 'ip:198.51.100.0/24'.length + 1);
  const { from, to, histogram } = watched.lastQuestion();
  const asked = requests.filter((request) => request.url().endsWith('/explore')).map((request) => request.postDataJSON());
  expect(asked.filter(forShares)).toEqual([
    {
      ...{ from, to, query: '', exclude: [], pageSize: 0, histogram: { width: histogram.width, by: null } },
      filters: [
        { field: 'ruleId', op: 'eq', value: ['942100'] },
        { field: 'ip', op: 'cidr', value: ['198.51.100.0/24'] },
      ],
    },
  ]);
  // Of the rule's events three in four in the first hour, and none in the second.
  await page.getByRole('slider', { name: 'Events over time' }).focus();
  await page.keyboard.press('Home');
  expect(await valueText(page)).toContain(', 75% of them ip:198.51.100.0/24');
  expect(await shareOf(page)).toContain('75%');
  await page.keyboard.press('End');
  expect(await valueText(page)).toContain(', 0% of them ip:198.51.100.0/24');
  const difference = page.getByRole('region', { name: 'What is different about ip:198.51.100.0/24' });
  await difference.getByRole('button', { name: 'Intranet/1.0' }).waitFor();
  expect(new URL(page.url()).searchParams.get('compare-with')).toBe('ip:198.51.100.0/24');
  await page.reload();
  await expect.poll(() => shareOf(page)).toBe('ip:198.51.100.0/24 60%');
  await difference.getByRole('button', { name: 'Filter in' }).click();
  await expect.poll(() => watched.lastQuestion().filters.length).toBe(2);
  await expect.poll(() => legend(page).locator('.share-line').count()).toBe(0);
});

test('words, excluded values and a value of its own menu are compared, each with its share', async () => {
  const { page } = await openPage(`${LINK}&compare-with=${encodeURIComponent('intranet -ip:198.51.100.1')}`);
  await expect.poll(() => shareOf(page)).toBe('intranet -ip:198.51.100.1 28.6%');
  await page.getByRole('region', { name: 'What is different' }).getByText('120 events against 300 others').waitFor();
  await page.goto(`${app.url}/?${LINK}&compare=ruleId:other`);
  await expect.poll(() => shareOf(page)).toBe('ruleId:other 28.6%');
  await page.goto(`${app.url}/?${LINK}&compare=${new Date(FROM).toISOString()}/${new Date(FROM + 60 * MINUTE).toISOString()}`);
  await page.getByRole('region', { name: 'What is different' }).getByText('300 events against 120 others').waitFor();
  await page.getByText('The urls are still counted…').waitFor({ state: 'detached' });
  expect(await legend(page).locator('.share-line').count()).toBe(0);
});

test('a line with a fault is not compared, and says what is wrong', async () => {
  const { page, questions } = await openPage(LINK);
  await page.getByRole('button', { name: 'Compare…' }).click();
  const form = page.getByRole('dialog', { name: /Hold what/ });
  const button = form.getByRole('button', { name: 'Compare' });
  expect(await button.isDisabled()).toBe(true);
  for (const [line, words] of [
    ['ip:300.1.1.1/8', '300.1.1.1/8'],
    ['country:', 'character'],
    ['"open', 'character'],
  ] as const) {
    await form.getByRole('textbox').fill(line);
    await expect.poll(() => form.getByRole('status').textContent()).toContain(words);
    expect(await button.isDisabled()).toBe(true);
  }
  await page.keyboard.press('Enter');
  expect(questions().length).toBe(1);
});

test('what the program refuses of a comparison leads back to the search without one', async () => {
  const { page } = await openPage(`${LINK}&compare-with=ip:300.1.1.1/8`, { expectsFailures: true });
  await page.getByRole('alert').getByRole('button', { name: 'Stop comparing' }).click();
  await page.getByRole('region', { name: 'Fields' }).waitFor();
});

test('a share that cannot be asked for is said to be missing, with a way to ask again', async () => {
  const { page } = await openPage(LINK, { expectsFailures: true });
  await page.route('**/explore', async (route) => {
    if (forShares(route.request().postDataJSON())) await route.fulfill({ status: 503, body: '{"detail":"Not now"}' });
    else await route.continue();
  });
  await page.getByRole('button', { name: 'Compare…' }).click();
  await page.keyboard.type('sqlmap');
  await page.keyboard.press('Enter');
  const alert = page.getByRole('alert').filter({ hasText: 'The share over time is not known: Not now' });
  await alert.waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => shareOf(page)).toBe('sqlmap 28.6%');
});

test('all of a time is held against the 24 hours before it', async () => {
  const second = `clock=utc&zone=7&from=${new Date(FROM + 60 * MINUTE).toISOString()}&to=${new Date(TO).toISOString()}`;
  const { page, requests, actions } = await openPage(second);
  await page.getByRole('button', { name: 'Compare…' }).click();
  await page.getByRole('button', { name: 'All of this time with the 24 hours before' }).click();
  expect(await actions()).toBe(2);
  const difference = page.getByRole('region', { name: 'What is different in this time from that before it' });
  // In the second hour the rule fires for others alone; the office was there before.
  await difference.getByText('120 events against 300 others').waitFor();
  const lines = await difference.locator('tbody').getByRole('row').allTextContents();
  expect(lines.map((text) => text.replaceAll(/\s+/g, ' ').trim())).toContainEqual(expect.stringMatching(/^ua ?sqlmap ?50% ?20% ?60$/));
  expect(new URL(page.url()).searchParams.get('compare')).toBe('before');
  const asked = requests.filter((request) => request.url().endsWith('/explore')).map((request) => request.postDataJSON());
  const both = asked.filter(({ selection }) => selection !== undefined);
  expect(both[0]).toMatchObject({ from: FROM - 23 * 60 * MINUTE, to: TO, selection: { from: FROM + 60 * MINUTE, to: TO }, pageSize: 0 });
  expect(both[0].facets.length).toBe(9);
  await difference.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('region', { name: 'Fields' }).waitFor();
});
