import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf, type WatchedPage } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

/** Of each zone: the ids of its rules with their names, the most frequent first. */
const RULES: Readonly<Record<number, readonly (readonly [id: string, name: string | undefined])[]>> = {
  7: [
    ['942100', 'SQL injection'],
    ['r-2', 'Bad bots'],
    ['r-3', undefined],
  ],
  8: [['942100', 'Other words']],
};

beforeAll(async () => {
  app = await startApp();
  for (const [zone, rules] of Object.entries(RULES)) {
    for (const [index, [ruleId, ruleName]] of rules.entries()) {
      const fields = { shieldZoneId: Number(zone), ruleId, ruleName, country: `N${index}`, action: 'blocked' };
      const lines = Array.from({ length: 5 - index }, (_, at) => eventLine({ ...fields, logId: `${zone} ${ruleId} ${at}` }));
      await ingest(app, lines.join(''));
    }
  }
});

afterAll(() => app?.stop());

const ruleRequests = ({ requests }: WatchedPage) => requests.filter((request) => request.url().includes('/rules?'));

const ruleCard = ({ page }: WatchedPage) =>
  page
    .getByRole('region', { name: 'Fields' })
    .locator('.facet')
    .filter({ has: page.getByRole('heading', { name: 'ruleId' }) });

const named = ['942100 SQL injection', 'r-2 Bad bots', 'r-3'];

const texts = (all: readonly string[]): readonly string[] => all.map((text) => text.trim());

test('the name of a rule stands beside its id in fields, menus, differences and groups, and is a column', async () => {
  const watched = await openPage('zone=7');
  const { page } = watched;
  const values = ruleCard(watched).locator('.value');
  await expect.poll(async () => texts(await values.allTextContents())).toEqual(named);
  expect(await page.getByRole('columnheader', { name: 'Rule name' }).count()).toBe(1);
  await values.first().click();
  await page.getByText('ruleId: 942100 SQL injection').waitFor();
  await page.getByRole('menuitem', { name: 'Group by ruleId' }).click();
  const cells = async () => [...(await drawnLines(page)).values()].map(([first]) => first);
  await expect.poll(cells).toEqual(named);
  await page.getByRole('button', { name: 'Ungroup' }).click();
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('country');
  await page.getByRole('gridcell', { name: '942100 SQL injection' }).waitFor();
  const countries = page
    .getByRole('region', { name: 'Fields' })
    .locator('.facet')
    .filter({ has: page.getByRole('heading', { name: 'country' }) });
  await countries.locator('.value').first().click();
  await page.getByRole('menuitem', { name: 'What is different' }).click();
  await page.getByRole('region', { name: 'What is different' }).getByRole('button', { name: '942100 SQL injection' }).waitFor();
  expect(ruleRequests(watched).length).toBe(1);
});

test('a name is of the zones that are shown, and filters go by the id alone', async () => {
  const watched = await openPage('zone=7');
  const { page } = watched;
  await expect.poll(async () => texts(await ruleCard(watched).locator('.value').allTextContents())).toEqual(named);
  await page.getByRole('button', { name: /^Zones:/ }).click();
  await page.getByRole('textbox', { name: 'Zones, with commas' }).fill('8');
  await page.keyboard.press('Enter');
  await ruleCard(watched).getByRole('button', { name: '942100 Other words', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await expect.poll(() => watched.lastQuestion().filters).toEqual([{ field: 'ruleId', op: 'eq', value: ['942100'] }]);
  expect(ruleRequests(watched).length).toBe(2);
});

test('a rule that is not known yet is asked for after a minute, and one that has no name only once', async () => {
  // A window between two times stays the same while the clock of the page goes ahead.
  const [from, to] = [Date.now() - 3_600_000, Date.now() + 30_000].map((ms) => new Date(ms).toISOString());
  const watched = await openPage(`zone=9&from=${from}&to=${to}`, { movesClock: true });
  const { page } = watched;
  const values = async () => texts(await ruleCard(watched).locator('.value').allTextContents());
  await page.locator('main[aria-busy=false]').waitFor();
  await ingest(app, eventLine({ shieldZoneId: 9, ruleId: 'first', ruleName: 'The first' }));
  await page.getByRole('button', { name: 'Refresh' }).click();
  const valuesSoon = async () => {
    await page.clock.runFor(10);
    return values();
  };
  await expect.poll(valuesSoon).toEqual(['first The first']);
  await ingest(
    app,
    eventLine({ shieldZoneId: 9, ruleId: 'second', ruleName: 'The second' }) + eventLine({ shieldZoneId: 9, ruleId: 'third' }),
  );
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect.poll(values).toEqual(['first The first', 'second', 'third']);
  const before = ruleRequests(watched).length;
  await page.clock.runFor(40_000);
  // A request that was sent meanwhile would be answered before this one.
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('main[aria-busy=false]').waitFor();
  expect([await values(), ruleRequests(watched).length]).toEqual([['first The first', 'second', 'third'], before]);
  await page.clock.runFor(21_000);
  await expect.poll(values).toEqual(['first The first', 'second The second', 'third']);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('main[aria-busy=false]').waitFor();
  await page.clock.runFor(130_000);
  expect(ruleRequests(watched).length).toBe(before + 1);
});

test('a page without names works as well', async () => {
  const watched = await openPage('zone=7', { expectsFailures: true });
  const { page } = watched;
  await page.route('**/rules?*', (route) => route.fulfill({ status: 503, body: '{}' }));
  await page.reload();
  await expect.poll(async () => texts(await ruleCard(watched).locator('.value').allTextContents())).toEqual(['942100', 'r-2', 'r-3']);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('names are there for the search line where the fields are folded away', async () => {
  const initScript = "localStorage.setItem('shieldlog fields', 'folded')";
  const watched = await openPage('zone=7', { initScript });
  const { page } = watched;
  await expect.poll(() => ruleRequests(watched).length).toBe(1);
  await page.keyboard.press('/');
  await page.keyboard.type('injec');
  await page.getByRole('option', { name: 'ruleId:942100' }).waitFor();
});
