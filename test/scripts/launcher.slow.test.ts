import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';

const root = join(import.meta.dirname, '../..');

/** A stand-in for the program that says how it was started, and with `wait` stays until it is told to go. */
const MAIN = `
const { UV_THREADPOOL_SIZE, MALLOC_ARENA_MAX, DEMO } = process.env;
const args = process.argv.slice(2);
if (process.argv.includes('wait')) {
  process.on('SIGTERM', () => process.exit(7));
  process.on('disconnect', () => { require('node:fs').writeFileSync(process.argv.at(-1), 'left alone'); process.exit(0); });
  setTimeout(() => process.exit(9), 60_000);
} else process.exitCode = process.argv.includes('fail') ? 5 : 0;
console.log(JSON.stringify({ args, pid: process.pid, cwd: process.cwd(), UV_THREADPOOL_SIZE, MALLOC_ARENA_MAX, DEMO }));
`;

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A small checkout with the real launcher, whose one dependency is a package file beside it: no network is needed. */
let template: string;
let checkout: string;
let children: ChildProcess[] = [];

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], { cwd, stdio: 'pipe' });
}

function makePackage(folder: string, version: string): void {
  const source = join(folder, 'source');
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'small', version }));
  npm(folder, 'pack', './source');
  rmSync(source, { recursive: true });
}

/** Makes the two package files as they are where `small` is wanted in this version. */
function dependOn(folder: string, version: string): void {
  const bare = mkdtempSync(join(folder, 'bare-'));
  writeFileSync(join(bare, 'package.json'), JSON.stringify({ name: 'checkout', dependencies: { small: `file:small-${version}.tgz` } }));
  cpSync(join(folder, `small-${version}.tgz`), join(bare, `small-${version}.tgz`));
  npm(bare, 'install', '--package-lock-only');
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(bare, name), join(folder, name));
  rmSync(bare, { recursive: true });
}

beforeAll(() => {
  template = realpathSync(mkdtempSync(join(tmpdir(), 'shieldlog-launcher-')));
  cpSync(join(root, 'scripts'), join(template, 'scripts'), { recursive: true });
  mkdirSync(join(template, 'src'));
  // CommonJS by its package.json; the launcher does not care.
  writeFileSync(join(template, 'src/main.ts'), MAIN);
  for (const version of ['1.0.0', '2.0.0']) makePackage(template, version);
  dependOn(template, '1.0.0');
});

beforeEach(() => {
  checkout = realpathSync(mkdtempSync(join(tmpdir(), 'shieldlog-checkout-')));
  cpSync(template, checkout, { recursive: true });
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(checkout, { recursive: true, force: true });
});

afterAll(() => rmSync(template, { recursive: true, force: true }));

const launcher = (): string => join(checkout, 'scripts/launch.mjs');
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  INIT_CWD: checkout,
  UV_THREADPOOL_SIZE: undefined,
  MALLOC_ARENA_MAX: undefined,
  DEMO: undefined,
});

function launch(...args: string[]): Run {
  return spawnSync(process.execPath, [launcher(), ...args], { cwd: checkout, env: environment(), encoding: 'utf8' });
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Run>;
  /** Its standard output so far. */
  said(): string;
}

