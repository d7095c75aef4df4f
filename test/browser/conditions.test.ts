import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIMENSIONS, type Dimension } from '../../query/event-fields.ts';
import { FILTER_OP_NAMES, FILTER_OPS, type FilterOp } from '../../query/filter-ops.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  const events = [
    { logId: 'a', ip: '192.0.2.1', country: 'NL', url: 'https://www.example.net/login?a=b c', action: 'blocked' },
    { logId: 'b', ip: '192.0.2.2', country: 'DE', url: 'https://www.example.net/', action: 'allowed' },
    { logId: 'c', ip: '2001:db8::1', country: 'NL', url: 'https://www.example.net/cart', action: 'allowed' },
  ];
  await ingest(app, events.map((event, index) => eventLine({ ...event, timestamp: Date.now() - 60_000 - index })).join(''));
  await ingest(app, eventLine({ logId: 'other zone', shieldZoneId: 8, ip: '192.0.2.8' }));
});

afterAll(() => app?.stop());

const chips = (page: Page) =>
  page
    .getByRole('list', { name: 'Conditions' })
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name: /^Remove/ }) });
const chipTexts = async (page: Page): Promise<readonly string[]> =>
  (await chips(page).allTextContents()).map((text) => text.replaceAll(/\s*✕\s*/g, '').trim());
const ids = async (page: Page): Promise<readonly (string | undefined)[]> => [...(await drawnLines(page)).values()].map(([id]) => id);
const line = (page: Page) => page.getByRole('combobox', { name: 'Search line' });

async function enterLine(page: Page, text: string): Promise<void> {
  await line(page).fill(text);
  await page.keyboard.press('Enter');
}

/** Values for each operation, some with what is special in a search line. */
const VALUES: Readonly<Record<FilterOp, readonly string[]>> = {
  eq: ['a "b" \\c: d'],
  in: ['one', 'two, three'],
  contains: ['~x'],
  wildcard: ['a*b', '*'],
  cidr: ['192.0.2.0/24', '2001:db8::/32'],
};

/** What the editor calls the sides. */
const SIDES = { filters: 'keep what', exclude: 'leave out what' } as const;

const opsOf = (field: Dimension): readonly FilterOp[] =>
  FILTER_OP_NAMES.filter((op) => FILTER_OPS[op].onAddresses !== true || field === 'ip');

async function addFilter(page: Page, side: keyof typeof SIDES, field: Dimension, op: FilterOp): Promise<void> {
  await page.getByRole('button', { name: 'Add a filter' }).click();
  const editor = page.getByRole('dialog', { name: 'Add a filter' });
  await editor.getByRole('combobox', { name: 'Field' }).selectOption(field);
  await editor.getByRole('combobox', { name: 'Side' }).selectOption({ label: SIDES[side] });
  await editor.getByRole('combobox', { name: 'Operation' }).selectOption(op);
  await editor
    .getByRole('textbox', { name: 'Value' })
    .or(editor.getByRole('combobox', { name: 'Value' }))
    .fill(VALUES[op].join('\n'));
  await editor.getByRole('button', { name: 'Apply' }).click();
}

describe('conditions', () => {
  test('of every field with every operation are made by the editor, asked for, and kept by the link', async () => {
    const watched = await openPage();
    const { page } = watched;
    const expected: Record<keyof typeof SIDES, object[]> = { filters: [], exclude: [] };
    for (const [nthField, field] of DIMENSIONS.entries())
      for (const [nthOp, op] of opsOf(field).entries()) {
        // Each field and each operation has its turn on both sides.
        const side = (nthField + nthOp) % 2 === 0 ? 'filters' : 'exclude';
        await addFilter(page, side, field, op);
        expected[side].push({ field, op, value: VALUES[op] });
      }
    await expect.poll(() => watched.lastQuestion()).toMatchObject(expected);
    const texts = await chipTexts(page);
    expect(texts.length).toBe(expected.filters.length + expected.exclude.length);
    await page.reload();
    await expect.poll(() => chipTexts(page)).toEqual(texts);
    await expect.poll(() => watched.lastQuestion()).toMatchObject(expected);
  });

  test('networks are offered for addresses alone', async () => {
    const { page } = await openPage();
    await page.getByRole('button', { name: 'Add a filter' }).click();
    const editor = page.getByRole('dialog', { name: 'Add a filter' });
    const network = editor.getByRole('combobox', { name: 'Operation' }).locator('option[value=cidr]');
    expect(await network.isEnabled()).toBe(true);
    await editor.getByRole('combobox', { name: 'Field' }).selectOption('url');
    expect(await network.isDisabled()).toBe(true);
  });

  test('are changed in their chip, turned over, removed, and come back by Undo', async () => {
    const { page } = await openPage('zone=7&q=country:NL&columns=logId');
    await expect.poll(() => ids(page)).toEqual(['a', 'c']);
    await page.getByRole('button', { name: 'Edit country:NL' }).click();
    const editor = page.getByRole('dialog', { name: 'Edit country:NL' });
    await editor.getByRole('combobox', { name: 'Side' }).selectOption('exclude');
    await editor.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => ids(page)).toEqual(['b']);
    expect(await chipTexts(page)).toEqual(['-country:NL']);
    await page.getByRole('button', { name: 'Remove -country:NL' }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b', 'c']);
    await page.getByRole('banner').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => chipTexts(page)).toEqual(['-country:NL']);
    await page.keyboard.press('u');
    await expect.poll(() => chipTexts(page)).toEqual(['country:NL']);
  });

  test('are checked while they are typed', async () => {
    const { page } = await openPage();
    await page.getByRole('button', { name: 'Add a filter' }).click();
    const editor = page.getByRole('dialog', { name: 'Add a filter' });
    await editor.getByRole('combobox', { name: 'Operation' }).selectOption('cidr');
    await editor.getByRole('textbox', { name: 'Value' }).fill('192.0.2.0/24\n192.0.2.0/33');
    await expect.poll(() => editor.getByRole('status').textContent()).toContain('192.0.2.0/33');
    expect(await editor.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
  });
});

