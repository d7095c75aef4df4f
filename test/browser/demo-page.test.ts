import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';
import { movedClock } from '../readme/moved-clock.ts';
import { addressOf, killAll, startCli } from '../src/cli/cli-process.ts';
import { startChromium } from './chromium.ts';

/** The picture that the README shows is of this time. */
const START_MS = Date.UTC(2026, 11, 1, 18, 20);

let folder: string;
let browser: Browser;
let page: Page;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-demo-'));
  const clock = movedClock(folder, START_MS);
  const program = startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data'), '--demo', 'true'], clock.env);
  url = await addressOf(program);
  await eventually('the demonstration has its past', () => program.stderr().includes('has filled the past'), 240_000);
  browser = await startChromium();
  page = await browser.newPage({ viewport: { width: 1200, height: 1160 }, colorScheme: 'light' });
  // The page asks for the hours before its own time.
  await page.clock.setFixedTime(START_MS + 30_000);
  await page.goto(url);
});

afterAll(async () => {
  await browser?.close();
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

/** The countries of the first page of groups of a zone, as the page shows it unasked. */
async function countriesOf(zone: number): Promise<readonly string[]> {
  await page.fill('[name=zone]', String(zone));
  const answer = page.waitForResponse((response) => response.url().endsWith(`/${zone}/search`));
  await page.click('[type=submit]');
  await answer;
  await expect.poll(() => page.locator('#waiting').isVisible()).toBe(false);
  return page.locator('#groups tr td:nth-child(4)').allTextContents();
}

test('the page shows unasked the attacks that the README promises: a scanner, credential stuffing and two bot nets', async () => {
  const countries = new Map<number, readonly string[]>();
  for (const zone of [7, 1, 2]) countries.set(zone, await countriesOf(zone));
  expect(countries.get(7)?.slice(0, 9)).toEqual(Array(9).fill('NL'));
  expect(countries.get(1)).toEqual(expect.arrayContaining(['VN', 'ID', 'UA', 'SG']));
  expect(countries.get(1)?.filter((country) => country === 'SG').length).toBeGreaterThanOrEqual(3);
  expect(countries.get(2)?.slice(0, 6)).toEqual(Array(6).fill('SG'));
});

test('a click on an attacker shows what it did', async () => {
  await countriesOf(1);
  await page.locator('#groups tr').filter({ hasText: 'VN' }).first().click();
  await expect
    .poll(() => page.locator('#rows tr td:nth-child(5)').allTextContents())
    .toEqual(Array(50).fill('https://shop.example.com/login'));
  // The picture of the README is of this page.
  await page.evaluate('scrollTo(0, 0)');
  if (process.env['UPDATE_README'] !== undefined) await page.screenshot({ path: join(import.meta.dirname, '../../docs/page.png') });
});
