import type { Page, Route } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { lastWords, PRESET_MINUTES } from '../../web/state/time-range.ts';
import { linesAround } from './event-table.ts';
import { wrongClock } from './page-clock.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function openPicker(page: Page) {
  await page.getByRole('button', { name: /^Time:/ }).click();
  return page.getByRole('dialog', { name: /^Time:/ });
}

/** `2026-11-24 13:05:59`, by a clock so many hours ahead of UTC. */
const written = (ms: number, hours = 0): string => new Date(ms + hours * HOUR_MS).toISOString().slice(0, 19).replace('T', ' ');

/** The time that the first line of the table shows, read as UTC. */
async function firstTime(page: Page): Promise<number> {
  const text = (await linesAround(page, 0)).get(0)?.[0] ?? '';
  return Date.parse(`${text.replace(' ', 'T')}Z`);
}

test('every preset asks up to now, and stands in the link', async () => {
  const watched = await openPage('zone=12');
  const { page } = watched;
  for (const minutes of PRESET_MINUTES) {
    const picker = await openPicker(page);
    await picker.getByRole('button', { name: lastWords(minutes).replace('last ', ''), exact: true }).click();
    await expect.poll(() => watched.lastQuestion().to - watched.lastQuestion().from).toBe(minutes * MINUTE_MS);
    expect(Date.now() - watched.lastQuestion().to).toBeLessThan(60_000);
    expect(await page.getByRole('button', { name: /^Time:/ }).textContent()).toContain(lastWords(minutes));
    const { search } = new URL(page.url());
    await page.reload();
    await expect.poll(() => page.getByRole('button', { name: /^Time:/ }).textContent()).toContain(lastWords(minutes));
    expect(new URL(page.url()).search).toBe(search);
  }
});

test.each([
  { last: '72h', seconds: 120 },
  { last: '72h', seconds: -600 },
  { last: '12h', seconds: -3_600 },
  { last: '15m', seconds: -20 },
])(
  'a browser clock that is $seconds s off changes nothing in the last $last: the program tells what time it is',
  async ({ last, seconds }) => {
    const openedAt = Date.now();
    const watched = await openPage(`zone=12&last=${last}`, { initScript: wrongClock(seconds * 1_000), expectsFailures: true });
    const { page, questions } = watched;
    await page.getByRole('region', { name: 'Fields' }).waitFor();
    expect(questions().length).toBe(2);
    const [first, second] = questions();
    // Beside the difference, by no more than the time that has passed and what a header of whole seconds leaves out.
    const moved = (second?.to ?? 0) - (first?.to ?? 0) + seconds * 1_000;
    expect(moved).toBeGreaterThan(-2_000);
    expect(moved).toBeLessThan(Date.now() - openedAt + 2_000);
    expect(Math.abs(Date.now() - watched.lastQuestion().to)).toBeLessThan(60_000);
    const picker = await openPicker(page);
    await picker.getByRole('button', { name: '15 minutes' }).click();
    await expect.poll(() => watched.lastQuestion().to - watched.lastQuestion().from).toBe(15 * MINUTE_MS);
    expect(Math.abs(Date.now() - watched.lastQuestion().to)).toBeLessThan(60_000);
  },
);

test('a window between two times is asked for once, whatever the browser takes for the time', async () => {
  const to = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
  const [start, end] = [to - HOUR_MS, to].map((ms) => new Date(ms).toISOString());
  const { page, questions } = await openPage(`zone=12&from=${start}&to=${end}`, { initScript: wrongClock(-HOUR_MS) });
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  await page.getByRole('button', { name: /^Zone/ }).click();
  await expect.poll(() => page.getByRole('main').getAttribute('aria-busy')).toBe('false');
  expect(questions().map((asked) => [asked.from, asked.to])).toEqual([[to - HOUR_MS, to]]);
});

