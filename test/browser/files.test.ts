import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { linesAround } from './event-table.ts';
import { type PageOptions, pagesOf } from './watched-page.ts';

const KEY = 'a-key-of-sixteen-characters';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

/** Quotes, blanks and what a shell would expand, in values and in the conditions of the page. */
const URL_TEXT = 'https://www.example.net/it\'s?a=$(id)&b=`id`&c="x"';
const Q = new URLSearchParams({ q: `-country:DE url:"${URL_TEXT.replaceAll('"', '\\"')}"` });
const AT = Math.floor(Date.now() / 60_000) * 60_000 - 120_000;
const LINK = `zone=7&from=${new Date(AT - 3_600_000).toISOString()}&to=${new Date(AT).toISOString()}&${Q}`;
/** Nothing comes into a time that has ended. */
const LIVE_LINK = `zone=7&live=on&${Q}`;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `page:${KEY}:*` } });
  const lines = Array.from({ length: 250 }, (_, index) =>
    eventLine({
      logId: `e${index}`,
      timestamp: AT - 1 - index * 1000,
      url: URL_TEXT,
      country: ['NL', 'DE', 'FR'][index % 3],
      action: '=cmd|x',
    }),
  );
  await ingest(app, lines.join(''), { AccessKey: KEY });
});

afterAll(() => app?.stop());

const setKey = `sessionStorage.setItem('shieldlog access key', '${KEY}');`;

/** As in a browser that gives pages no files of the disk, where downloads are the browser's. */
const DOWNLOADS: PageOptions = { initScript: `${setKey} delete globalThis.showSaveFilePicker;` };

/** The dialog of the system cannot be driven; the file that it would have chosen is a real one, of the browser's own disk. */
const OWN_DISK: PageOptions = {
  initScript: `${setKey} globalThis.showSaveFilePicker = async ({ suggestedName }) =>
    (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });`,
};

/** As on a slow disk: the last byte is on it when a test calls `finish`. */
const SLOW_DISK: PageOptions = {
  initScript: `${OWN_DISK.initScript} {
    const openFile = globalThis.showSaveFilePicker;
    globalThis.showSaveFilePicker = async (options) => {
      const file = await openFile(options);
      const stream = await file.createWritable();
      const close = stream.close.bind(stream);
      stream.close = () => new Promise((resolve) => { globalThis.finish = () => resolve(close()); });
      file.createWritable = async () => stream;
      return file;
    };
  }`,
};

const choose = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByRole('menuitem', { name }).click();
};