function start(...args: string[]): Started {
  const child = spawn(process.execPath, [launcher(), ...args], { cwd: checkout, env: environment() });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const ended = new Promise<Run>((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
  return { child, ended, said: () => stdout };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the launcher', () => {
  test('installs what is missing, says so on stderr, and hands over to the program', () => {
    const { status, stdout, stderr } = launch('start', '--port', '0');
    expect(stderr).toContain('installing packages with npm ci, because nothing is installed yet');
    expect(JSON.parse(stdout)).toMatchObject({
      args: ['serve', '--port', '0'],
      cwd: checkout,
      UV_THREADPOOL_SIZE: '16',
      MALLOC_ARENA_MAX: '2',
      DEMO: 'auto',
    });
    expect(status).toBe(0);
  });

  test('installs nothing where everything is there, and again where the lock file has changed', () => {
    launch('serve');
    expect(launch('serve').stderr).toBe('');
    dependOn(checkout, '2.0.0');
    expect(launch('serve').stderr).toContain('because node_modules/small is 1.0.0, package-lock.json says 2.0.0');
    expect(launch('serve').stderr).toBe('');
  });

  test("installs a script's own packages beside the program's, and only for that script", () => {
    const bench = join(checkout, 'bench');
    mkdirSync(bench);
    writeFileSync(join(bench, 'main.ts'), MAIN);
    cpSync(join(checkout, 'small-2.0.0.tgz'), join(bench, 'small-2.0.0.tgz'));
    dependOn(bench, '2.0.0');
    expect(launch('serve').stderr).not.toContain('bench');
    expect(launch('bench').stderr).toContain('installing packages in bench/ with npm ci, because nothing is installed yet');
    expect(existsSync(join(bench, 'node_modules/small/package.json'))).toBe(true);
    expect(launch('bench').stderr).toBe('');
  });

  test.each(['test', 'test:unit', 'test:long'])(
    'installs the compiler of the event kernel for `%s`, and not to run the program',
    (script) => {
      const kernel = join(checkout, 'ingest/event/kernel');
      mkdirSync(kernel, { recursive: true });
      cpSync(join(checkout, 'small-2.0.0.tgz'), join(kernel, 'small-2.0.0.tgz'));
      dependOn(kernel, '2.0.0');
      for (const program of ['start', 'serve', 'shieldlog']) expect(launch(program).stderr).not.toContain('ingest/event/kernel');
      expect(launch(script).stderr).toContain('installing packages in ingest/event/kernel/ with npm ci, because nothing is installed yet');
    },
  );

  test('installs once where several start together', async () => {
    const runs = await Promise.all([start('serve'), start('serve'), start('serve')].map(({ ended }) => ended));
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect(runs.filter(({ stderr }) => stderr.includes('installing packages with npm ci'))).toHaveLength(1);
  });

  test('is not held up by the lock of a launcher that was killed', () => {
    const dead = spawnSync(process.execPath, ['--version']);
    mkdirSync(join(checkout, '.cache'));
    writeFileSync(join(checkout, '.cache/install.lock'), String(dead.pid));
    expect(launch('serve').status).toBe(0);
  });

  test('says clearly that the installation failed', () => {
    writeFileSync(join(checkout, 'package.json'), JSON.stringify({ name: 'checkout', dependencies: { small: 'file:small-2.0.0.tgz' } }));
    const { status, stdout, stderr } = launch('serve');
    expect(stderr).toMatch(/npm ci failed with status \d+; its messages are above/);
    expect([status, stdout]).toEqual([1, '']);
    expect(launch('serve').stderr).toContain('installing packages with npm ci');
  });

  test('knows its scripts', () => {
    const { status, stderr } = launch('strat');
    expect(stderr).toMatch(/^shieldlog: no script called "strat"; there are: start, serve, .*\n$/);
    expect(status).toBe(2);
  });

  test('ends with the status of the program', () => {
    expect(launch('shieldlog', 'fail').status).toBe(5);
  });

  test('passes signals on and ends with what the program makes of them', async () => {
    const { child, ended, said } = start('serve', 'wait');
    await eventually('the program runs', () => said().includes('"wait"'));
    child.kill('SIGTERM');
    expect((await ended).status).toBe(7);
  });

  test('stops the program when npm and the shell between them are gone', async () => {
    const shell = spawn('sh', ['-c', `"${process.execPath}" "${launcher()}" serve wait; true`], {
      cwd: checkout,
      env: { ...environment(), npm_lifecycle_event: 'serve' },
    });
    children.push(shell);
    let stdout = '';
    shell.stdout.on('data', (chunk) => {
      stdout += String(chunk);
    });
    await eventually('the program runs', () => stdout.includes('"wait"'));
    const pid = Number(JSON.parse(stdout).pid);
    shell.kill('SIGTERM');
    await eventually('the program has ended', () => !isRunning(pid));
  });

  test('takes the program along when it is killed', async () => {
    const note = join(checkout, 'note');
    const { child, said } = start('serve', 'wait', note);
    await eventually('the program runs', () => said().includes('"wait"'));
    child.kill('SIGKILL');
    await eventually('the program has noticed', () => existsSync(note));
  });
});
