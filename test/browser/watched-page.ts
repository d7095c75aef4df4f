import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { startChromium } from './chromium.ts';
import { undescribedRequests } from './described-requests.ts';
import { wrongClock } from './page-clock.ts';

/** The path of the page. */
export const PAGE = '/';

/** What of a question tests look at. */
export interface AskedQuestion {
  readonly from: number;
  readonly to: number;
  readonly query: string;
  readonly filters: readonly object[];
  readonly exclude: readonly object[];
  readonly histogram: { readonly width: number };
  readonly selection?: { readonly from: number; readonly to: number };
}

/** What the page of a person does and asks for, seen from the outside. */
export interface WatchedPage {
  readonly page: Page;
  /** The requests to the program's interface so far, without those for the page's own files, for alerts and for the count of new events. */
  readonly requests: readonly Request[];
  /** The requests for the count of new events, which the page asks for by itself ten seconds after an answer. */
  readonly countsOfNew: readonly Request[];
  /** The bodies of the questions so far, without the requests for what follows one, such as further pages or an event. */
  questions(): readonly AskedQuestion[];
  /** The last of them; throws where there is none. */
  lastQuestion(): AskedQuestion;
  /** How often a button of the mouse, a finger or a key went down since the page was loaded. */
  actions(): Promise<number>;
}

/** The clock of the tests, where it is moved, is that of the page, too. */
const CLOCK = process.env['MOVED_CLOCK_MS'] === undefined ? '' : wrongClock(Number(process.env['MOVED_CLOCK_MS']));

/** Counts what a person does, and tells what the policy refuses. Scripts of the page cannot make trusted events. */
const WATCH = `
  globalThis.actionsOfPerson = 0;
  for (const name of ['pointerdown', 'keydown'])
    addEventListener(name, (event) => { if (event.isTrusted) globalThis.actionsOfPerson += 1; }, true);
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error('the policy refused ' + violatedDirective + ' ' + blockedURI));
`;

/** What the browser writes for an answer with an error, which a test brings about on purpose. */
const FAILED_ANSWER = /^Failed to load resource|net::ERR_/;

export interface PageOptions extends BrowserContextOptions {
  /** The test brings about answers with errors or connections that break, which the browser reports as errors by itself. */
  readonly expectsFailures?: boolean;
  /** The test moves the clock of the page, which is replaced before it is loaded: it would find 1970 in between. */
  readonly movesClock?: boolean;
  /** A script that runs before those of the page. */
  readonly initScript?: string;
  /** Where a proxy serves the program, such as `/waf`; nothing unless set. */
  readonly pathBefore?: string;
}

const isForExplorer = (request: Request): boolean => request.url().endsWith('/explore');

/** Whether a request counts the events from the end of an earlier question on, and asks for nothing else. */
function isCountOfNew(request: Request, earlier: readonly Request[]): boolean {
  if (!isForExplorer(request)) return false;
  const { from, pageSize, facets, histogram, selection, combinations } = request.postDataJSON();
  const isCount = pageSize === 0 && [facets, histogram, selection, combinations].every((part) => part === undefined);
  return isCount && earlier.some((question) => isForExplorer(question) && question.postDataJSON().to === from);
}

/** Opens the page with this query of its link. */
export type OpenPage = (query?: string, options?: PageOptions) => Promise<WatchedPage>;

interface OpenedPage extends WatchedPage {
  close(): Promise<readonly string[]>;
}

/**
 * For a file of tests: opens pages of the program at `url()` in one browser, and closes them after each test. The test fails if a script
 * threw, an error was written to the console, the policy refused anything, another origin was asked, or a request is not in
 * `/openapi.json`.
 */
export function pagesOf(url: () => string): OpenPage {
  let browser: Browser;
  let opened: OpenedPage[] = [];
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterEach(async () => {
    const closing = opened;
    opened = [];
    expect((await Promise.all(closing.map((one) => one.close()))).flat()).toEqual([]);
  });
  afterAll(() => browser?.close());
  return async (query = '', options = {}) => {
    const one = await openPage(browser, `${url()}${PAGE}${query === '' ? '' : `?${query}`}`, options);
    opened.push(one);
    return one;
  };
}

/** Without a locale, Chromium takes one of the environment that is no language tag where that has none, such as `en-US@posix`. */
const USUAL: BrowserContextOptions = { viewport: { width: 1280, height: 900 }, timezoneId: 'Europe/Berlin', locale: 'en-US' };

async function openPage(browser: Browser, url: string, options: PageOptions): Promise<OpenedPage> {
  const { expectsFailures = false, movesClock = false, initScript, pathBefore = '', ...contextOptions } = options;
  const context = await browser.newContext({ ...USUAL, ...contextOptions });
  const { origin } = new URL(url);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const page = await context.newPage();
  const faults: string[] = [];
  const requests: Request[] = [];
  const forAlerts: Request[] = [];
  const countsOfNew: Request[] = [];
  page.on('pageerror', (error) => faults.push(`a script threw ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (!(expectsFailures && FAILED_ANSWER.test(message.text()))) faults.push(`the console has ${message.text()}`);
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol === 'data:' || asked.protocol === 'blob:') return;
    if (asked.origin !== origin) faults.push(`${request.url()} was asked for`);
    else if (['fetch', 'xhr', 'eventsource', 'ping'].includes(request.resourceType())) {
      const isOfAlerts = asked.pathname.endsWith('/alerts');
      (isOfAlerts ? forAlerts : isCountOfNew(request, requests) ? countsOfNew : requests).push(request);
    }
  });
  await page.addInitScript(CLOCK + WATCH);
  if (initScript !== undefined) await page.addInitScript(initScript);
  if (movesClock) await page.clock.install();
  await page.goto(url);
  const questions = (): readonly AskedQuestion[] => {
    const bodies = requests.filter(isForExplorer).map((request) => request.postDataJSON());
    return bodies.filter((body) => body.facets !== undefined && body.histogram !== undefined);
  };
  return {
    page,
    requests,
    countsOfNew,
    questions,
    lastQuestion: () => {
      const asked = questions().at(-1);
      if (asked === undefined) throw new Error('nothing was asked of the explorer');
      return asked;
    },
    actions: async () => Number(await page.evaluate('actionsOfPerson')),
    close: async () => {
      await context.close();
      return [...faults, ...undescribedRequests([...requests, ...forAlerts, ...countsOfNew], pathBefore)];
    },
  };
}