test('two times are typed by the clock of the place or by UTC, and shown by it everywhere', async () => {
  const to = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
  const from = to - 2 * HOUR_MS;
  // It has no summer time, so that it is five and a half hours ahead at every time of the year.
  const watched = await openPage('zone=1', { timezoneId: 'Asia/Kolkata' });
  const { page } = watched;
  let picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'From' }).fill(written(from, 5.5));
  await picker.getByRole('textbox', { name: 'To' }).fill(written(to, 5.5));
  await picker.getByRole('button', { name: 'Search this time' }).click();
  await expect.poll(() => watched.lastQuestion()).toMatchObject({ from, to });
  expect(await page.getByRole('button', { name: /^Time:/ }).textContent()).toContain(written(from, 5.5));
  // The first line is of the time before as long as there is no answer about this one.
  await expect.poll(() => firstTime(page)).toBeLessThan(to + 5.5 * HOUR_MS);
  const local = await firstTime(page);
  picker = await openPicker(page);
  await picker.getByRole('radio', { name: 'UTC' }).check();
  expect(await picker.getByRole('textbox', { name: 'From' }).inputValue()).toBe(written(from));
  await page.keyboard.press('Escape');
  expect(await page.getByRole('button', { name: /^Time:/ }).textContent()).toContain(written(from));
  expect(local - (await firstTime(page))).toBe(5.5 * HOUR_MS);
  expect(new URL(page.url()).searchParams.get('clock')).toBe('utc');
  picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'From' }).fill(written(from + HOUR_MS));
  await page.keyboard.press('Enter');
  await expect.poll(() => watched.lastQuestion()).toMatchObject({ from: from + HOUR_MS, to });
});

test('the times of the picker are those that were asked for last, also before there is an answer', async () => {
  const to = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
  const { page } = await openPage('zone=12&clock=utc');
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const held: Route[] = [];
  await page.route('**/explore', (route) => {
    held.push(route);
  });
  let picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'From' }).fill(written(to - HOUR_MS));
  await picker.getByRole('textbox', { name: 'To' }).fill(written(to));
  await page.keyboard.press('Enter');
  await expect.poll(() => held.length).toBe(1);
  picker = await openPicker(page);
  expect(await picker.getByRole('textbox', { name: 'From' }).inputValue()).toBe(written(to - HOUR_MS));
  expect(await picker.getByRole('textbox', { name: 'To' }).inputValue()).toBe(written(to));
  await held[0]?.continue();
});

test.each([
  { what: 'no time', end: 'From', hoursAgo: null, words: 'A time such as' },
  { what: 'too long ago', end: 'From', hoursAgo: 100, words: '72 hours back' },
  { what: 'in the future', end: 'To', hoursAgo: -1, words: 'future' },
])('what is $what is refused in place', async ({ end, hoursAgo, words }) => {
  const text = hoursAgo === null ? 'yesterday' : written(Date.now() - hoursAgo * HOUR_MS);
  const { page, questions } = await openPage('zone=12&clock=utc');
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const asked = questions().length;
  const picker = await openPicker(page);
  await picker.getByRole('textbox', { name: end }).fill(text);
  await expect.poll(() => picker.getByRole('status').textContent()).toContain(words);
  expect(await picker.getByRole('button', { name: 'Search this time' }).isDisabled()).toBe(true);
  await page.keyboard.press('Enter');
  expect(questions().length).toBe(asked);
});

test('a time over which the clock is put forward is refused in place', async () => {
  const { page } = await openPage('zone=12', { timezoneId: 'Europe/Berlin' });
  const picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'From' }).fill('2026-03-29 02:30');
  await expect.poll(() => picker.getByRole('status').textContent()).toContain('No clock shows this time here');
  expect(await picker.getByRole('button', { name: 'Search this time' }).isDisabled()).toBe(true);
});

