import { describe, expect, inject, test } from 'vitest';
import { linesAround, scrollToLine } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const HOUR_MS = 3_600_000;

/** A day that has passed, so that nothing comes to it while it is looked at. */
const TO = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
interface Window {
  readonly from: number;
  readonly to: number;
}

const DAY = { from: TO - 24 * HOUR_MS, to: TO };

const MORNING = { from: TO - 24 * HOUR_MS, to: TO - 18 * HOUR_MS };

function linkOf(zone: string, { from, to }: Window): string {
  return `zone=${zone}&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}&columns=logId,time`;
}

/** The ids of all events of a zone in their order, by the export. */
async function exportedIds(zone: string, window: Window): Promise<readonly string[]> {
  const response = await fetch(`${inject('demoUrl')}/shield/event-logs/${zone}/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
    body: JSON.stringify(window),
  });
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line).logId);
}

describe('the table of events', () => {
  test('has every event of a quarter of a day, none twice, for somebody who scrolls from the first to the last', async () => {
    const ids = await exportedIds('7', MORNING);
    // The quietest quarter of the demo's day has some 900.
    expect(ids.length).toBeGreaterThan(500);
    const { page } = await openPage(linkOf('7', MORNING), { viewport: { width: 1280, height: 2000 } });
    const seen = new Map<number, string>();
    await linesAround(page, 0);
    for (let next = 0; next < ids.length; next = Math.max(...seen.keys()) + 1)
      for (const [number, [id = '']] of await scrollToLine(page, next)) {
        expect(seen.get(number) ?? id).toBe(id);
        seen.set(number, id);
      }
    expect([...seen].sort(([a], [b]) => a - b).map(([, id]) => id)).toEqual(ids);
  });

  test('shows the event of every place among a hundred thousand, at once', async () => {
    const ids = await exportedIds('all', DAY);
    expect(ids.length).toBeGreaterThan(90_000);
    const { page, requests } = await openPage(linkOf('all', DAY));
    await linesAround(page, 0);
    const before = requests.length;
    const places = [ids.length - 1, 0, ...Array.from({ length: 20 }, (_, index) => Math.floor((ids.length * ((index * 7) % 20)) / 20))];
    for (const place of places) {
      const lines = await scrollToLine(page, place);
      expect([...lines].map(([number, [id]]) => [number, id])).toEqual([...lines.keys()].map((number) => [number, ids[number]]));
    }
    // A view is in two pages at most, and none is asked for on the way.
    expect(requests.length - before).toBeLessThanOrEqual(2 * places.length);
  });

  test('is walked through by the keyboard: arrows, Page Down, End and Home', async () => {
    const ids = await exportedIds('7', DAY);
    const { page } = await openPage(linkOf('7', DAY));
    await linesAround(page, 0);
    const grid = page.getByRole('grid');
    await grid.focus();
    const active = async (): Promise<string> =>
      String(
        await page.evaluate(`(() => {
      const id = document.querySelector('[role=grid]').getAttribute('aria-activedescendant');
      return document.getElementById(id)?.firstElementChild.textContent.trim();
    })()`),
      );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(active).toBe(ids[2]);
    await page.keyboard.press('ArrowUp');
    await expect.poll(active).toBe(ids[1]);
    await page.keyboard.press('End');
    await expect.poll(active).toBe(ids.at(-1));
    await page.keyboard.press('Home');
    await expect.poll(active).toBe(ids[0]);
    await page.keyboard.press('PageDown');
    await expect.poll(async () => ids.indexOf(await active())).toBeGreaterThan(5);
  });
});
