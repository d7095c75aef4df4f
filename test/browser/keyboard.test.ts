import type { Locator, Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

/** What has the focus: its role or element, and its name. */
function focused(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    const name = element.getAttribute('aria-label') ?? element.textContent;
    return (element.getAttribute('role') ?? element.localName) + ' ' + name.trim();
  })()`);
}

/** Presses Tab until what has the focus is as wanted. */
async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < 90; presses += 1) {
    await page.keyboard.press('Tab');
    const name = await focused(page);
    if (wanted.test(name)) return;
    passed.push(name);
  }
  throw new Error(`Tab comes by no ${wanted}: ${passed.join(', ')}`);
}

const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

const conditions = async (page: Page): Promise<string | null> => page.getByRole('list', { name: 'Conditions' }).textContent();

test('everything is done without a mouse: search, time, a filter, the histogram, values, groups, an event and its log', async () => {
  const { page, lastQuestion } = await openPage('zone=1');
  await page.mouse.move(0, 0);
  await linesAround(page, 0);

  await press(page, '/');
  expect(await focused(page)).toContain('Search line');
  await page.keyboard.type('login');
  await press(page, 'Enter');
  await expect.poll(() => conditions(page)).toContain('login');
  await linesAround(page, 0);

  // Out of the line, a single key opens the time; Escape leaves it, and the focus is where it was.
  await tabTo(page, /Search$/);
  await press(page, 't');
  await expect.poll(() => page.getByRole('dialog', { name: /^Time:/ }).count()).toBe(1);
  await press(page, 'Escape');
  await expect.poll(() => focused(page)).toBe('button Search');

  await press(page, 'f');
  const editor = page.getByRole('dialog', { name: 'Add a filter' });
  await expect.poll(() => editor.count()).toBe(1);
  await tabTo(page, /Value/);
  await page.keyboard.type('100.96.0.1');
  await press(page, 'Enter');
  await expect.poll(() => conditions(page)).toContain('ip:100.96.0.1');
  await press(page, 'u');
  await expect.poll(() => conditions(page)).not.toContain('100.96.0.1');

  // A stretch of the histogram is chosen by Shift and the arrows. An answer that comes meanwhile would bring other bars.
  await page.locator('main[aria-busy=false]').waitFor();
  await tabTo(page, /^slider/);
  const whole = lastQuestion();
  await press(page, 'End', 'ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter');
  await expect.poll(() => focused(page)).toContain('What is different');
  await press(page, 'ArrowDown', 'Enter');
  await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(true);
  const bars = (): number => {
    const { from, to } = lastQuestion();
    return (to - from) / whole.histogram.width;
  };
  await expect.poll(bars).toBe(3);
  await press(page, 'u');
  await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(false);
  await linesAround(page, 0);

  // From value to value by the arrows; the menu of a value by Enter. An answer that comes meanwhile would bring another order.
  await expect.poll(() => lastQuestion().to - lastQuestion().from).toBe(whole.to - whole.from);
  await page.locator('main[aria-busy=false]').waitFor();
  await tabTo(page, /^button \d{5}$/);
  const value = await focused(page);
  await press(page, 'ArrowDown', 'ArrowUp', 'ArrowRight', 'ArrowLeft');
  expect(await focused(page)).toBe(value);
  await press(page, 'Enter');
  await expect.poll(() => focused(page)).toContain('Filter in');
  await press(page, 'Escape');
  await expect.poll(() => focused(page)).toBe(value);
  await press(page, 'Enter', 'ArrowUp', 'ArrowUp', 'Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('group')).toBe('asn');
  await page.getByRole('grid', { name: 'Groups' }).waitFor();
  await linesAround(page, 0);

  // From the first group to its events, from the second event to its log, and back out by Escape.
  await tabTo(page, /^grid/);
  await press(page, 'Enter');
  await expect.poll(() => conditions(page)).toContain('asn:');
  await page.getByRole('grid', { name: 'Events' }).waitFor();
  await linesAround(page, 0);
  await tabTo(page, /^grid/);
  await press(page, 'ArrowDown', 'Enter');
  await expect.poll(() => focused(page)).toBe('dialog Event');
  await tabTo(page, /^treeitem/);
  await press(page, 'End', 'Home', 'Enter');
  await expect.poll(() => focused(page)).toContain('Copy');
  await press(page, 'Escape', 'Escape');
  await expect.poll(() => page.getByRole('dialog', { name: 'Event', exact: true }).count()).toBe(0);
  await expect.poll(() => focused(page)).toMatch(/^grid/);
});

test('the keys are listed by ?, can be turned off, and are no keys while somebody types', async () => {
  const { page } = await openPage('zone=12');
  await linesAround(page, 0);
  await press(page, '/');
  await page.keyboard.type('tzfru?');
  expect(await page.getByRole('combobox', { name: 'Search line' }).inputValue()).toBe('tzfru?');
  await press(page, 'Escape', 'Tab', '?');
  const help = page.getByRole('dialog', { name: 'Help' });
  await help.waitFor();
  await help.getByRole('checkbox', { name: 'Single keys do this' }).uncheck();
  await press(page, 'Escape');
  await expect.poll(() => help.count()).toBe(0);
  await press(page, 't');
  expect(await page.getByRole('dialog', { name: /^Time:/ }).count()).toBe(0);
});

test('the keyboard keeps its place where what it is used on goes away', async () => {
  const { page } = await openPage('q=login -country:DE -action:allowed');
  await linesAround(page, 0);
  /** Presses Enter on a button; what has the focus when the answer is there. */
  const after = async (button: Locator): Promise<string> => {
    await button.press('Enter');
    await expect.poll(() => button.isEnabled({ timeout: 1 }).catch(() => false)).toBe(false);
    return focused(page);
  };
  expect(await after(page.getByRole('button', { name: 'Remove -country:DE' }))).toBe('button Remove -action:allowed');
  expect(await after(page.getByRole('button', { name: 'Remove -action:allowed' }))).toBe('button Add a filter');
  // The one at the top can take nothing back any more after the second step.
  const undo = page.getByRole('banner').getByRole('button', { name: 'Undo' });
  await undo.press('Enter');
  await expect.poll(() => conditions(page)).toContain('-action:allowed');
  expect(await after(undo)).toBe('button Key');

  await page
    .getByRole('region', { name: 'Fields' })
    .getByRole('button', { name: /^Mozilla/ })
    .first()
    .press('Enter');
  await page.getByRole('menuitem', { name: 'What is different' }).press('Enter');
  const different = page.getByRole('region', { name: 'What is different' });
  await expect.poll(() => different.getByRole('status').textContent()).toMatch(/^[\d,]+ events against [\d,]+ others$/);
  await page.getByRole('button', { name: 'Close' }).press('Enter');
  await expect.poll(() => different.count()).toBe(0);
  expect(await focused(page)).not.toMatch(/^body/);
});

test('a column that is chosen keeps the focus in its new place, by the mouse and by a key', async () => {
  const { page } = await openPage('zone=12');
  await linesAround(page, 0);
  await page.getByRole('button', { name: 'Columns' }).press('Enter');
  const columns = page.getByRole('dialog', { name: 'Columns' }).getByRole('listitem');
  const placeOf = async (name: string): Promise<number> =>
    (await columns.allTextContents()).findIndex((text) => text.trim().startsWith(name));
  const box = (name: string): Locator => columns.getByRole('checkbox', { name, exact: true });
  for (const [name, choose] of [
    ['JA4', () => box('JA4').click()],
    ['Action', () => box('Action').click()],
    ['Action', () => box('Action').press('Space')],
  ] as const) {
    const before = await placeOf(name);
    await choose();
    await expect.poll(() => placeOf(name)).not.toBe(before);
    expect(await box(name).evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  }
});

test('what has the focus says what it is', async () => {
  const { page } = await openPage('zone=12');
  await linesAround(page, 0);
  const fields = page.getByRole('region', { name: 'Fields' });
  await fields.getByRole('button', { name: /^[\d.]+k? values: group by asn$/ }).waitFor();
  const description = await fields
    .getByRole('button', { name: /^\d{5}$/ })
    .first()
    .getAttribute('aria-description');
  expect(description).toBe('asn');
});

test('what has the focus is not below the bar at the top, whichever way Tab goes', async () => {
  const { page } = await openPage('zone=1&q=-country:DE', { viewport: { width: 1280, height: 500 } });
  await linesAround(page, 0);
  const bar = page.getByRole('banner');
  await tabTo(page, /^grid/);
  let [name, covered] = ['', 0];
  while (covered === 0 && !name.startsWith('slider')) {
    await page.keyboard.press('Shift+Tab');
    name = await focused(page);
    const { height } = (await bar.boundingBox()) ?? { height: 0 };
    covered = Math.max(0, height - Number(await page.evaluate('document.activeElement.getBoundingClientRect().top')));
  }
  expect([name.slice(0, 6), Math.round(covered)]).toEqual(['slider', 0]);
});

test('from event to event goes one button, pressed again and again', async () => {
  const { page } = await openPage('zone=1');
  await linesAround(page, 0);
  await page.getByRole('grid').press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Event', exact: true });
  const older = drawer.getByRole('button', { name: 'Older event' });
  await older.focus();
  for (const line of [3, 4, 5]) {
    await press(page, 'Enter');
    await page.locator(`[role=grid] [aria-rowindex="${line}"][aria-current=true]`).waitFor();
    expect(await focused(page)).toBe('button Older event');
  }
});

test('an event that covers a small screen keeps the focus, and what it says lies above it', async () => {
  const { page } = await openPage('zone=1', { viewport: { width: 360, height: 740 } });
  await linesAround(page, 0);
  await page.getByRole('grid').press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Event', exact: true });
  await drawer.getByRole('treeitem').first().waitFor();
  const isWithin = (): Promise<unknown> => page.evaluate(`document.activeElement.closest('.drawer') !== null`);
  await press(page, 'Tab', 'Shift+Tab', 'Shift+Tab');
  expect(await isWithin()).toBe(true);
  await drawer.getByRole('button', { name: 'Copy event' }).press('Enter');
  const said = page.getByRole('status').filter({ hasText: 'Copied' });
  await said.waitFor();
  // A click that something else would get fails.
  await said.locator('.toast').click({ trial: true });
  await press(page, 'Escape');
  await expect.poll(() => focused(page)).toMatch(/^grid/);
});

test('the table of groups is one stop; arrows go to the values of its lines, which keep the focus while it scrolls', async () => {
  const { page } = await openPage('zone=1&group=ip,country');
  const has = async (line: number, place: number): Promise<unknown> =>
    page.evaluate(`document.activeElement === document.querySelectorAll('[role=grid] [aria-rowindex="${line + 2}"] .value')[${place}]`);
  await linesAround(page, 0);
  await tabTo(page, /^grid Groups/);
  await press(page, 'Tab');
  expect(await page.evaluate(`document.activeElement.closest('[role=grid]')`)).toBeNull();
  await press(page, 'Shift+Tab');
  expect(await focused(page)).toMatch(/^grid Groups/);

  await press(page, 'ArrowDown', 'ArrowRight');
  await expect.poll(() => has(1, 0)).toBe(true);
  await press(page, 'ArrowRight', 'ArrowDown');
  await expect.poll(() => has(2, 1)).toBe(true);
  // Further than lines are drawn, to one that is not loaded yet, and back.
  await press(page, 'End');
  const last = Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 2;
  expect(last).toBeGreaterThan(1000);
  await expect.poll(() => has(last, 1)).toBe(true);
  await press(page, 'ArrowUp', 'ArrowLeft');
  await expect.poll(() => has(last - 1, 0)).toBe(true);
  const value = await focused(page);
  await press(page, 'Enter');
  await expect.poll(() => focused(page)).toContain('Filter in');
  await press(page, 'Escape');
  await expect.poll(() => focused(page)).toBe(value);
  // The wheel takes the value away.
  await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 0`);
  await linesAround(page, 0);
  await expect.poll(() => focused(page)).toMatch(/^grid Groups/);
  await press(page, 'ArrowRight');
  await press(page, 'Home', 'ArrowRight', 'ArrowLeft', 'Enter');
  await expect.poll(() => conditions(page)).toContain('ip:');
});