test('a stretch is drawn over the histogram, looked into and zoomed into; Back goes out again', async () => {
  const watched = await openPage('zone=1');
  const { page } = watched;
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const before = watched.lastQuestion();
  const plot = await page.locator('.u-over').boundingBox();
  if (plot === null) throw new Error('there is no histogram');
  const draw = async (from: number, to: number): Promise<void> => {
    await page.mouse.move(plot.x + from * plot.width, plot.y + plot.height / 2);
    await page.mouse.down();
    await page.mouse.move(plot.x + to * plot.width, plot.y + plot.height / 2, { steps: 5 });
    await page.mouse.up();
  };
  await draw(0.25, 0.5);
  await page.getByRole('menuitem', { name: 'What is different here?' }).click();
  await page.getByRole('region', { name: 'What is different' }).waitFor();
  const { from = 0, to = 0 } = watched.lastQuestion().selection ?? {};
  const width = before.to - before.from;
  const isNear = (time: number, share: number): boolean => Math.abs(time - before.from - share * width) < width / 60;
  expect([isNear(from, 0.25), isNear(to, 0.5)]).toEqual([true, true]);
  await draw(0.5, 0.75);
  await page.getByRole('menuitem', { name: 'Zoom in' }).click();
  await expect.poll(() => isNear(watched.lastQuestion().from, 0.5) && isNear(watched.lastQuestion().to, 0.75)).toBe(true);
  await page.goBack();
  await page.goBack();
  await expect.poll(() => page.getByRole('button', { name: /^Time:/ }).textContent()).toContain('last 12 hours');
});

test('buttons go to the time before and after, and to a longer one, as far as searches reach', async () => {
  const watched = await openPage('zone=12&last=1h');
  const { page, questions } = watched;
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const { from, to } = watched.lastQuestion();
  const press = async (name: string): Promise<void> => {
    const asked = questions().length;
    await page.getByRole('button', { name }).click();
    await expect.poll(() => questions().length).toBe(asked + 1);
  };
  const isNear = (time: number, other: number): boolean => Math.abs(time - other) < MINUTE_MS;
  expect(await page.getByRole('button', { name: 'Forward' }).getAttribute('aria-disabled')).toBe('true');
  await press('Back');
  expect(watched.lastQuestion().to - watched.lastQuestion().from).toBe(HOUR_MS);
  expect(isNear(watched.lastQuestion().to, from)).toBe(true);
  await press('Zoom out');
  expect(watched.lastQuestion().to - watched.lastQuestion().from).toBe(2 * HOUR_MS);
  await page.goBack();
  await expect.poll(() => watched.lastQuestion().to - watched.lastQuestion().from).toBe(HOUR_MS);
  await press('Forward');
  expect(isNear(watched.lastQuestion().to, to)).toBe(true);
  expect(new URL(page.url()).searchParams.get('last')).toBe('1h');
});

test('a time that is copied from the page or from a log is read', async () => {
  const to = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
  const watched = await openPage('zone=1&clock=utc');
  const { page } = watched;
  let picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'From' }).fill(`${written(to - HOUR_MS)} – ${written(to)} UTC`);
  expect(await picker.getByRole('textbox', { name: 'To' }).inputValue()).toBe(`${written(to)} UTC`);
  await page.keyboard.press('Enter');
  await expect.poll(() => watched.lastQuestion()).toMatchObject({ from: to - HOUR_MS, to });
  const shown = await page.getByRole('button', { name: /^Time:/ }).textContent();
  picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'From' }).fill('now-2h');
  await picker.getByRole('textbox', { name: 'To' }).fill(`${written(to).replace(' ', 'T')},958123+00`);
  await page.keyboard.press('Enter');
  await expect.poll(() => watched.lastQuestion().to).toBe(to + 958);
  picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'To' }).fill(shown?.trim() ?? '');
  await page.keyboard.press('Enter');
  await expect.poll(() => watched.lastQuestion()).toMatchObject({ from: to - HOUR_MS, to });
});

test('an event leads to the quarter of an hour that it is in the middle of', async () => {
  const to = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
  const [start, end] = [to - HOUR_MS, to].map((ms) => new Date(ms).toISOString());
  const watched = await openPage(`zone=1&from=${start}&to=${end}&clock=utc`);
  const { page } = watched;
  const cells = (await linesAround(page, 0)).get(0) ?? [];
  await page.getByRole('row').nth(1).click();
  await page.getByRole('button', { name: '15 minutes around this event' }).click();
  const middle = Date.parse(`${cells[0]?.replace(' ', 'T')}Z`);
  await expect.poll(() => watched.lastQuestion()).toMatchObject({ from: middle - 7.5 * MINUTE_MS, to: middle + 7.5 * MINUTE_MS });
  expect(await page.getByRole('dialog', { name: 'Event' }).count()).toBe(1);
});
