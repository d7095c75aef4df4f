import { expect, inject, test } from 'vitest';
import { drawnLines, linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const HOUR_MS = 3_600_000;
const TO = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
/** Of its 290,000 events a table holds some 222,000. */
const WINDOW = { from: TO - 70 * HOUR_MS, to: TO };

const LINK = `from=${new Date(WINDOW.from).toISOString()}&to=${new Date(WINDOW.to).toISOString()}`;

async function answerOf<Answer>(rest: object): Promise<Answer> {
  const response = await fetch(`${inject('demoUrl')}/shield/event-logs/all/explore`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...WINDOW, pageSize: 1, ...rest }),
  });
  return (await response.json()) as Answer;
}

async function asked(page: number): Promise<{ readonly id: string; readonly total: number }> {
  const { rows, total } = await answerOf<{ readonly rows: readonly { readonly logId: string }[]; readonly total: number }>({ page });
  return { id: rows[0]?.logId ?? 'none', total };
}

test('a table that is full goes on behind its last event, and back; no event is lost or there twice', async () => {
  const { total } = await asked(0);
  const { page } = await openPage(`${LINK}&columns=logId`);
  const grid = page.getByRole('grid');
  const lines = async (): Promise<number> => Number(await grid.getAttribute('aria-rowcount')) - 1;
  const idOf = async (line: number): Promise<string | undefined> => (await linesAround(page, line)).get(line)?.[0];
  await linesAround(page, 0);
  const full = await lines();
  expect(full).toBeGreaterThan(150_000);
  expect(full).toBeLessThan(total);
  const count = (events: number): string => events.toLocaleString('en-GB');
  const foot = page.locator('.table-foot');
  expect(await foot.textContent()).toContain(`The newest ${count(full)} of ${count(total)} events`);

  await grid.focus();
  await page.keyboard.press('End');
  expect(await idOf(full - 1)).toBe((await asked(full - 1)).id);
  await page.getByRole('button', { name: 'Older events' }).click();
  await expect.poll(lines).toBe(total - full);
  expect(await foot.textContent()).toContain(`${count(total - full)} further events`);
  expect(await idOf(0)).toBe((await asked(full)).id);
  await grid.focus();
  await page.keyboard.press('End');
  expect(await idOf(total - full - 1)).toBe((await asked(total - 1)).id);
  expect(await page.getByRole('button', { name: 'Older events' }).count()).toBe(0);

  await page.getByRole('button', { name: 'Newer events' }).click();
  await expect.poll(lines).toBe(full);
  expect(await idOf(0)).toBe((await asked(0)).id);
});

test('a table of groups that is full has the largest ones, says why it ends, and what leaves fewer', async () => {
  const groupBy = ['ip', 'url', 'ua'];
  const groupAt = (page: number) =>
    answerOf<{ readonly groups: readonly { readonly key: Readonly<Record<string, string>> }[]; readonly total: number }>({ groupBy, page });
  const { total } = await groupAt(0);
  const { page } = await openPage(`${LINK}&group=${groupBy}`);
  const grid = page.getByRole('grid');
  const foot = page.locator('.table-foot');
  await linesAround(page, 0);
  const full = Number(await grid.getAttribute('aria-rowcount')) - 1;
  expect(full).toBeGreaterThan(150_000);
  expect(full).toBeLessThan(total);
  await grid.focus();
  await page.keyboard.press('End');
  const lines = await linesAround(page, full - 1);
  expect(Math.max(...lines.keys())).toBe(full - 1);
  const last = (await groupAt(full - 1)).groups[0]?.key ?? {};
  expect(lines.get(full - 1)?.slice(0, 3)).toEqual(groupBy.map((field) => last[field] || '(none)'));
  const count = (groups: number): string => groups.toLocaleString('en-GB');
  expect((await foot.textContent())?.trim()).toBe(
    `The first ${count(full)} of ${count(total)} groups, because browsers show no longer table. ` +
      'A shorter time, one more condition or fewer fields leave fewer groups.',
  );
  await page.getByRole('button', { name: 'Do not group by url' }).click();
  await expect.poll(async () => (await foot.textContent())?.trim()).toMatch(/^[\d,]+ groups$/);
});

test('lines that cannot be loaded are said to be missing, and come when they are asked for again', async () => {
  const { page } = await openPage(`zone=7&${LINK}&columns=logId`, { expectsFailures: true });
  await linesAround(page, 0);
  await page.route('**/explore', (route) => route.abort());
  await page.getByRole('grid').focus();
  await page.keyboard.press('End');
  const alert = page.getByRole('alert').filter({ hasText: 'More lines could not be loaded' });
  await alert.waitFor();
  expect([...(await drawnLines(page)).values()].every(([id]) => id === '…')).toBe(true);
  await page.unroute('**/explore');
  await alert.getByRole('button', { name: 'Try again' }).click();
  const last = Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 2;
  expect((await linesAround(page, last)).get(last)?.[0]).toMatch(/^demo-/);
  expect(await alert.count()).toBe(0);
});
