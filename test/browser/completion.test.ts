import type { Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { violationsOf } from './accessibility.ts';
import { pauseClock } from './page-clock.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

const LONG = `/${'long'.repeat(4_000)}`;
/** Values that a line has to quote, or shows as escapes, each with a part of it as somebody types it. */
const ODD: readonly (readonly [value: string, part: string])[] = [
  ['two words', 'two'],
  ['a "quote"', '\\"quo'],
  ['back\\slash', 'k\\\\s'],
  ['a:b', 'a:b'],
  ['-a', '-a'],
  ['~a', '"~a'],
  ['a,b', '"a,'],
  ['*a*', '"*a'],
  ['line\nend', 'line'],
  ['\u202egpj.a', 'gpj'],
  ['\\u202ea', '"\\\\u'],
  ['größe', 'größ'],
  [LONG, 'longl'],
];

beforeAll(async () => {
  app = await startApp();
  const events = [
    ...Array.from({ length: 12 }, (_, index) => ({ country: 'NL', action: 'blocked', ip: `198.51.100.${index}`, url: '/login' })),
    ...Array.from({ length: 3 }, () => ({ country: 'NO', action: 'allowed', ip: '198.51.100.7', url: '/cart', ruleId: '942100' })),
    ...Array.from({ length: 10 }, (_, index) => ({ country: `X${index}`, ip: '2001:db8:a::1', ruleId: '1', ruleName: 'SQL injection' })),
    ...ODD.map(([url]) => ({ url, ua: url, ruleId: url, feature: 'odd' })),
    { ip: '2001:DB8:A:0::1', country: 'de' },
    { country: 'DE' },
    { country: 'DE' },
  ];
  await ingest(app, events.map((event, index) => eventLine({ logId: String(index), ...event })).join(''));
});

afterAll(() => app?.stop());

const line = (page: Page) => page.getByRole('combobox', { name: 'Search line' });
const options = (page: Page) => page.getByRole('listbox', { name: 'Completions' }).getByRole('option');
/** What is offered, each with its count. Where the machine is so busy that the program took longer than a second, it is asked again. */
async function offered(page: Page): Promise<readonly string[]> {
  if (await page.getByText('did not come within a second').isVisible()) await line(page).dispatchEvent('input');
  return (await options(page).allTextContents()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
}
const total = (page: Page): Promise<string | null> => page.getByRole('status').locator('strong').textContent();
const chosen = (page: Page) => page.locator('[role=option][aria-selected=true]');

/** The requests that completion made, by what is theirs alone: no page, no histogram, and not the values of url of the page itself. */
function asked(requests: readonly Request[]): readonly Request[] {
  return requests.filter((request) => {
    const body = request.url().endsWith('/explore') ? request.postDataJSON() : { histogram: {} };
    const isOfPage = body.facets?.[0]?.field === 'url' && body.filters.length === 0;
    return !isOfPage && body.pageSize === 0 && body.histogram === undefined && (body.facets === undefined || body.facets.length === 1);
  });
}

/** Waits until the page has all that it asks for by itself. */
const whole = (page: Page) => page.getByRole('button', { name: /values: group by url$/ }).waitFor();

async function type(page: Page, text: string): Promise<void> {
  await line(page).fill('');
  await line(page).pressSequentially(text);
}

test('fields, then the values of one by count, are taken by the keyboard alone; nothing is chosen before the arrow down', async () => {
  const watched = await openPage('q=-ip:203.0.113.1');
  const { page, requests } = watched;
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await type(page, 'co');
  await expect.poll(() => offered(page)).toEqual(['country:']);
  expect(await line(page).getAttribute('aria-expanded')).toBe('true');
  expect(await line(page).getAttribute('aria-activedescendant')).toBeNull();
  expect(await violationsOf(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  expect(await line(page).getAttribute('aria-activedescendant')).toBe(await chosen(page).getAttribute('id'));
  await page.keyboard.press('Enter');
  expect(await line(page).inputValue()).toBe('country:');
  await page.keyboard.type('n');
  await expect.poll(() => offered(page)).toEqual(['country:NL 12', 'country:NO 3']);
  expect(asked(requests).at(-1)?.postDataJSON()).toEqual({
    from: watched.lastQuestion().from,
    to: watched.lastQuestion().to,
    query: '',
    filters: [{ field: 'country', op: 'wildcard', value: ['n*'] }],
    exclude: [{ field: 'ip', op: 'eq', value: ['203.0.113.1'] }],
    pageSize: 0,
    facets: [{ field: 'country', limit: 8, order: 'count' }],
  });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(await chosen(page).count()).toBe(0);
  await page.keyboard.press('ArrowUp');
  expect(await chosen(page).textContent()).toContain('country:NO');
  await page.keyboard.press('Enter');
  expect(await line(page).inputValue()).toBe('country:NO ');
  expect(await options(page).count()).toBe(0);
  await page.keyboard.press('Enter');
  await expect.poll(() => total(page)).toBe('3 events');
});

test('Enter searches what is typed where nothing is chosen; Escape closes the list, then clears the line, then leaves it', async () => {
  const { page } = await openPage();
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await type(page, 'log');
  await expect.poll(() => offered(page)).toEqual(['url:/login 12']);
  await page.keyboard.press('Escape');
  expect(await options(page).count()).toBe(0);
  expect(await line(page).inputValue()).toBe('log');
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => offered(page)).toEqual(['url:/login 12']);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('list', { name: 'Conditions' }).textContent()).toContain('log');
  // The values of url come last.
  await page.locator('main[aria-busy=false]').waitFor();
  await expect.poll(() => page.getByRole('region', { name: 'Fields' }).textContent()).toContain('/login');
  await type(page, 'log');
  await expect.poll(() => options(page).count()).toBe(1);
  for (const value of ['log', '']) {
    await page.keyboard.press('Escape');
    expect(await line(page).inputValue()).toBe(value);
  }
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => options(page).count()).toBe(9);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  expect(await page.getByRole('button', { name: 'Search', exact: true }).evaluate((one) => one === one.ownerDocument.activeElement)).toBe(
    true,
  );
});

test('a whole address comes first, with the events of all of its spellings, then its network', async () => {
  const { page, requests } = await openPage();
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await type(page, '198.51.100.7');
  await expect.poll(() => offered(page)).toEqual(['ip:198.51.100.7 4', 'ip:198.51.100.0/24']);
  await type(page, '2001:db8:a::1');
  await expect.poll(() => offered(page)).toEqual(['ip:2001:db8:a::1 11', 'ip:2001:db8:a::/48']);
  expect(asked(requests).at(-1)?.postDataJSON()).toMatchObject({ filters: [{ field: 'ip', op: 'eq', value: ['2001:db8:a::1'] }] });
  await options(page).first().click();
  expect(await line(page).inputValue()).toBe('ip:2001:db8:a::1 ');
  await page.keyboard.press('Enter');
  await expect.poll(() => total(page)).toBe('11 events');
});

test('other words come from the values and the names of rules that the page has, without a request', async () => {
  const { page, requests } = await openPage();
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const before = requests.length;
  // A word of its own, beside another one.
  await type(page, 'sql inj');
  await expect.poll(() => offered(page)).toEqual(['ruleId:1 SQL injection']);
  await type(page, '"sql inj');
  await expect.poll(() => offered(page)).toEqual(['ruleId:1 SQL injection 10']);
  await type(page, 'login');
  await expect.poll(() => offered(page)).toEqual(['url:/login 12']);
  // Where the line has other conditions, nobody has counted it.
  await type(page, 'country:NO login');
  await expect.poll(() => offered(page)).toEqual(['url:/login']);
  expect(asked(requests.slice(before)).every((request) => JSON.stringify(request.postDataJSON()).includes('country'))).toBe(true);
});

describe('values', () => {
  test.each([
    ['of a field without a letter', 'action:', ['action:blocked 12', 'action:allowed 3']],
    ['of which some differ by case alone', 'country:d', ['country:DE 3']],
    ['behind a sign', '-action:b', ['-action:blocked 12']],
    ['behind other values', 'country:DE,no', ['country:DE,NO 3']],
    ['under other conditions of the line', 'country:NO action:', ['action:allowed 3']],
    ['that have the text within', 'url:ogi', ['url:/login 12']],
    ['that have the text within, as asked for', 'action:~ock', ['action:blocked 12']],
    ['of which there are none', 'country:zz', []],
  ])('%s', async (_what, typed, expected) => {
    const { page, requests } = await openPage();
    await page.getByRole('region', { name: 'Fields' }).waitFor();
    await type(page, typed);
    await expect.poll(() => asked(requests).filter((request) => request.timing().responseEnd > 0).length).toBeGreaterThan(0);
    await expect.poll(() => offered(page)).toEqual(expected);
  });

  test('are at most eight, the most frequent', async () => {
    const { page } = await openPage();
    await type(page, 'country:');
    await expect.poll(async () => (await offered(page)).length).toBe(8);
    expect((await offered(page)).slice(0, 3)).toEqual(['country:NL 12', 'country:DE 3', 'country:NO 3']);
  });

  test('that are odd are taken as they are, of a field whose values have names and of another', async () => {
    const { page, lastQuestion } = await openPage('q=feature:odd');
    for (const [nth, [value, part]] of ODD.entries()) {
      const field = nth % 2 === 0 ? 'url' : 'ruleId';
      await page.locator('main[aria-busy=false]').waitFor();
      await type(page, `${field}:~${part}`);
      await expect.poll(() => offered(page), { message: part }).toEqual([expect.stringMatching(/ 1$/)]);
      for (const key of ['ArrowDown', 'Enter', 'Enter']) await page.keyboard.press(key);
      await expect.poll(() => total(page)).toBe('1 event');
      expect(lastQuestion().filters.at(-1)).toEqual({ field, op: 'eq', value: [value] });
      await page.getByRole('banner').getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => total(page)).toBe(`${ODD.length} events`);
    }
  });
});

