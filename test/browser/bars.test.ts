import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { pagesOf, type WatchedPage } from './watched-page.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** A round time of today, an hour or two ago. */
const TO = Math.floor(Date.now() / (60 * MINUTE)) * 60 * MINUTE - 60 * MINUTE;
const FROM = TO - 3 * 60 * MINUTE;
/** An attack that begins and ends within a bar of two minutes. */
const ATTACK = { from: FROM + 61 * MINUTE + 13 * SECOND, to: FROM + 66 * MINUTE + 41 * SECOND };

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  const everyday = Array.from({ length: 2 * 180 }, (_, index) => {
    return eventLine({ asn: `6449${index % 3}`, country: 'DE', action: 'allowed', timestamp: FROM + index * 30 * SECOND });
  });
  const attack = Array.from({ length: 165 }, (_, index) => {
    const timestamp = ATTACK.from + Math.round((index / 164) * (ATTACK.to - ATTACK.from));
    return eventLine({ asn: '64510', country: 'NL', action: 'blocked', timestamp });
  });
  await ingest(app, [...everyday, ...attack].join(''));
});

afterAll(() => app?.stop());

const linkOf = (from: number, to: number): string =>
  `clock=utc&zone=7&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;

const text = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

const peaksOf = async (page: Page): Promise<readonly (string | null)[]> => {
  const peaks = page.getByRole('list', { name: 'Peaks' }).getByRole('button');
  await peaks.first().waitFor();
  return await peaks.evaluateAll((buttons) => buttons.map((button) => `${button.textContent?.trim()} ${button.getAttribute('title')}`));
};

test('the bars begin at round times wherever the window does, so that a peak is the same whenever the page is loaded', async () => {
  const { page } = await openPage(linkOf(FROM, TO));
  const first = await peaksOf(page);
  expect(first.length).toBe(1);
  expect(first[0]).toContain(`${text(FROM + 60 * MINUTE)} to ${text(FROM + 68 * MINUTE)}`);
  for (const shift of [13_000, 47_123, -71_001]) {
    await page.goto(`${app.url}/?${linkOf(FROM + shift, TO + shift)}`);
    expect(await peaksOf(page)).toEqual(first);
  }
});

test('the two bars that the window cuts say so, are drawn paler, and make no peak', async () => {
  // The first bar has a quarter of the attack's bars in it, and would stand out by itself.
  const { page } = await openPage(linkOf(ATTACK.from + 2 * MINUTE + 20 * SECOND, TO - 7 * SECOND));
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const plot = page.getByRole('slider', { name: 'Events over time' });
  const outside = 'the rest of the bar is outside of the time that is searched';
  await plot.focus();
  const words = async (...keys: readonly string[]): Promise<string> => {
    for (const key of keys) await page.keyboard.press(key);
    return (await plot.getAttribute('aria-valuetext')) ?? '';
  };
  expect(await words('Home')).toContain(outside);
  expect(await words('Home')).toContain(`${text(ATTACK.from + 2 * MINUTE + 20 * SECOND)} to`);
  expect(await words('ArrowRight')).not.toContain(outside);
  expect(await words('End')).toContain(outside);
  expect(await words('End')).toContain(`to ${text(TO - 7 * SECOND).slice(11)}`);
  expect(await words('ArrowLeft')).not.toContain(outside);
  for (const peak of await peaksOf(page)) expect(peak).not.toContain(text(ATTACK.from + 2 * MINUTE + 20 * SECOND));
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Zoom in' }).click();
  await expect
    .poll(() => new URL(page.url()).searchParams.get('from'))
    .toBe(new Date(ATTACK.from + 2 * MINUTE + 20 * SECOND).toISOString());
});

/** How bright the lowest row of the bars is at these shares of the width, 0 to 765. */
async function brightnessAt({ page }: WatchedPage, shares: readonly number[]): Promise<readonly number[]> {
  const row = `(() => {
    const canvas = document.querySelector('.plot canvas');
    const over = document.querySelector('.u-over').getBoundingClientRect();
    const place = canvas.getBoundingClientRect();
    const scale = canvas.width / place.width;
    const [left, bottom, width] = [over.left - place.left, over.bottom - place.top - 3, over.width].map((px) => Math.round(px * scale));
    const { data } = canvas.getContext('2d').getImageData(left, bottom, width, 1);
    return ${JSON.stringify(shares)}.map((share) => {
      const at = 4 * Math.round(share * width);
      return data[at] + data[at + 1] + data[at + 2];
    });
  })()`;
  return (await page.evaluate(row)) as readonly number[];
}

test('a bar that the window cuts has another colour than one that it does not', async () => {
  // Three bars of a second, of which the first and the last are cut.
  const at = FROM + 30 * MINUTE;
  await ingest(app, [0, 1_000, 2_000].map((ms) => eventLine({ shieldZoneId: 8, action: 'blocked', timestamp: at + ms + 400 })).join(''));
  const link = (shift: number) => linkOf(at + shift, at + 3_000 - shift).replace('zone=7', 'zone=8');
  const cut = await openPage(link(300));
  await cut.page.getByRole('region', { name: 'Fields' }).waitFor();
  const [first = 0, second = 0] = await brightnessAt(cut, [0.1, 0.4]);
  expect(first).toBeGreaterThan(second + 50);
  const whole = await openPage(link(0));
  await whole.page.getByRole('region', { name: 'Fields' }).waitFor();
  const [one, other] = await brightnessAt(whole, [0.1, 0.4]);
  expect(one).toBe(other);
  expect(one).toBe(second);
});

test('a peak says to the second when the first and the last event of its first line were', async () => {
  const { page, actions } = await openPage(linkOf(FROM, TO));
  await page.getByRole('list', { name: 'Peaks' }).getByRole('button').click();
  const difference = page.getByRole('region', { name: 'What is different' });
  await difference.getByText('the first event at').waitFor();
  const words = await difference.getByText('the first event at').textContent();
  expect(words).toContain(`the first event at ${text(ATTACK.from)}, the last at ${text(ATTACK.to)}`);
  expect(words).toMatch(/(asn 64510|country NL|action blocked): /);
  expect(await actions()).toBe(1);
});

test('a stretch that cuts an attack says what was in its bars and in one on each side', async () => {
  const bar = FROM + 62 * MINUTE;
  const compared = `${new Date(bar).toISOString()}/${new Date(bar + 2 * MINUTE).toISOString()}`;
  const { page } = await openPage(`${linkOf(FROM, TO)}&compare=${compared}`);
  const words = page.getByRole('region', { name: 'What is different' }).getByText('the first event at');
  await words.waitFor();
  // The attack begins in the bar before, and goes on in that behind the next one.
  expect(await words.textContent()).toContain(`the first event at ${text(ATTACK.from)}`);
  expect(await words.textContent()).toContain(`the last at ${text(bar + 3 * MINUTE + 59 * SECOND).slice(0, 15)}`);
});

test('what cannot be asked is said, with a way to ask again', async () => {
  const { page } = await openPage(linkOf(FROM, TO), { expectsFailures: true });
  const peak = page.getByRole('list', { name: 'Peaks' }).getByRole('button');
  await peak.waitFor();
  await page.route('**/explore', async (route) => {
    if (route.request().postDataJSON().groupBy === undefined) await route.continue();
    else await route.fulfill({ status: 503, body: '{"detail":"Not now"}' });
  });
  await peak.click();
  const alert = page.getByRole('alert').filter({ hasText: 'When it began is not known: Not now' });
  await alert.waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('the first event at').waitFor();
});