describe('the search line', () => {
  test('makes chips of free text and filters, adds to those that there are, and is edited as a whole', async () => {
    const watched = await openPage('columns=logId');
    const { page } = watched;
    await enterLine(page, 'example "a=b c" -action:allowed');
    await expect.poll(() => ids(page)).toEqual(['a']);
    expect(watched.lastQuestion()).toMatchObject({
      query: 'example "a=b c"',
      exclude: [{ field: 'action', op: 'eq', value: ['allowed'] }],
    });
    await enterLine(page, 'ip:192.0.2.0/24 url:~LOGIN country:NL,DE');
    await expect.poll(async () => (await chipTexts(page)).length).toBe(6);
    await expect.poll(() => ids(page)).toEqual(['a']);
    await page.getByRole('button', { name: 'Edit as text' }).click();
    const whole = await line(page).inputValue();
    expect(whole).toContain('ip:192.0.2.0/24');
    await enterLine(page, 'country:DE');
    await expect.poll(() => ids(page)).toEqual(['b']);
    expect(await chipTexts(page)).toEqual(['country:DE']);
    await page.goBack();
    await expect.poll(async () => (await chipTexts(page)).length).toBe(6);
  });

  test.each([
    ['country:', 8],
    ['x "never closed', 2],
    ['login ip:300.1.1.1/8', 9],
  ])('%s: says what is wrong and where, and asks for nothing', async (text, position) => {
    const { page, requests } = await openPage();
    await page.getByRole('region', { name: 'Fields' }).waitFor();
    // What the page asks by itself, such as for alerts, comes by GET, but for the values of url, which it asks for after its first answer.
    const asked = (): readonly (string | null)[] =>
      requests.filter((request) => request.method() === 'POST').map((request) => request.postData());
    await expect.poll(asked).toContainEqual(expect.stringContaining('"facets":[{"field":"url"'));
    const before = asked();
    await enterLine(page, text);
    await expect.poll(() => page.getByRole('alert').first().textContent()).toContain(`character ${position + 1}`);
    expect(await page.evaluate('document.activeElement.selectionStart')).toBe(position);
    expect(asked()).toEqual(before);
    expect(await chipTexts(page)).toEqual([]);
  });
});

describe('a value', () => {
  test('is filtered in and out, grouped by and copied by its menu, and each change is taken back at once', async () => {
    const { page } = await openPage('zone=7&columns=logId');
    const value = page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: 'NL', exact: true });
    const choose = async (name: string): Promise<void> => {
      await value.click();
      await page.getByRole('menuitem', { name }).click();
    };
    await value.waitFor();
    await choose('Filter out');
    await expect.poll(() => ids(page)).toEqual(['b']);
    const toast = page.getByRole('status').filter({ hasText: 'Filtered out: country NL' });
    await toast.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => ids(page)).toEqual(['a', 'b', 'c']);
    await choose('Filter in');
    await expect.poll(() => ids(page)).toEqual(['a', 'c']);
    await page.keyboard.press('u');
    await expect.poll(() => ids(page)).toEqual(['a', 'b', 'c']);
    await choose('Copy');
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('NL');
    await choose('Group by country');
    await expect.poll(() => new URL(page.url()).searchParams.get('group')).toBe('country');
    await expect
      .poll(async () => [...(await drawnLines(page)).values()].map(([key, count]) => [key, count]))
      .toEqual([
        ['NL', '2'],
        ['DE', '1'],
      ]);
    await page.getByRole('button', { name: /group by action/ }).click();
    const grouped = page.getByRole('status').filter({ hasText: 'Grouped by country, action' });
    await grouped.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('group')).toBe('country');
    await choose('Ungroup country');
    await expect.poll(() => page.getByRole('status').filter({ hasText: 'No longer grouped by country' }).count()).toBe(1);
  });
});

