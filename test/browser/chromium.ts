import { type Browser, chromium } from 'playwright-core';
import { findChromium } from './find-chromium.ts';

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

/** Starts a Chromium without a window, with a profile of its own. Throws one line where there is none. */
export async function startChromium(): Promise<Browser> {
  const { executablePath, env } = await findChromium();
  return chromium.launch({ executablePath, headless: true, args: QUIET, env: { ...process.env, ...env } });
}