test.each([961, 1280, 1920])('an event leaves room for the page beside it, and the table where it is, %i pixels wide', async (width) => {
  const { page } = await openPage('zone=1', { viewport: { width, height: 720 } });
  await linesAround(page, 0);
  const grid = page.getByRole('grid');
  await grid.scrollIntoViewIfNeeded();
  const top = async (): Promise<number> => (await grid.boundingBox())?.y ?? Number.NaN;
  const before = await top();
  await page.locator('[role=grid] [aria-rowindex="3"]').click();
  const drawer = page.getByRole('dialog', { name: 'Event', exact: true });
  await drawer.getByRole('treeitem').first().waitFor();
  expect(Math.abs((await top()) - before)).toBeLessThan(1);
  const id = () => drawer.locator('.fields').textContent();
  const first = await id();
  await grid.focus();
  await press(page, 'ArrowDown');
  await expect.poll(id).not.toBe(first);

  const left = (await drawer.boundingBox())?.x ?? 0;
  await page.getByRole('banner').getByRole('button').first().focus();
  const covered: string[] = [];
  for (let name = ''; !name.startsWith('grid'); await press(page, 'Tab')) {
    name = await focused(page);
    if (Number(await page.evaluate('document.activeElement.getBoundingClientRect().right')) > left) covered.push(name);
  }
  expect(covered).toEqual([]);
  await press(page, 'Escape');
  await expect.poll(() => drawer.count()).toBe(0);
  expect(Math.abs((await top()) - before)).toBeLessThan(1);
});
