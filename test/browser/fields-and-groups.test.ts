import type { Page } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import { drawnLines, linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const HOUR_MS = 3_600_000;
const TO = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
const WINDOW = { from: TO - 12 * HOUR_MS, to: TO };
const ZONE = 7;
const LINK = `zone=${ZONE}&from=${new Date(WINDOW.from).toISOString()}&to=${new Date(WINDOW.to).toISOString()}`;

interface Group {
  readonly key: Readonly<Record<string, string>>;
  readonly count: number;
}

/** What the search of the platform answers, which knows nothing of the page. */
async function groupsBy(
  fields: readonly string[],
  rest: object = {},
): Promise<{ readonly groups: readonly Group[]; readonly total: number }> {
  const response = await fetch(`${inject('demoUrl')}/shield/event-logs/${ZONE}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...WINDOW, groupBy: fields, pageSize: 100, ...rest }),
  });
  return (await response.json()) as { readonly groups: readonly Group[]; readonly total: number };
}

const number = (count: number): string => count.toLocaleString('en-GB');

/** The texts of the first cells of the lines that are drawn. */
async function firstCells(page: Page, cells: number): Promise<readonly (readonly string[])[]> {
  return [...(await drawnLines(page)).values()].map((line) => line.slice(0, cells));
}

test('trees that are no longer shown do not stay in memory', async () => {
  const { page } = await openPage(LINK);
  const developer = await page.context().newCDPSession(page);
  const nodes = async (): Promise<number> => (await developer.send('Memory.getDOMCounters')).nodes;
  const byAsn = page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: /values: group by asn$/ });
  const title = (name: string) => page.getByRole('heading', { name, exact: true });
  const groupAndBack = async (): Promise<void> => {
    await byAsn.click();
    await title('Groups').waitFor();
    await page.goBack();
    await title('Events').waitFor();
  };
  await title('Events').waitFor();
  await groupAndBack();
  await developer.send('HeapProfiler.collectGarbage');
  const before = await nodes();
  for (let turn = 0; turn < 4; turn += 1) await groupAndBack();
  await developer.send('HeapProfiler.collectGarbage');
  expect(await nodes()).toBeLessThan(2 * before);
});

describe('fields', () => {
  test('have the values and counts of the search', async () => {
    const { page } = await openPage(LINK);
    const fields = page.getByRole('region', { name: 'Fields' });
    for (const field of ['action', 'country', 'asn', 'feature']) {
      const { groups } = await groupsBy([field]);
      const card = fields.locator('.facet').filter({ has: page.getByRole('heading', { name: field }) });
      await card.first().waitFor();
      const shown = await card
        .getByRole('listitem')
        .evaluateAll((lines) =>
          lines.map(
            (line) => `${line.querySelector('.value')?.textContent?.trim()}: ${line.querySelector('.number')?.getAttribute('title')}`,
          ),
        );
      expect(shown.length).toBeGreaterThanOrEqual(Math.min(groups.length, 4));
      expect(shown.map((line) => line.replace(/ events,.*/, ''))).toEqual(
        groups.slice(0, shown.length).map(({ key, count }) => `${key[field]}: ${number(count)}`),
      );
    }
  });

  test('colour the histogram, whose legend has their counts', async () => {
    const { page } = await openPage(LINK);
    const { groups } = await groupsBy(['feature']);
    const histogram = page.getByRole('region', { name: 'Events over time' });
    await histogram.getByRole('combobox', { name: 'Coloured by' }).selectOption('feature');
    const legend = async (): Promise<readonly string[]> => await histogram.locator('.legend').getByRole('listitem').allTextContents();
    await expect.poll(legend).toEqual(groups.map(({ key, count }) => `${key['feature']}${number(count)}`));
    expect(new URL(page.url()).searchParams.get('by')).toBe('feature');
  });

  test('of an attack are told from everyday ones by a value that is compared with the rest', async () => {
    const { page } = await openPage(LINK);
    await page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: 'NL', exact: true }).click();
    await page.getByRole('menuitem', { name: 'What is different' }).click();
    const difference = page.getByRole('region', { name: 'What is different about country NL' });
    await difference.getByRole('row').nth(1).waitFor();
    const { groups } = await groupsBy(['asn'], { filters: [{ field: 'country', op: 'eq', value: ['NL'] }] });
    const network = difference.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'asn' }) });
    expect((await network.first().getByRole('button').textContent())?.trim()).toBe(groups[0]?.key['asn']);
    expect(await network.first().textContent()).toContain('100%');
    await difference.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => difference.count()).toBe(0);
  });
});

test('while an answer is awaited, the colours and differences are those of the last one, and its values filter by its fields', async () => {
  const { page } = await openPage(LINK);
  await page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: 'NL', exact: true }).click();
  await page.getByRole('menuitem', { name: 'What is different' }).click();
  const difference = page.getByRole('region', { name: 'What is different' });
  await difference.getByRole('row').nth(1).waitFor();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/explore', async (route) => {
    await released;
    // Questions that another one has taken the place of are gone by then.
    await route.continue().catch(() => {});
  });
  await difference.getByRole('row').nth(1).getByRole('button').click();
  await page.getByRole('menuitem', { name: 'What is different' }).click();
  const histogram = page.getByRole('region', { name: 'Events over time' });
  await histogram.getByRole('combobox', { name: 'Coloured by' }).selectOption('country');
  expect(await difference.getByRole('heading').textContent()).toBe('What is different about country NL');
  await histogram.locator('.legend').getByRole('button', { name: 'blocked' }).click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  expect(await page.getByRole('list', { name: 'Conditions' }).textContent()).toContain('action:blocked');
  release();
  await expect.poll(() => difference.getByRole('heading').textContent()).not.toContain('country');
});

test('the fields are there as soon as a comparison is closed, while their answer is awaited', async () => {
  const { page } = await openPage(LINK);
  const fields = page.getByRole('region', { name: 'Fields' });
  const difference = page.getByRole('region', { name: 'What is different' });
  const closed = async (): Promise<void> => {
    await difference.getByRole('button', { name: 'Close' }).click();
    await page.locator('main[aria-busy=true]').waitFor();
    await fields.waitFor();
    expect(await difference.count()).toBe(0);
  };
  await fields.waitFor();
  // The values of url come last, and the names of rules behind them.
  await expect.poll(() => fields.textContent()).not.toContain('…');
  await expect.poll(() => fields.textContent()).toMatch(/9[0-9]{5} [A-Z]/);
  const before = await fields.textContent();
  await fields.getByRole('button', { name: 'NL', exact: true }).click();
  await page.getByRole('menuitem', { name: 'What is different' }).click();
  await difference.waitFor();
  expect(await fields.count()).toBe(0);
  const compared = page.url();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/explore', async (route) => {
    if (route.request().postDataJSON().selection === undefined) await released;
    // Questions that another one has taken the place of are gone by then.
    await route.continue().catch(() => {});
  });
  await closed();
  expect(await fields.textContent()).toBe(before);

  // Opened by a link, the page has not seen the fields before.
  await page.goto(compared);
  await difference.waitFor();
  await closed();
  const values = (field: string) =>
    fields
      .locator('.facet')
      .filter({ has: page.getByRole('heading', { name: field }) })
      .getByRole('list');
  expect(await values('ip').textContent()).toBe('…');
  expect(await values('action').getByRole('listitem').count()).toBeGreaterThan(1);
  release();
  await expect.poll(() => fields.textContent()).toBe(before);
});

describe('groups', () => {
  test('by several fields in an order of choice are those of the search, and lead to their events', async () => {
    const { page } = await openPage(LINK);
    await linesAround(page, 0);
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('country');
    await page.getByRole('combobox', { name: 'Group also by' }).selectOption('action');
    const expected = async (fields: readonly string[]): Promise<readonly (readonly string[])[]> =>
      (await groupsBy(fields)).groups.slice(0, 15).map(({ key, count }) => [...fields.map((field) => key[field] ?? ''), number(count)]);
    const first = await expected(['country', 'action']);
    await expect.poll(async () => (await firstCells(page, 3)).slice(0, 15)).toEqual(first);
    await page.getByRole('button', { name: 'Move action to the front' }).click();
    const second = await expected(['action', 'country']);
    await expect.poll(async () => (await firstCells(page, 3)).slice(0, 15)).toEqual(second);
    expect(new URL(page.url()).searchParams.get('group')).toBe('action,country');
    const [action = '', country = '', count] = second[0] ?? [];
    await page.locator('[role=grid] [aria-rowindex="2"]').getByRole('gridcell').nth(2).click();
    await expect.poll(() => page.getByRole('list', { name: 'Conditions' }).textContent()).toContain(`action:${action}`);
    expect(await page.getByRole('list', { name: 'Conditions' }).textContent()).toContain(`country:${country}`);
    await expect
      .poll(() => page.getByRole('grid', { name: 'Events' }).getAttribute('aria-rowcount'))
      .toBe(String(Number(count?.replaceAll(',', '')) + 1));
    await page.goBack();
    await expect.poll(async () => (await firstCells(page, 3)).slice(0, 15)).toEqual(second);
    await page.getByRole('button', { name: 'Ungroup' }).click();
    await expect.poll(() => page.getByRole('grid', { name: 'Events' }).count()).toBe(1);
  });

  test('lead to their events by the fields that they are grouped by, also while groups by others are awaited', async () => {
    const { page } = await openPage(`${LINK}&group=country`);
    await linesAround(page, 0);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/explore', async (route) => {
      await released;
      await route.continue().catch(() => {});
    });
    await page.getByRole('combobox', { name: 'Group also by' }).selectOption('action');
    await page.locator('[role=grid] [aria-rowindex="2"]').getByRole('gridcell').nth(1).click();
    const conditions = page.getByRole('list', { name: 'Conditions' });
    await expect.poll(() => conditions.textContent()).toContain('country:');
    expect(await conditions.textContent()).not.toContain('action');
    release();
  });

  test('are stored as a file, as many as one answer may have', async () => {
    // As in a browser that gives pages no files of the disk, where downloads are the browser's.
    const { page } = await openPage(`${LINK}&group=ip`, { initScript: 'delete globalThis.showSaveFilePicker;' });
    const { groups, total } = await groupsBy(['ip'], { pageSize: 500 });
    expect(total).toBeGreaterThan(500);
    await linesAround(page, 0);
    await page.getByRole('button', { name: 'Download' }).click();
    const item = page.getByRole('menuitem', { name: `The first 500 of ${total} groups as NDJSON` });
    const [file] = await Promise.all([page.waitForEvent('download'), item.click()]);
    const stored = (await (await file.createReadStream()).toArray())
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(stored.map(({ key, count }) => [key, count])).toEqual(groups.map(({ key, count }) => [key, count]));
  });

  test('are as many as the search says, and all of them are there for somebody who scrolls', async () => {
    const { page } = await openPage(`${LINK}&group=asn,ruleId`);
    const { groups, total } = await groupsBy(['asn', 'ruleId'], { pageSize: 500 });
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(total + 1));
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    const lines = await linesAround(page, total - 1);
    // The name of the rule stands behind its id.
    expect([...lines].map(([at, [asn, rule, count]]) => [at, asn, rule?.split(' ')[0], count])).toEqual(
      [...lines.keys()].map((at) => [at, groups[at]?.key['asn'], groups[at]?.key['ruleId'], number(groups[at]?.count ?? 0)]),
    );
  });

  test('have an axis whose words do not touch, whatever the window', async () => {
    const { page } = await openPage();
    const midnight = TO - (TO % (24 * HOUR_MS));
    for (const hours of [1 / 60, 0.4, 3, 12, 26, 47, 68]) {
      const end = Math.min(TO, midnight + 0.7 * hours * HOUR_MS);
      const [from, to] = [end - hours * HOUR_MS, end].map((ms) => new Date(ms).toISOString());
      await page.goto(`${inject('demoUrl')}/?group=ip&clock=utc&from=${from}&to=${to}`);
      const words = page.locator('.axis span[aria-hidden]');
      await words.first().waitFor();
      const boxes = await words.evaluateAll((spans) =>
        spans
          .filter(({ textContent }) => textContent !== '')
          .map((span) => {
            const { left, right } = span.getBoundingClientRect();
            return { left, right };
          }),
      );
      expect(boxes.length, `${hours} hours`).toBeGreaterThan(0);
      for (const [index, { left }] of boxes.slice(1).entries())
        expect(left - (boxes[index]?.right ?? 0), `${hours} hours`).toBeGreaterThan(2);
    }
  });

  test('show two fields and their count on a telephone', async () => {
    const { page } = await openPage(`${LINK}&group=ip,url`, { viewport: { width: 360, height: 740 } });
    const head = page.getByRole('columnheader', { name: 'Events', exact: true });
    await head.waitFor();
    const { x = 0, width = 0 } = (await head.boundingBox()) ?? {};
    const { x: gridX = 0, width: gridWidth = 0 } = (await page.getByRole('grid').boundingBox()) ?? {};
    expect(x + width).toBeLessThanOrEqual(gridX + gridWidth);
  });

  test('show the longest IPv4 address whole on a telephone, and a longer value in its menu', async () => {
    const { page } = await openPage(`${LINK}&group=ip,url`, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await linesAround(page, 0);
    const values = page.locator('[role=grid] [aria-rowindex="2"] .value');
    const cut = `(() => {
      const value = document.querySelector('[role=grid] [aria-rowindex="2"] .value');
      value.textContent = '255.255.255.255';
      return value.scrollWidth - value.clientWidth;
    })()`;
    expect(await page.evaluate(cut)).toBe(0);
    const url = String(await values.nth(1).getAttribute('title'));
    expect(url).toMatch(/^https:/);
    await values.nth(1).tap();
    const title = page.getByRole('menu').getByText(url);
    await title.waitFor();
    expect(await title.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });
});
