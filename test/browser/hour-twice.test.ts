import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MovedClock, movedClock } from '../fixtures/moved-clock.ts';
import { addressOf, killAll, startCli } from '../src/cli/cli-process.ts';
import { eventLine } from '../src/running-app.ts';
import { linesAround } from './event-table.ts';
import { wrongClock } from './page-clock.ts';
import { pagesOf } from './watched-page.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Where and when the clock shows a time twice, which is shown as `time`; UTC has none. In the order in which the program lives them. */
const ZONES = [
  { zone: 'Australia/Lord_Howe', at: '2026-04-04T14:45Z', time: '2026-04-05 01:45', laterBy: 30, offsets: [' +11:00', ' +10:30'] },
  { zone: 'Europe/Berlin', at: '2026-10-25T00:30Z', time: '2026-10-25 02:30', laterBy: 60, offsets: [' +02:00', ' +01:00'] },
  { zone: 'UTC', at: '2026-10-25T00:30Z', time: '2026-10-25 00:30', laterBy: 0, offsets: ['', ''] },
  { zone: 'America/St_Johns', at: '2026-11-01T03:45Z', time: '2026-11-01 01:15', laterBy: 60, offsets: [' -02:30', ' -03:30'] },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-hour-twice-'));
let clock: MovedClock;
let url = '';
const openPage = pagesOf(() => url);

beforeAll(async () => {
  clock = movedClock(folder, Date.parse(ZONES[0].at) + 2 * HOUR_MS);
  url = await addressOf(startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data')], clock.env));
});

afterAll(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

async function openPicker(page: Page) {
  await page.getByRole('button', { name: /^Time:/ }).click();
  return page.getByRole('dialog', { name: /^Time:/ });
}

test.each(ZONES)('the time that comes twice in $zone is told apart, searched and kept', async ({ zone, at, time, laterBy, offsets }) => {
  const earlier = Date.parse(at);
  const later = earlier + laterBy * MINUTE_MS;
  const now = earlier + 2 * HOUR_MS;
  clock.set(now);
  // A few events in every minute, and so many in two of them that these are peaks.
  const events = Array.from({ length: 150 }, (_, minute) => {
    const timestamp = earlier + (minute - 40) * MINUTE_MS;
    const isPeak = timestamp === earlier || timestamp === later;
    return Array.from({ length: isPeak ? 60 : 2 }, (_, index) => eventLine({ logId: `${zone} ${minute} ${index}`, timestamp }));
  });
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await fetch(`${url}/ingest/events`, { method: 'POST', headers, body: events.flat().join('') });
  expect(await answer.json()).toMatchObject({ accepted: events.flat().length });

  const [from, to] = [earlier - 10 * MINUTE_MS + 123, later + 5 * MINUTE_MS + 456];
  const link = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), columns: 'time,logId' });
  const initScript = wrongClock(now - Date.now());
  const watched = await openPage(String(link), { timezoneId: zone, initScript });
  const { page, lastQuestion } = watched;
  await page.getByRole('region', { name: 'Fields' }).waitFor();

  // The newest line is some minutes after the later one, or the same where there is one alone.
  const texts = [...(await linesAround(page, 0)).values()].map(([text]) => text ?? '');
  if (laterBy > 0) for (const text of texts.slice(0, 5)) expect(text).toMatch(/\.000 [+-]\d\d:\d\d$/);
  const cell = "document.querySelector('[role=rowgroup] [role=gridcell]')";
  expect(await page.evaluate(`${cell}.scrollWidth <= ${cell}.clientWidth`)).toBe(true);
  const peaks = page.getByRole('list', { name: 'Peaks' }).getByRole('button');
  const named = (await peaks.allTextContents()).map((text) => / [+-]\d\d:\d\d/.exec(text)?.[0] ?? '');
  expect(named).toEqual(laterBy === 0 ? [''] : offsets.toReversed());

  // Untouched, the form asks for the same time again, to the millisecond.
  let picker = await openPicker(page);
  await picker.getByRole('button', { name: 'Search this time' }).click();
  await expect.poll(() => picker.count()).toBe(0);
  expect(lastQuestion()).toMatchObject({ from, to });

  // Between both of them, which without offsets would be the same text twice.
  if (laterBy === 0) return;
  picker = await openPicker(page);
  await picker.getByRole('textbox', { name: 'From' }).fill(`${time}:00${offsets[0]}`);
  await picker.getByRole('textbox', { name: 'To' }).fill(`${time}:00${offsets[1]}`);
  await page.keyboard.press('Enter');
  await expect.poll(() => lastQuestion()).toMatchObject({ from: earlier, to: later });
  // A typed time without one is the earlier.
  picker = await openPicker(page);
  expect(await picker.getByRole('textbox', { name: 'From' }).inputValue()).toBe(`${time}:00${offsets[0]}`);
  expect(await picker.getByRole('textbox', { name: 'To' }).inputValue()).toBe(`${time}:00${offsets[1]}`);
  await picker.getByRole('textbox', { name: 'To' }).fill('now');
  await picker.getByRole('textbox', { name: 'From' }).fill(time);
  await page.keyboard.press('Enter');
  await expect.poll(() => lastQuestion().from).toBe(earlier);
  expect(lastQuestion().to).toBeGreaterThan(later);
});
