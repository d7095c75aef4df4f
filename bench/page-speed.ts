// Measures the explorer page in a Chromium, over all zones of a store: the time of its first view, what an interaction takes besides its
// query, and its weight:
//   node bench/page-speed.ts [--events 1000000] [--turns 7] [--memory-limit-mb 1024]

import { once } from 'node:events';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../test/browser/chromium.ts';
import { eventually } from '../test/fixtures/eventually.ts';
import { inEmptyDataDir } from './events/event-file.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { count, line, mib, ms, percentile, show } from './report/figures.ts';
import type { FilledStore } from './subjects/fill-store.ts';
import { forkedSubject, forkSubject } from './subjects/fork-subject.ts';
import type { PageOrder, PageServed } from './subjects/page-subject.ts';

/** What the page is to keep to. The values of url come last; a first visitor meets a program that has answered nothing before. */
const GOALS = { mostMs: 700, mostOfFirstMs: 1_300, wholeMs: 1_133, interactionMs: 100, weightBytes: 300_000 };

const { events, turns, 'memory-limit-mb': memoryLimitMb } = givenOptions({ events: 1_000_000, turns: 7, 'memory-limit-mb': 1_024 });

/** Notes when the page changed and was last clicked, by its own clock. */
const WATCH = `
  globalThis.watched = { changesMs: [], clickedMs: 0 };
  new MutationObserver(() => requestAnimationFrame(() => { watched.changesMs.push(performance.now()); }))
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  addEventListener('click', (event) => { if (event.isTrusted) watched.clickedMs = event.timeStamp; }, true);
  globalThis.answersTo = (path) => performance.getEntriesByType('resource')
    .filter(({ name, responseEnd }) => new URL(name).pathname.endsWith(path) && responseEnd > 0);
`;

/** A view is complete when nothing has changed for so long. */
const QUIET_MS = 500;

/** The question of a view, and the one for the values of url after it. */
const ANSWERS_OF_VIEW = 2;

/** Times of the page's clock, in milliseconds since it was opened. */
interface View {
  /** When all was drawn but the values of url, when these were, and when nothing changed any more: the names of rules come last. */
  readonly mostMs: number;
  readonly wholeMs: number;
  readonly changedMs: number;
  readonly clickedMs: number;
  /** How long the question took, and that for the values of url. */
  readonly queryMs: number;
  readonly lateQueryMs: number;
}

/** Waits until so many views are answered, and the page has changed since the last answer and click, and then not for a while. */
async function settled(page: Page, views: number): Promise<View> {
  const isSettled = `(() => {
    const answers = answersTo('/explore');
    const changedMs = watched.changesMs.at(-1);
    return answers.length >= ${views * ANSWERS_OF_VIEW}
      && changedMs > Math.max(watched.clickedMs, ...answers.map(({ responseEnd }) => responseEnd))
      && performance.now() - changedMs > ${QUIET_MS};
  })()`;
  await eventually(`${views} views are drawn`, async () => (await page.evaluate(isSettled)) === true, 120_000);
  const view = `(() => {
    const [first, late] = answersTo('/explore').slice(-${ANSWERS_OF_VIEW});
    const names = answersTo('/rules').at(-1);
    const changedBefore = (ms) => watched.changesMs.findLast((changedMs) => changedMs < ms);
    return {
      mostMs: changedBefore(late.responseEnd),
      wholeMs: changedBefore(names !== undefined && names.responseEnd > late.responseEnd ? names.responseEnd : Infinity),
      changedMs: watched.changesMs.at(-1),
      clickedMs: watched.clickedMs,
      queryMs: first.responseEnd - first.startTime,
      lateQueryMs: late.responseEnd - late.startTime,
    };
  })()`;
  return (await page.evaluate(view)) as View;
}

interface Turn {
  readonly first: View;
  /** From the click on a value until its menu is drawn. */
  readonly menuMs: number;
  /** From the click on `Filter in` until all but the values of url is drawn, without the time of the query. */
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
  await page.goto(`${url}/`);
  const first = await settled(page, 1);
  const weight = (await page.evaluate(`(() => {
    const loaded = performance.getEntriesByType('resource').filter(({ name }) => !name.includes('/event-logs/'));
    const all = [...performance.getEntriesByType('navigation'), ...loaded];
    return { files: all.length, bytes: all.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0) };
  })()`)) as { readonly files: number; readonly bytes: number };
  await page.getByRole('region', { name: 'Fields' }).locator('button.value').first().click();
  const menu = await settled(page, 1);
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  const filtered = await settled(page, 2);
  await context.close();
  return {
    first,
    menuMs: menu.changedMs - menu.clickedMs,
    filterMs: filtered.mostMs - filtered.clickedMs - filtered.queryMs,
    filterQueryMs: filtered.queryMs,
    ...weight,
  };
}

async function serve(order: PageOrder, work: (url: string) => Promise<void>): Promise<void> {
  const child = forkedSubject('page-subject.ts', order);
  try {
    const [{ url }] = (await once(child, 'message')) as [PageServed];
    await work(url);
  } finally {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  }
}

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
      const goal = (goalMs: number): string => ` (goal ${ms(goalMs)})`;
      show(line('first visitor after the start, all but the values of url', `${ms(first.first.mostMs)}${goal(GOALS.mostOfFirstMs)}`));
      show(line('  all', ms(first.first.wholeMs)));
      figure('first view, all but the values of url', ({ first: { mostMs } }) => mostMs, GOALS.mostMs);
      figure('  of that, the query', ({ first: { queryMs } }) => queryMs);
      figure('first view, all', ({ first: { wholeMs } }) => wholeMs, GOALS.wholeMs);
      figure('  of that, the query for the values of url', ({ first: { lateQueryMs } }) => lateQueryMs);
      figure('  names of rules', ({ first: { changedMs } }) => changedMs);
      figure('a click on a value, until its menu is drawn', ({ menuMs }) => menuMs, GOALS.interactionMs);
      figure('a filter, until all but the values of url is drawn, without its query', ({ filterMs }) => filterMs, GOALS.interactionMs);
      figure('  its query', ({ filterQueryMs }) => filterQueryMs);
      show(
        line(`weight of the page, ${first.files} files`, `${count(first.bytes / 1000)} KB (goal ${count(GOALS.weightBytes / 1000)} KB)`),
      );
    });
  } finally {
    await browser.close();
  }
});
