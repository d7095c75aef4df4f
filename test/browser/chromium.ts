import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where distributions and vendors put it. */
const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/opt/google/chrome/chrome'];

/** The browser asks for nothing but the page, and keeps nothing. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

/**
 * Starts the installed Chromium, with a profile of its own: the one that CHROMIUM names, or the first of its usual paths. Throws one line
 * where there is none.
 */
export async function startChromium(): Promise<Browser> {
  const named = process.env['CHROMIUM'];
  const executablePath = [...(named === undefined ? USUAL_PATHS : [named])].find((path) => existsSync(path));
  if (executablePath === undefined) {
    const looked = named === undefined ? USUAL_PATHS.join(', ') : `CHROMIUM=${named}`;
    throw new Error(
      `the page is tested in a Chromium, and there is none (${looked}); apt-get install chromium, or set CHROMIUM to its path`,
    );
  }
  return chromium.launch({ executablePath, headless: true, args: QUIET });
}
