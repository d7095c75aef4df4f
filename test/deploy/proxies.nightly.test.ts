import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { freePorts } from '../broker/free-port.ts';
import { drawnLines } from '../browser/event-table.ts';
import { pagesOf } from '../browser/watched-page.ts';
import { eventLine, ingest, startApp } from '../src/running-app.ts';

const FILES = join(import.meta.dirname, '../../ops/proxy');
const PASSWORD = 'open sesame';

interface Proxy {
  readonly file: string;
  /** Its file of those who may sign in, with a line of one. */
  readonly users: readonly [name: string, line: () => string];
  readonly command: (folder: string) => readonly [program: string, ...args: string[]];
}

const hashed = (program: string, ...args: readonly string[]) => execFileSync(program, args, { encoding: 'utf8' }).trim();

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    file: 'nginx.conf',
    users: ['nginx-users', () => `you:${hashed('openssl', 'passwd', '-apr1', PASSWORD)}\n`],
    command: (folder) => ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', `daemon off; pid ${folder}/pid;`],
  },
  Caddy: {
    file: 'Caddyfile',
    users: ['caddy-users', () => `you ${hashed('caddy', 'hash-password', '--plaintext', PASSWORD)}\n`],
    command: () => ['caddy', 'run'],
  },
};

let outside: string;
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

// Later than the one above, so that pages are closed before the program stops.
const openPage = pagesOf(() => outside);

/** Starts the proxy with its own file: other are only the ports, so that it needs none that is taken. */
async function startProxy({ file, users, command }: Proxy, ports: { readonly proxy: number; readonly app: string }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'shieldlog-proxy-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  // The workers of nginx run as another user.
  chmodSync(folder, 0o755);
  const text = readFileSync(join(FILES, file), 'utf8');
  const moved = text.replace('listen 443', `listen 127.0.0.1:${ports.proxy}`).replace(':443 {', `:${ports.proxy} {\n\tbind 127.0.0.1`);
  writeFileSync(join(folder, file), moved.replace('127.0.0.1:8080', ports.app));
  writeFileSync(join(folder, users[0]), users[1]());
  const certificate = ['-keyout', 'certificate-key.pem', '-out', 'certificate.pem', '-subj', '/CN=127.0.0.1', '-days', '2'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...key, ...certificate, '-addext', 'subjectAltName=IP:127.0.0.1'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const [program, ...args] = command(folder);
  const running = spawn(program, args, {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  const ended = new Promise((resolve) => running.on('exit', resolve).on('error', resolve));
  cleanUps.push(() => {
    running.kill();
    return ended;
  });
}

/** The status without a sign-in, and where the answer sends on to; 0 where nothing answers. */
function visit(path: string): Promise<readonly [status: number, location?: string]> {
  return new Promise((resolve) => {
    const asked = request(`${new URL(outside).origin}${path}`, { rejectUnauthorized: false }, (answer) => {
      answer.resume();
      const { location } = answer.headers;
      resolve(location === undefined ? [answer.statusCode ?? 0] : [answer.statusCode ?? 0, location]);
    });
    asked.on('error', () => resolve([0])).end();
  });
}

test.each(Object.entries(PROXIES))(
  'behind %s the page asks, streams and shows its interface, for those who sign in',
  async (_name, proxy) => {
    const [port = 0] = await freePorts(1);
    outside = `https://127.0.0.1:${port}/waf`;
    const app = await startApp({ env: { PUBLIC_URL: outside } });
    cleanUps.push(() => app.stop());
    await ingest(app, eventLine({ logId: 'before' }));
    await startProxy(proxy, { proxy: port, app: new URL(app.url).host });
    await expect.poll(() => visit('/waf/')).toEqual([401]);
    expect(await visit('/waf')).toEqual([308, '/waf/']);
    const signedIn = { ignoreHTTPSErrors: true, httpCredentials: { username: 'you', password: PASSWORD } };
    const { page } = await openPage('columns=logId', { ...signedIn, pathBefore: '/waf' });
    const ids = async () => [...(await drawnLines(page)).values()].map(([id]) => id);
    await expect.poll(ids).toEqual(['before']);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await expect.poll(() => page.getByRole('main').textContent()).toContain('Watching');
    await ingest(app, eventLine({ logId: 'after', timestamp: Date.now() }));
    await expect.poll(ids).toEqual(['after']);
    const docs = await page.context().newPage();
    await docs.goto(`${outside}/docs`);
    await docs.locator('.opblock').first().waitFor();
  },
);
