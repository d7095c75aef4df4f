// Measures the explorer page in a Chromium, over all zones of a store: the time of its first view, what an interaction takes besides its
// query, and its weight:
//   node bench/page-speed.ts [--events 1000000] [--turns 7] [--memory-limit-mb 1024]

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../test/browser/chromium.ts';
import { wrongClock } from '../test/browser/page-clock.ts';
import { eventually } from '../test/fixtures/eventually.ts';
import { BENCH_NOW_MS, inEmptyDataDir } from './events/event-file.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { count, line, mib, ms, percentile } from './report/figures.ts';
import type { FilledStore } from './subjects/fill-store.ts';
import { forkSubject } from './subjects/fork-subject.ts';
import type { PageOrder, PageServed } from './subjects/page-subject.ts';

/** What the page is to keep to. */
const GOALS = { firstViewMs: 1_500, interactionMs: 100, weightBytes: 300_000 };

const { events, turns, 'memory-limit-mb': memoryLimitMb } = givenOptions({ events: 1_000_000, turns: 7, 'memory-limit-mb': 1_024 });

/** Notes when the page last changed and was last clicked, by its own clock. */
const WATCH = `
  globalThis.watched = { changedMs: 0, clickedMs: 0 };
  new MutationObserver(() => requestAnimationFrame(() => { watched.changedMs = performance.now(); }))
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  addEventListener('click', (event) => { if (event.isTrusted) watched.clickedMs = event.timeStamp; }, true);
  globalThis.answers = () => performance.getEntriesByType('resource')
    .filter(({ name, responseEnd }) => name.endsWith('/explore') && responseEnd > 0);
`;

/** A view is complete when nothing has changed for so long. */
const QUIET_MS = 500;

/** Times of the page's clock, in milliseconds since it was opened. */
interface View {
  readonly changedMs: number;
  readonly clickedMs: number;
  /** When the last question was asked, and when all of its answer was there. */
  readonly askedMs: number;
  readonly answeredMs: number;
}

/** Waits until so many questions are answered, and the page has changed since the last answer and click, and then not for a while. */
async function settled(page: Page, questions: number): Promise<View> {
  const isSettled = `answers().length >= ${questions}
    && watched.changedMs > Math.max(watched.clickedMs, ...answers().map(({ responseEnd }) => responseEnd))
    && performance.now() - watched.changedMs > ${QUIET_MS}`;
  await eventually(`${questions} answers are drawn`, async () => (await page.evaluate(isSettled)) === true, 120_000);
  const view = '({ ...watched, askedMs: answers().at(-1).startTime, answeredMs: answers().at(-1).responseEnd })';
  return (await page.evaluate(view)) as View;
}

interface Turn {
  readonly firstViewMs: number;
  readonly firstQueryMs: number;
  /** From the click on a value until its menu is drawn. */
  readonly menuMs: number;
  /** From the click on `Filter in` until the answer is drawn, without the time of the query. */
  readonly filterMs: number;
  readonly filterQueryMs: number;
  readonly bytes: number;
  readonly files: number;
}

/** Opens the page as somebody who comes for the first time, and filters by the first value of the first field. */
async function takeTurn(browser: Browser, url: string): Promise<Turn> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' });
  const page = await context.newPage();
  await page.addInitScript(WATCH);
  await page.addInitScript(wrongClock(BENCH_NOW_MS - Date.now()));
  await page.goto(`${url}/`);
  const first = await settled(page, 1);
  const weight = (await page.evaluate(`(() => {
    const loaded = performance.getEntriesByType('resource').filter(({ name }) => !name.endsWith('/explore') && !name.includes('/zones'));
    const all = [...performance.getEntriesByType('navigation'), ...loaded];
    return { files: all.length, bytes: all.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0) };
  })()`)) as { readonly files: number; readonly bytes: number };
  await page.getByRole('region', { name: 'Fields' }).locator('button.value').first().click();
  const menu = await settled(page, 1);
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  const filtered = await settled(page, 2);
  await context.close();
  return {
    firstViewMs: first.changedMs,
    firstQueryMs: first.answeredMs - first.askedMs,
    menuMs: menu.changedMs - menu.clickedMs,
    filterMs: filtered.changedMs - filtered.clickedMs - (filtered.answeredMs - filtered.askedMs),
    filterQueryMs: filtered.answeredMs - filtered.askedMs,
    ...weight,
  };
}

async function serve(order: PageOrder, work: (url: string) => Promise<void>): Promise<void> {
  const child = fork(fileURLToPath(new URL('subjects/page-subject.ts', import.meta.url)), [JSON.stringify(order)]);
  try {
    const [{ url }] = (await once(child, 'message')) as [PageServed];
    await work(url);
  } finally {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  }
}

const show = (text: string): void => void process.stdout.write(`${text}\n`);

await inEmptyDataDir('page', async (dataDir) => {
  const order = { dataDir, events, memoryLimitMb };
  process.stderr.write(`filling a store with ${count(events)} events\n`);
  const { segmentBytes } = await forkSubject<FilledStore>('page-subject.ts', { ...order, kind: 'fill' });
  show(`${circumstancesText(circumstances({}))}\n`);
  show(line(`${count(events)} events of 1,700 zones, on disk`, mib(segmentBytes)));
  const browser = await startChromium();
  try {
    await serve({ ...order, kind: 'serve' }, async (url) => {
      const taken: Turn[] = [];
      for (let turn = 0; turn < turns; turn += 1) taken.push(await takeTurn(browser, url));
      const [first] = taken;
      if (first === undefined) return;
      const figure = (what: string, of: (turn: Turn) => number, goal?: number): void => {
        const [median, worst] = [percentile(taken.map(of), 0.5), percentile(taken.map(of), 1)];
        show(line(what, `${ms(median)}, at worst ${ms(worst)}${goal === undefined ? '' : ` (goal ${ms(goal)})`}`));
      };
      show(line('first view of the first visitor after the start', ms(first.firstViewMs)));
      figure('first view', ({ firstViewMs }) => firstViewMs, GOALS.firstViewMs);
      figure('  of that, the query', ({ firstQueryMs }) => firstQueryMs);
      figure('a click on a value, until its menu is drawn', ({ menuMs }) => menuMs, GOALS.interactionMs);
      figure('a filter, until all is drawn, without its query', ({ filterMs }) => filterMs, GOALS.interactionMs);
      figure('  its query', ({ filterQueryMs }) => filterQueryMs);
      show(
        line(`weight of the page, ${first.files} files`, `${count(first.bytes / 1000)} KB (goal ${count(GOALS.weightBytes / 1000)} KB)`),
      );
    });
  } finally {
    await browser.close();
  }
});
