// Does `npm start` work for somebody who has just cloned? Clones HEAD into a folder whose name has a blank and an accent, runs `npm start`
// there with an empty home folder and nothing of this environment but the registry settings, asks a search, and stops it as Ctrl-C does.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const INSTALL_AND_START_MS = 15 * 60_000;
const STOP_MS = 60_000;
const HOUR_MS = 3_600_000;
const REGISTRY_SETTINGS = /^(npm_config_|https?_proxy$|no_proxy$|node_extra_ca_certs$|ssl_cert_)/i;

const root = dirname(dirname(fileURLToPath(import.meta.url)));

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}

/** The answer's JSON when it is 200; null when it is another or there is none yet. */
async function ask(url, options) {
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(30_000) });
    return response.status === 200 ? await response.json() : null;
  } catch (error) {
    // Nothing listens yet, or it listens and is too busy to answer.
    if (error.name === 'TimeoutError' || error instanceof TypeError) return null;
    throw error;
  }
}

/** Asks until there is an answer; fails when the time is over or `npm start` has ended. */
async function until(what, started, limitMs, question) {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await question();
    if (answer !== null) return answer;
    if (started.exitCode !== null) throw new Error(`npm start ended with ${started.exitCode} before ${what}`);
    if (Date.now() > deadline) throw new Error(`waited ${limitMs / 1000} s for ${what}`);
    await delay(500);
  }
}

function bareEnvironment(home, port) {
  const kept = Object.entries(process.env).filter(([name]) => REGISTRY_SETTINGS.test(name));
  const userSettings = process.env.NPM_CONFIG_USERCONFIG ?? join(homedir(), '.npmrc');
  return {
    ...Object.fromEntries(kept),
    ...(existsSync(userSettings) && { NPM_CONFIG_USERCONFIG: userSettings }),
    PATH: process.env.PATH,
    HOME: home,
    PORT: String(port),
  };
}

async function stop(started) {
  // To the whole group, as a terminal does.
  process.kill(-started.pid, 'SIGINT');
  const ended = once(started, 'exit');
  const timer = setTimeout(() => process.kill(-started.pid, 'SIGKILL'), STOP_MS);
  if (started.exitCode === null && started.signalCode === null) await ended;
  clearTimeout(timer);
  if (started.signalCode === 'SIGKILL') throw new Error(`npm start did not stop within ${STOP_MS / 1000} s`);
}

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-fresh-'));
const clone = join(folder, 'my clone é');
const home = join(folder, 'home');
mkdirSync(home);
let started;
try {
  execFileSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' });
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  started = spawn('npm', ['start'], {
    cwd: clone,
    env: bareEnvironment(home, port),
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await until('the program to be ready', started, INSTALL_AND_START_MS, () => ask(`${base}/readyz`));
  const total = await until('a search to find events', started, STOP_MS, async () => {
    const now = Date.now();
    const body = JSON.stringify({ from: now - 71 * HOUR_MS, to: now, pageSize: 1 });
    const answer = await ask(`${base}/shield/event-logs/1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return answer === null || answer.total === 0 ? null : answer.total;
  });
  process.stdout.write(`a search of zone 1 finds ${total} events\n`);
  await stop(started);
  if ((await ask(`${base}/healthz`)) !== null) throw new Error('the program answers after npm start has ended');
  const left = execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' });
  if (left !== '') throw new Error(`npm start leaves files that git does not ignore:\n${left}`);
} finally {
  if (started !== undefined && started.exitCode === null && started.signalCode === null) process.kill(-started.pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
