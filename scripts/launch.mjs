// Runs one of the scripts of script-table.mjs on a machine that has only Node 18 or later and npm. It installs missing packages, finds a
// Node that can run the program, and starts it. It is plain JavaScript without dependencies, because nothing is installed yet.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeInstallLock } from './install-lock.mjs';
import { needsInstall } from './needs-install.mjs';
import { NODE_OPTIONS } from './node-options.mjs';
import { findNode } from './node-runtime.mjs';
import { SCRIPTS } from './script-table.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

function fail(message, status) {
  process.stderr.write(`shieldlog: ${message}\n`);
  process.exit(status);
}

function readOrNull(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function whyInstall(folder) {
  return needsInstall(
    readFileSync(join(folder, 'package-lock.json'), 'utf8'),
    readOrNull(join(folder, 'node_modules', '.package-lock.json')),
  );
}

/** Installs the packages of a folder with a package.json if they differ from its lock file. */
async function install(folder) {
  if (whyInstall(folder) === null) return;
  const release = await takeInstallLock(join(root, '.cache', 'install.lock'), (pid) =>
    process.stderr.write(`shieldlog: process ${pid} is installing packages; waiting for it\n`),
  );
  process.once('exit', release);
  // The process that held the lock may have installed them.
  const reason = whyInstall(folder);
  if (reason !== null) npmCi(folder, reason);
  process.off('exit', release);
  release();
}

function npmCi(folder, reason) {
  const where = folder === root ? '' : ` in ${relative(root, folder)}/`;
  process.stderr.write(`shieldlog: installing packages${where} with npm ci, because ${reason}; this takes a minute\n`);
  // Under `npm run`, npm names its own program file. PATH may have another npm or none.
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  // npm's standard output goes to stderr, because stdout is for the data of the script. `--loglevel=error` hides engine warnings, which are
  // about the Node that installs and not the one that runs. Development packages are needed with any NODE_ENV.
  const args = [...first, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const done = spawnSync(command, args, { cwd: folder, stdio: ['ignore', 2, 2] });
  if (done.error) fail(`npm could not be started: ${done.error.message}`, 1);
  if (done.status === 0) return;
  const registry = 'the package registry (npm config get registry): once everything is installed, no network is needed';
  fail(`npm ci failed with status ${done.status ?? done.signal}; its messages are above. It needs ${registry}`, 1);
}

/**
 * Calls `act` when the parent has ended, but only under npm: a signal to `npm start` ends npm and its shell, and this process gets none.
 * Elsewhere a parent may end without consequence, such as a terminal under nohup.
 */
function whenOrphaned(act) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  return setInterval(() => process.ppid === parent || act(), 250).unref();
}

/**
 * Runs one command, passes signals on to it and resolves with its exit status. With `leash`, the command has a channel to this process. The
 * end of the channel tells it that this process was killed.
 */
function run(command, args, { leash, ...options }) {
  return new Promise((finish) => {
    const child = spawn(command, args, { ...options, stdio: ['inherit', 'inherit', 'inherit', ...(leash ? ['ipc'] : [])] });
    let passed = false;
    const pass = (signal) => {
      passed = true;
      child.kill(signal);
    };
    const orphaned = whenOrphaned(() => {
      if (!passed) pass('SIGTERM');
    });
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, pass);
    child.on('error', (error) => {
      process.stderr.write(`shieldlog: ${command} could not be started: ${error.message}\n`);
      finish(1);
    });
    child.on('exit', (code, signal) => {
      clearInterval(orphaned);
      for (const name of signals) process.off(name, pass);
      finish(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/**
 * Sets up what is missing, runs the script and exits with its status.
 *
 * @param {string | undefined} name a name in SCRIPTS
 * @param {readonly string[]} args arguments of the script's last command
 * @param {string} callersFolder the folder of relative file names on the command line
 */
export async function launch(name, args, callersFolder) {
  const script = Object.hasOwn(SCRIPTS, name ?? '') ? SCRIPTS[name] : undefined;
  if (script === undefined) fail(`no script called "${name ?? ''}"; there are: ${Object.keys(SCRIPTS).join(', ')}`, 2);
  for (const folder of ['.', ...(script.packages ?? [])]) await install(join(root, folder));
  const node = findNode({ root, execPath: process.execPath, version: process.versions.node });
  if (node === null) {
    const found = `this is ${process.versions.node} and node_modules/node/bin/node is missing`;
    fail(`Node 24.10 or later is needed; ${found}. Install Node 24, or run: npm rebuild node`, 1);
  }
  const bin = join(root, 'node_modules', '.bin');
  const env = {
    ...script.env,
    ...process.env,
    // A running DuckDB call occupies one of libuv's threads. By default there are 4.
    UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE ?? '16',
    // glibc gives every thread its own heap and returns little memory: with 16 threads that is a gigabyte under load.
    MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '2',
    PATH: [dirname(node), bin, process.env.PATH ?? ''].join(delimiter),
  };
  let status = 0;
  for (const [index, [program, ...own]] of script.commands.entries()) {
    const last = index === script.commands.length - 1;
    const [command, first] =
      program === 'node' ? [node, [...NODE_OPTIONS, resolve(root, own[0]), ...own.slice(1)]] : [join(bin, program), own];
    const cwd = script.callersFolder ? callersFolder : root;
    status = await run(command, last ? [...first, ...args] : first, { cwd, env, leash: program === 'node' });
    if (status !== 0) break;
  }
  process.exit(status);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await launch(process.argv[2], process.argv.slice(3), process.env.INIT_CWD ?? process.cwd());
}