/** The name and the text of the file that a menu item stores. */
async function download(page: Page, name: string): Promise<{ readonly name: string; readonly text: string }> {
  const [file] = await Promise.all([page.waitForEvent('download'), choose(page, name)]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

async function exported(accept: string, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json', accept, AccessKey: KEY };
  const { status, text } = await ask(app, '/shield/event-logs/7/export', { method: 'POST', headers, body: JSON.stringify(body) });
  expect(status).toBe(200);
  return text;
}

describe('what is found', () => {
  test.each([
    ['CSV', 'text/csv'],
    ['NDJSON', 'application/x-ndjson'],
  ])('is stored as %s, byte for byte what the export answers', async (format, type) => {
    const { page, lastQuestion } = await openPage(LINK, DOWNLOADS);
    await linesAround(page, 0);
    const { from, to, query, filters, exclude } = lastQuestion();
    expect([filters.length, exclude.length]).toEqual([1, 1]);
    const { name, text } = await download(page, `All events as ${format}`);
    expect(text).toBe(await exported(type, { from, to, query, filters, exclude }));
    const lines = format === 'CSV' ? parse(text, { columns: true }) : text.trimEnd().split('\n');
    expect(lines.length).toBe(167);
    expect(name).toMatch(new RegExp(`^[\\w.-]+\\.${format.toLowerCase()}$`));
  });

  test('is stored with the columns of the table, in their order, and with a byte order mark where that is ticked', async () => {
    const { page, requests } = await openPage(`${LINK}&columns=url,time,shieldZoneId,logId`, DOWNLOADS);
    await linesAround(page, 0);
    const { text } = await download(page, 'The columns of the table as CSV');
    const [header, ...rows] = parse(text) as string[][];
    // The events are of one zone, which files of one zone do not name.
    expect(header).toEqual(['url', 'time', 'logId']);
    expect(rows.length).toBe(167);
    expect(rows[0]).toEqual([URL_TEXT, new Date(AT - 1).toISOString(), 'e0']);
    const exports = () => requests.filter((request) => request.url().includes('/export')).map((request) => new URL(request.url()).search);
    expect(exports()).toEqual(['?columns=url%2Ctime%2ClogId']);

    await page.getByRole('button', { name: 'Download' }).click();
    const tick = page.getByRole('menuitemcheckbox', { name: 'CSV with a byte order mark' });
    expect(await tick.getAttribute('aria-checked')).toBe('false');
    await tick.click();
    // The menu stays open for what is stored so.
    expect(await tick.getAttribute('aria-checked')).toBe('true');
    await page.keyboard.press('Escape');
    await page.reload();
    await linesAround(page, 0);
    for (const name of ['All events as CSV', 'The columns of the table as CSV', 'The facets as CSV'])
      expect([name, (await download(page, name)).text.startsWith('\ufeff')]).toEqual([name, true]);
    for (const name of ['All events as NDJSON', 'The facets as NDJSON'])
      expect([name, (await download(page, name)).text.startsWith('\ufeff')]).toEqual([name, false]);
    expect(exports().slice(1)).toEqual(['?bom=true', '?columns=url%2Ctime%2ClogId&bom=true', '']);
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('country');
    await page.getByRole('grid', { name: 'Groups' }).waitFor();
    expect((await download(page, 'groups as CSV')).text.startsWith('\ufeff')).toBe(true);
    await page.getByRole('button', { name: 'Download' }).click();
    expect(await page.getByRole('menuitem', { name: 'The columns of the table' }).count()).toBe(0);
  });

  test('of several zones has the zone among the columns; a table of nothing but the zone of one is no file', async () => {
    const { page } = await openPage(`${LINK.replace('zone=7', 'zone=7,8')}&columns=shieldZoneId,logId`, DOWNLOADS);
    await linesAround(page, 0);
    const { text } = await download(page, 'The columns of the table as CSV');
    expect(text.split('\r\n').slice(0, 2)).toEqual(['shieldZoneId,logId', '7,e0']);
    const one = await openPage(`${LINK}&columns=shieldZoneId`, DOWNLOADS);
    await linesAround(one.page, 0);
    await one.page.getByRole('button', { name: 'Download' }).click();
    expect(await one.page.getByRole('menuitem', { name: 'The columns of the table' }).isDisabled()).toBe(true);
  });

  test('is written to a file of the disk where the browser lets a page do that', async () => {
    const { page, lastQuestion } = await openPage(LINK, OWN_DISK);
    await linesAround(page, 0);
    const { from, to, query, filters, exclude } = lastQuestion();
    await choose(page, 'All events as CSV');
    await expect.poll(() => page.getByRole('status').filter({ hasText: 'Stored' }).count()).toBe(1);
    const stored = await page.evaluate(`(async () => {
      const files = [];
      for await (const file of (await navigator.storage.getDirectory()).values()) files.push(await (await file.getFile()).text());
      return files;
    })()`);
    expect(stored).toEqual([await exported('text/csv', { from, to, query, filters, exclude })]);
  });

  test('is counted while it is written, which is for the eye alone; then it is said to be stored', async () => {
    const log = JSON.stringify({ text: 'x'.repeat(40_000) });
    const lines = Array.from({ length: 60 }, (_, index) => {
      const line = eventLine({ logId: `large${index}`, shieldZoneId: 8, timestamp: AT - 1 - index });
      return `${line.trimEnd().slice(0, -1)},"log":${log}}\n`;
    });
    await ingest(app, lines.join(''), { AccessKey: KEY });
    const { page } = await openPage(`zone=8&columns=logId`, SLOW_DISK);
    await linesAround(page, 0);
    await choose(page, 'All events as NDJSON');
    await expect.poll(() => page.evaluate('globalThis.finish !== undefined')).toBe(true);
    const status = page.getByRole('status').filter({ hasText: 'Storing' });
    const [, name = '', mebibytes = ''] = /^Storing (\S+): (\d\.\d) MiB$/.exec(String(await status.textContent())) ?? [];
    expect(Number(mebibytes)).toBeGreaterThan(2);
    expect(await status.locator('[aria-hidden=true]').textContent()).toBe(`: ${mebibytes} MiB`);
    await page.evaluate('finish()');
    await expect
      .poll(() =>
        page
          .getByRole('status')
          .filter({ hasText: `Stored ${name}` })
          .count(),
      )
      .toBe(1);
    expect(await status.count()).toBe(0);
    const size = await page.evaluate(`(async () => {
      const file = await (await navigator.storage.getDirectory()).getFileHandle('${name}');
      return (await file.getFile()).size;
    })()`);
    expect((Number(size) / 1024 / 1024).toFixed(1)).toBe(mebibytes);
  });

  test('leaves nothing of its file where the export is refused', async () => {
    const { page } = await openPage(LINK, { ...OWN_DISK, expectsFailures: true });
    await linesAround(page, 0);
    await page.route('**/export', (route) => route.fulfill({ status: 503, json: { errorKey: 'busy', title: 'No place is free' } }));
    await choose(page, 'All events as CSV');
    await expect.poll(() => page.getByRole('status').filter({ hasText: 'No place is free' }).count()).toBe(1);
    // A file that somebody still writes refuses an exclusive writer.
    const sizesOfClosed = `(async () => {
      const disk = await navigator.storage.getDirectory();
      const sizes = [];
      for await (const file of disk.values()) {
        sizes.push((await file.getFile()).size);
        await (await file.createWritable({ mode: 'exclusive' })).abort();
      }
      return sizes;
    })()`;
    expect(await page.evaluate(sizesOfClosed)).toEqual([0]);
  });

  test('is stored as groups and as facets', async () => {
    const { page } = await openPage(`${LINK}&group=country`, DOWNLOADS);
    await linesAround(page, 0);
    const groups = parse((await download(page, 'All 2 groups as CSV')).text, { columns: true }) as Readonly<Record<string, string>>[];
    expect(groups.map(({ country, count }) => [country, count])).toEqual([
      ['NL', '84'],
      ['FR', '83'],
    ]);
    const facets = (await download(page, 'The facets as NDJSON')).text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(facets).toContainEqual(expect.objectContaining({ field: 'country', value: 'NL', count: 84 }));
    // A spreadsheet takes a text for a formula where it begins with this sign.
    expect((await download(page, 'The facets as CSV')).text).toContain("'=cmd|x");
  });
});

/** The command in the clipboard, which takes the key from the environment of its shell. */
async function copied(page: Page): Promise<string> {
  const command = String(await page.evaluate('navigator.clipboard.readText()'));
  expect(command).not.toContain(KEY);
  return command;
}

const SHELL_ENV = { ...process.env, SHIELDLOG_ACCESS_KEY: KEY };

describe('a request that is copied as curl', () => {
  async function runCopied(page: Page): Promise<string> {
    return (await promisify(execFile)('sh', ['-c', await copied(page)], { env: SHELL_ENV })).stdout;
  }

  test('gives in a shell what the page was answered', async () => {
    const { page } = await openPage('', DOWNLOADS);
    const answer = page.waitForResponse((response) => response.url().endsWith('/7/explore'));
    await page.goto(`${page.url().split('?')[0]}?${LINK}`);
    const shown = await (await answer).json();
    await linesAround(page, 0);
    await choose(page, 'Copy the request of this page as curl');
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('/explore');
    expect(JSON.parse(await runCopied(page))).toEqual(shown);
    expect(shown.total).toBe(167);
  });

  test('is copied whole where the browser keeps the clipboard from pages without HTTPS', async () => {
    const initScript = `${setKey} Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined });`;
    const { page } = await openPage(LINK, { initScript });
    await linesAround(page, 0);
    await choose(page, 'Copy the export as curl');
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(app.url);
    expect(await other.evaluate('navigator.clipboard.readText()')).toMatch(
      /^curl -sS '.*\/export' \\\n {2}-H .* \\\n {2}--json '\{.*\}'$/s,
    );
  });

  test('gives in a shell all events', async () => {
    const { page, lastQuestion } = await openPage(LINK, DOWNLOADS);
    await linesAround(page, 0);
    await choose(page, 'Copy the export as curl');
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('/export');
    const { from, to, query, filters, exclude } = lastQuestion();
    expect(await runCopied(page)).toBe(await exported('application/x-ndjson', { from, to, query, filters, exclude }));
  });
});

describe('the live tail that is copied as curl', () => {
  const ITEM = 'Copy the live tail as curl';

  test('writes in a shell the events that come and match, as the page streams them', async () => {
    const { page, requests } = await openPage(LIVE_LINK, DOWNLOADS);
    await expect.poll(() => page.getByRole('main').textContent()).toContain('Watching');
    await choose(page, ITEM);
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('/tail');
    const command = await copied(page);
    expect(command).toContain(`'${requests.find((request) => request.url().includes('/tail'))?.url()}'`);

    const shell = spawn('sh', ['-c', command], { env: SHELL_ENV, detached: true });
    const ended = once(shell, 'close');
    let written = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
    try {
      await expect.poll(() => written).toContain('event: ready');
      const line = (logId: string, country: string) => eventLine({ logId, country, url: URL_TEXT });
      await ingest(app, line('from elsewhere', 'DE') + line('live', 'NL'), { AccessKey: KEY });
      await expect.poll(() => written).toContain('"logId":"live"');
      expect(written).not.toContain('from elsewhere');
    } finally {
      // The shell may have started curl as a process of its own.
      process.kill(-Number(shell.pid));
      await ended;
    }
  });

  test('is there in live mode alone, also without an answer to the question', async () => {
    const { page } = await openPage(LINK, { ...DOWNLOADS, expectsFailures: true });
    await linesAround(page, 0);
    const items = page.getByRole('menuitem');
    await page.getByRole('button', { name: 'Download' }).click();
    await items.first().waitFor();
    expect(await items.allTextContents()).not.toContain(ITEM);
    await page.route('**/explore', (route) => route.abort());
    await page.goto(`${app.url}/?${LIVE_LINK}`);
    await page.getByRole('button', { name: 'Download' }).click();
    await items.first().waitFor();
    expect(await items.allTextContents()).toEqual([ITEM]);
  });
});

describe('searches with a name', () => {
  test('are kept by the browser, opened, exported to a file and imported in another browser; what is no such file is refused', async () => {
    const first = await openPage(LINK, DOWNLOADS);
    await linesAround(first.page, 0);
    await first.page.keyboard.press('s');
    const dialog = (page: Page) => page.getByRole('dialog', { name: 'Saved searches' });
    await dialog(first.page).getByRole('textbox').fill('not from there');
    await first.page.keyboard.press('Enter');
    await dialog(first.page).getByRole('button', { name: 'not from there', exact: true }).waitFor();
    const [file] = await Promise.all([
      first.page.waitForEvent('download'),
      dialog(first.page).getByRole('button', { name: 'Export as JSON' }).click(),
    ]);
    const path = await file.path();
    expect(readFileSync(path, 'utf8')).not.toContain(KEY);

    const { page } = await openPage('', DOWNLOADS);
    await page.getByRole('button', { name: 'Saved' }).click();
    await dialog(page)
      .locator('input[type=file]')
      .setInputFiles({ name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{"a":1}') });
    await dialog(page).getByRole('alert').waitFor();
    await dialog(page).locator('input[type=file]').setInputFiles(path);
    await dialog(page).getByRole('button', { name: 'not from there', exact: true }).click();
    const conditions = (one: Page): Promise<string | null> => one.getByRole('list', { name: 'Conditions' }).textContent();
    await expect.poll(() => conditions(page)).toBe(await conditions(first.page));
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('168');
    await page.reload();
    await page.getByRole('button', { name: 'Saved' }).click();
    await dialog(page).getByRole('button', { name: 'Remove not from there' }).click();
    await expect.poll(() => dialog(page).textContent()).toContain('keeps no search');
  });
});