test('a filter by (none) says that it finds no empty values, which are counted with the missing ones', async () => {
  // Before the time that the page begins with, so that the other tests see nothing of them.
  const timestamp = Date.now() - 20 * 3_600_000;
  const events = [{ logId: 'missing' }, { logId: 'empty', country: '' }, { logId: 'other', country: 'NL' }];
  await ingest(app, events.map((event) => eventLine({ ...event, shieldZoneId: 9, timestamp })).join(''));
  const [from, to] = [timestamp - 60_000, timestamp + 60_000].map((ms) => new Date(ms).toISOString());
  const { page } = await openPage(`zone=9&from=${from}&to=${to}&columns=logId`);
  const none = page
    .getByRole('region', { name: 'Fields' })
    .locator('.facet', { has: page.getByRole('heading', { name: 'country' }) })
    .getByRole('button', { name: '(none)' });
  const choose = async (name: string): Promise<void> => {
    await none.click();
    expect(await page.getByRole('menu').textContent()).toContain('The filters are about those without it alone.');
    await page.getByRole('menuitem', { name }).click();
  };
  await choose('Filter out');
  await expect.poll(async () => (await ids(page)).toSorted()).toEqual(['empty', 'other']);
  expect((await chipTexts(page)).join()).toContain('Events with an empty country are found, too.');
  await choose('Filter in');
  await page.getByRole('button', { name: 'Remove country:*', exact: true }).click();
  await expect.poll(() => ids(page)).toEqual(['missing']);
  expect((await chipTexts(page)).join()).toContain('Events with an empty country are not found.');
});

describe('zones', () => {
  test('are chosen from those with events, one or several, or typed', async () => {
    const watched = await openPage('columns=logId');
    const { page, requests } = watched;
    await expect.poll(() => ids(page)).toEqual(['other zone', 'a', 'b', 'c']);
    await page.getByRole('button', { name: 'Zones: All zones' }).click();
    const picker = page.getByRole('dialog', { name: /^Zones/ });
    await picker.getByRole('button', { name: 'Zone 8', exact: true }).click();
    await expect.poll(() => ids(page)).toEqual(['other zone']);
    expect(requests.at(-1)?.url()).toContain('/shield/event-logs/8/explore');
    await page.getByRole('button', { name: 'Zones: Zone 8' }).click();
    await picker.getByRole('checkbox', { name: 'Zone 7' }).check();
    await picker.getByRole('button', { name: 'Search zones 7, 8' }).click();
    await expect.poll(() => ids(page)).toEqual(['other zone', 'a', 'b', 'c']);
    expect(new URL(page.url()).searchParams.get('zone')).toBe('7,8');
    await page.getByRole('button', { name: 'Zones: Zones 7, 8' }).click();
    await picker.getByRole('textbox').fill('7,eight');
    await expect.poll(() => picker.getByRole('status').textContent()).toContain('whole numbers');
    await picker.getByRole('textbox').fill('7');
    await page.keyboard.press('Enter');
    await expect.poll(() => ids(page)).toEqual(['a', 'b', 'c']);
  });
});

test('a word that looks like a filter and names no field is told of, also after a reload, Back and Forward', async () => {
  const { page } = await openPage();
  const note = page.getByRole('status').filter({ hasText: 'no field is called contry' });
  await enterLine(page, 'contry:DE');
  await expect.poll(() => note.textContent()).toMatch(/^contry:DE is searched as a text.* country, action$/);
  await page.reload();
  await expect.poll(() => note.count()).toBe(1);
  await page.getByRole('button', { name: 'Remove contry:DE' }).click();
  await expect.poll(() => note.count()).toBe(0);
  await page.goBack();
  await expect.poll(() => note.count()).toBe(1);
  await page.goForward();
  await expect.poll(() => note.count()).toBe(0);
});

test('a word that may be why nothing is found is told of once that is known, and no more when something is', async () => {
  const { page } = await openPage('columns=logId');
  const notes = page.getByRole('search').getByRole('status');
  await enterLine(page, 'ua:curl');
  await expect.poll(() => notes.allTextContents()).toEqual(['ua:curl finds whole values alone; ua:~curl finds those that contain it']);
  await page.reload();
  await expect.poll(() => notes.textContent()).toContain('ua:curl finds whole values alone');
  await page.getByRole('button', { name: 'Remove ua:curl' }).click();
  await enterLine(page, '2001:db8::1');
  await expect
    .poll(() => notes.allTextContents())
    .toEqual(['2001:db8::1 is searched as a text; ip:2001:db8::1 finds the address in any spelling']);
  await expect.poll(() => ids(page)).toEqual(['c']);
});

test.each([
  ['198.51.100.7:443 2001:db8::9', '2 addresses are searched as texts; ip:198.51.100.7,2001:db8::9 finds any of them'],
  ['ip:198.51.100.7\u200b', 'ip:198.51.100.7\\u200b has the invisible character U+200B in it; ip:198.51.100.7 has not'],
  ['ruleName:nowhere', 'ruleName:nowhere is searched as a text, because ruleName is no filter; nowhere finds it in rule names, too'],
  ['url:~größe', 'url:~größe may stand in a url as url:~gr%C3%B6%C3%9Fe'],
])('%s: the spelling that may be meant is told of, with what nobody sees as an escape', async (line, note) => {
  const { page } = await openPage('columns=logId');
  await enterLine(page, line);
  await expect.poll(() => page.getByRole('search').getByRole('status').allTextContents()).toEqual([note]);
});
