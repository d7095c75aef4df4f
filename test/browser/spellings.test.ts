import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

const ACTIONS = ['blocked', 'BLOCKED', 'Blocked', 'BLOCKED', 'logged', 'logged'];
const ADDRESSES = ['2001:db8::1', '2001:DB8:0::1'];

beforeAll(async () => {
  app = await startApp();
  const lines = ACTIONS.map((action, index) => {
    const ip = ADDRESSES[index % 2];
    return eventLine({ logId: `spelled-${index}`, action, ip, timestamp: Date.now() - 60_000 - index * 1_000 });
  });
  expect((await ingest(app, lines.join(''))).body.accepted).toBe(ACTIONS.length);
});

afterAll(() => app?.stop());

test('a count of a value is what its filter finds, however its events spell it', async () => {
  const { page } = await openPage();
  const card = page
    .getByRole('region', { name: 'Fields' })
    .locator('.facet')
    .filter({ has: page.getByRole('heading', { name: 'action' }) });
  const lines = async () =>
    await card
      .getByRole('listitem')
      .evaluateAll((items) =>
        items.map((item) => `${item.querySelector('.value')?.textContent?.trim()} ${item.querySelector('.number')?.textContent?.trim()}`),
      );
  await expect.poll(lines).toEqual(['BLOCKED 4', 'logged 2']);
  const legend = page.getByRole('region', { name: 'Events over time' }).locator('.legend');
  expect(await legend.getByRole('listitem').allTextContents()).toEqual(['BLOCKED4', 'logged2']);
  await card.getByRole('button', { name: 'BLOCKED', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await expect.poll(lines).toEqual(['BLOCKED 4']);
  await expect.poll(async () => await page.locator('.table-foot').textContent()).toContain('4 events');
});

test('groups of a value in several spellings say that its filter takes them all; others say nothing', async () => {
  const { page } = await openPage('group=action');
  await page.getByText('Each spelling of action is a group of its own; a filter takes all spellings of a value.').waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(5);
  const other = await openPage('group=ip');
  await other.page.getByRole('row').nth(1).waitFor();
  expect(await other.page.getByText('Each spelling of').count()).toBe(0);
});

test('the menu of an address says that every spelling of it is found', async () => {
  const { page } = await openPage();
  await page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: '2001:db8::1', exact: true }).click();
  await page.getByText('The filters are about the address in every spelling.').waitFor();
});
