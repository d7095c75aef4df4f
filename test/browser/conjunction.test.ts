import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { pagesOf } from './watched-page.ts';

const MINUTE = 60_000;
/** A round time, an hour or two ago. */
const TO = Math.floor(Date.now() / (60 * MINUTE)) * 60 * MINUTE - 60 * MINUTE;
const FROM = TO - 60 * MINUTE;
const LINK = `clock=utc&zone=7&from=${new Date(FROM).toISOString()}&to=${new Date(TO).toISOString()}`;
const ATTACK = { from: FROM + 30 * MINUTE, to: FROM + 32 * MINUTE };
const COMPARED = `compare=${new Date(ATTACK.from).toISOString()}/${new Date(ATTACK.to).toISOString()}`;

let app: RunningApp;
const openPage = pagesOf(() => app.url);

/** The attack is of one network and one user agent; of everyday events half have the one, and half the other, and none has both. */
beforeAll(async () => {
  app = await startApp();
  const everyday = Array.from({ length: 240 }, (_, index) => {
    const own = index % 2 === 0 ? { asn: '64510', ua: `Browser ${index % 7}` } : { asn: `6449${index % 5}`, ua: 'curl' };
    const timestamp = FROM + Math.floor(index / 4) * MINUTE + 100;
    return eventLine({ ...own, logId: `everyday ${index}`, action: 'allowed', ruleId: 'r-1', ruleName: 'Usual', timestamp });
  });
  const attack = Array.from({ length: 100 }, (_, index) => {
    const timestamp = ATTACK.from + 5_000 + index * 1_000;
    return eventLine({ logId: `attack ${index}`, asn: '64510', ua: 'curl', action: 'allowed', ruleId: 'r-1', timestamp });
  });
  await ingest(app, [...everyday, ...attack].join(''));
});

afterAll(() => app?.stop());

const firstLine = (page: Page) => page.getByRole('region', { name: 'What is different' }).getByRole('row').nth(1);

test('values that come together stand first where they tell more than the best one alone, and one click filters by them', async () => {
  const watched = await openPage(`${LINK}&${COMPARED}`);
  const { page, requests, actions } = watched;
  const button = firstLine(page).getByRole('button', { name: '64510 and curl' });
  await button.waitFor();
  expect((await firstLine(page).textContent())?.replaceAll(/\s+/g, ' ')).toContain('asn + ua');
  // Of the 108 events of these two minutes 100 have both, and none of the others.
  expect(await firstLine(page).locator('.bars').textContent()).toMatch(/^92\.6%\s*0%$/);
  expect(await firstLine(page).getByRole('cell').last().textContent()).toBe('100');
  const asked = requests.filter((request) => request.url().endsWith('/explore')).map((request) => request.postDataJSON());
  const combined = asked.filter(({ combinations }) => combinations !== undefined);
  expect(combined.length).toBe(1);
  expect(combined[0]).toMatchObject({ pageSize: 0, selection: ATTACK, from: FROM, to: TO });
  const words = page.getByRole('region', { name: 'What is different' }).getByText('the first event at');
  await words.waitFor();
  expect(await words.textContent()).toContain('asn 64510 and ua curl: the first event at');
  expect(await words.textContent()).toContain(new Date(ATTACK.from + 5_000).toISOString().slice(11, 19));
  await button.click();
  expect(await actions()).toBe(1);
  await expect
    .poll(() => watched.lastQuestion().filters)
    .toEqual([
      { field: 'asn', op: 'eq', value: ['64510'] },
      { field: 'ua', op: 'eq', value: ['curl'] },
    ]);
  await page.goBack();
  await expect.poll(() => watched.lastQuestion().filters).toEqual([]);
});

test('a value that tells as much by itself stands first alone', async () => {
  const { page } = await openPage(`${LINK}&compare=asn:64491`);
  await firstLine(page).getByRole('button', { name: 'curl', exact: true }).waitFor();
  await page.getByText('The urls are still counted…').waitFor({ state: 'detached' });
  expect(await page.getByRole('region', { name: 'What is different' }).getByText(' + ').count()).toBe(0);
});

test('what cannot be asked is said, and the list is there', async () => {
  const { page } = await openPage(LINK, { expectsFailures: true });
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await page.route('**/explore', async (route) => {
    if (route.request().postDataJSON().combinations === undefined) await route.continue();
    else await route.fulfill({ status: 503, body: '{"detail":"Not now"}' });
  });
  await page.getByRole('list', { name: 'Peaks' }).getByRole('button').first().click();
  const alert = page.getByRole('alert').filter({ hasText: 'Which values come together is not known: Not now' });
  await alert.waitFor();
  await page.getByText('the first event at').waitFor();
  expect(await firstLine(page).getByRole('rowheader').textContent()).toMatch(/^(asn|ua)$/);
  await page.unrouteAll({ behavior: 'wait' });
  await alert.getByRole('button', { name: 'Try again' }).click();
  await firstLine(page).getByRole('button', { name: '64510 and curl' }).waitFor();
});
