import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { undescribedRequests } from './described-requests.ts';

/** The path of the page. */
export const PAGE = '/next';

/** What the page of a person does and asks for, seen from the outside. */
export interface WatchedPage {
  readonly page: Page;
  /** The requests to the program's interface so far, without those for the page's own files. */
  readonly requests: readonly Request[];
  /** How often a button of the mouse, a finger or a key went down since the page was loaded. */
  actions(): Promise<number>;
  /** Fails where the page did what it must not do at any time; closes it. */
  close(): Promise<void>;
}

/** Counts what a person does, and tells what the policy refuses. Scripts of the page cannot make trusted events. */
const WATCH = `
  globalThis.actionsOfPerson = 0;
  for (const name of ['pointerdown', 'keydown'])
    addEventListener(name, (event) => { if (event.isTrusted) globalThis.actionsOfPerson += 1; }, true);
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error('the policy refused ' + violatedDirective + ' ' + blockedURI));
`;

/** What the browser writes for an answer with an error, which a test brings about on purpose. */
const FAILED_ANSWER = /^Failed to load resource/;

interface WatchOptions extends BrowserContextOptions {
  /** The test brings about answers with errors or connections that break, which the browser reports as errors by itself. */
  readonly expectsFailures?: boolean;
}

/**
 * Opens the page at an address, with its path and query. When it is closed the test fails if a script threw, an error was written to the
 * console, the policy refused anything, another origin was asked, or a request is not in `/openapi.json`.
 */
export async function openPage(browser: Browser, url: string, options: WatchOptions = {}): Promise<WatchedPage> {
  const { expectsFailures = false, ...contextOptions } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: 'Europe/Berlin', ...contextOptions });
  const { origin } = new URL(url);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const page = await context.newPage();
  const faults: string[] = [];
  const requests: Request[] = [];
  page.on('pageerror', (error) => faults.push(`a script threw ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (!(expectsFailures && FAILED_ANSWER.test(message.text()))) faults.push(`the console has ${message.text()}`);
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol === 'data:' || asked.protocol === 'blob:') return;
    if (asked.origin !== origin) faults.push(`${request.url()} was asked for`);
    else if (['fetch', 'xhr', 'eventsource', 'ping'].includes(request.resourceType())) requests.push(request);
  });
  await page.addInitScript(WATCH);
  await page.goto(url);
  return {
    page,
    requests,
    actions: async () => Number(await page.evaluate('actionsOfPerson')),
    close: async () => {
      const undescribed = await undescribedRequests(origin, requests);
      await context.close();
      expect([...faults, ...undescribed]).toEqual([]);
    },
  };
}
