// Takes the pictures of the page that README.md and docs/ show, of the demo at a fixed time: `npm run screenshots`.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '../fixtures/eventually.ts';
import { movedClock } from '../fixtures/moved-clock.ts';
import { addressOf, killAll, startCli } from '../src/cli/cli-process.ts';
import { startChromium } from './chromium.ts';
import { wrongClock } from './page-clock.ts';
import { PAGE } from './watched-page.ts';

const FOLDER = join(import.meta.dirname, '../../docs/images');
/** Documents stay quick to load. */
const MAX_BYTES = 220_000;

/** The demo looks the same whenever the pictures are taken. */
const START_MS = Date.UTC(2026, 11, 1, 18, 20);

interface Picture {
  readonly name: string;
  /** The query of the page's link. */
  readonly query?: string;
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** What a person does before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const row = (page: Page, number: number) => page.locator(`[role=grid] [aria-rowindex="${number + 1}"]`);

const PICTURES: readonly Picture[] = [
  { name: 'overview' },
  { name: 'overview-dark', colorScheme: 'dark' },
  {
    name: 'what-is-different',
    prepare: async (page) => {
      await page.getByRole('list', { name: 'Peaks' }).getByRole('button').nth(1).click();
      const region = page.getByRole('region', { name: 'What is different' });
      await region.getByRole('row').nth(5).waitFor();
      await region.getByText('the first event at').waitFor();
    },
  },
  { name: 'groups', query: 'zone=1&group=asn,country', prepare: (page) => page.getByRole('grid').scrollIntoViewIfNeeded() },
  {
    name: 'event',
    height: 720,
    query: 'zone=7&q=feature:waf',
    prepare: async (page) => {
      await page.getByRole('grid').scrollIntoViewIfNeeded();
      await row(page, 3).getByRole('gridcell').first().click();
      await page.getByRole('region', { name: 'Around it' }).getByRole('listitem').first().waitFor();
    },
  },
  {
    name: 'live',
    query: 'live=on',
    height: 720,
    prepare: async (page) => {
      await page.getByRole('grid').scrollIntoViewIfNeeded();
      await row(page, 12).waitFor({ timeout: 120_000 });
    },
  },
  {
    name: 'alert-rule',
    query: 'q=url:~login&group=asn',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Alert on this' }).click();
      await page.getByRole('slider', { name: 'Threshold' }).waitFor();
    },
  },
  { name: 'phone', width: 390, height: 844 },
];

async function takePicture(browser: Browser, url: string, picture: Picture): Promise<void> {
  const { name, query = '', width = 1280, height = 900, colorScheme = 'light', prepare } = picture;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, timezoneId: 'UTC', locale: 'en-GB' });
  const page = await context.newPage();
  await page.addInitScript(wrongClock(START_MS + 30_000 - Date.now()));
  // What the page asks for last.
  const rules = page.waitForResponse((response) => response.url().includes('/rules?'));
  await page.goto(`${url}${PAGE}?${query}`);
  await page.getByRole('region', { name: 'Fields' }).locator('button.value').first().waitFor();
  await rules;
  await prepare?.(page);
  await page.mouse.move(0, 0);
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  await context.close();
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`docs/images/${name}.png has ${size} bytes; ${MAX_BYTES} are allowed`);
  process.stdout.write(`docs/images/${name}.png ${Math.round(size / 1000)} KB\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-screenshots-'));
let browser: Browser | undefined;
try {
  mkdirSync(FOLDER, { recursive: true });
  const clock = movedClock(folder, START_MS);
  const program = startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data'), '--demo', 'true'], clock.env);
  const url = await addressOf(program);
  await eventually('the demo has its past', () => program.stderr().includes('has filled the past'), 240_000);
  browser = await startChromium();
  for (const picture of PICTURES) await takePicture(browser, url, picture);
} finally {
  await browser?.close();
  await killAll();
  rmSync(folder, { recursive: true, force: true });
}