describe('the program is asked', () => {
  test('once for keys that follow each other, and what is under way is given up at the next key', async () => {
    const { page, requests } = await openPage('', { expectsFailures: true });
    await whole(page);
    const held: Route[] = [];
    await page.route('**/explore', async (route) => {
      if (held.push(route) > 1) await route.continue();
    });
    await type(page, 'country:n');
    await expect.poll(() => held.length).toBe(1);
    expect(asked(requests).length).toBe(1);
    await page.keyboard.type('o');
    await expect.poll(() => offered(page)).toEqual(['country:NO 3']);
    expect(asked(requests)[0]?.failure()?.errorText).toBe('net::ERR_ABORTED');
  });

  test('no longer than for a second, and what it refuses is said', async () => {
    const { page, requests } = await openPage('', { expectsFailures: true });
    await whole(page);
    await page.route('**/explore', () => {});
    await type(page, 'country:n');
    await expect.poll(() => page.locator('.completion').textContent()).toContain('did not come within a second');
    expect(asked(requests).map((request) => request.failure()?.errorText)).toEqual(['net::ERR_ABORTED']);
    await page.unroute('**/explore');
    const problem = { errorKey: 'store.busy', title: 'Busy', detail: 'Too much is asked' };
    await page.route('**/explore', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await page.keyboard.type('l');
    await expect.poll(() => page.locator('.completion').textContent()).toContain('Too much is asked');
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.completion').isVisible()).toBe(false);
  });

  test('not for what is left before the time is up, by Escape, by Enter or by another place of the focus', async () => {
    const { page, requests } = await openPage('', { movesClock: true });
    await whole(page);
    await pauseClock(page);
    for (const key of ['Escape', 'Tab', 'ArrowLeft']) {
      await type(page, 'country:n');
      await page.keyboard.press(key);
      await page.clock.runFor(1_000);
    }
    expect(asked(requests)).toEqual([]);
    await type(page, 'country:n');
    await page.clock.runFor(199);
    expect(asked(requests)).toEqual([]);
    await page.clock.runFor(1);
    await expect.poll(() => asked(requests).length).toBe(1);
  });
});
