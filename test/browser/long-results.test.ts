import { expect, inject, test } from 'vitest';
import { drawnLines, linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const HOUR_MS = 3_600_000;
const TO = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
/** Of its 290,000 events a table holds some 222,000. */
const WINDOW = { from: TO - 70 * HOUR_MS, to: TO };

async function asked(page: number): Promise<{ readonly id: string; readonly total: number }> {
  const response = await fetch(`${inject('demoUrl')}/shield/event-logs/all/explore`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...WINDOW, pageSize: 1, page }),
  });
  const { rows, total } = (await response.json()) as { readonly rows: readonly { readonly logId: string }[]; readonly total: number };
  return { id: rows[0]?.logId ?? 'none', total };
}

test('a table that is full goes on behind its last event, and back; no event is lost or there twice', async () => {
  const { total } = await asked(0);
  const { page } = await openPage(`from=${new Date(WINDOW.from).toISOString()}&to=${new Date(WINDOW.to).toISOString()}&columns=logId`);
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

test('lines that cannot be loaded are said to be missing, and come when they are asked for again', async () => {
  const { page } = await openPage(
    `zone=7&from=${new Date(WINDOW.from).toISOString()}&to=${new Date(WINDOW.to).toISOString()}&columns=logId`,
    {
      expectsFailures: true,
    },
  );
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
