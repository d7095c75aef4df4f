import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

const PATH = '/waf';

let app: RunningApp;
let proxy: Server;
/** Where browsers find the page. */
let outside: string;
const openPage = pagesOf(() => outside);

beforeAll(async () => {
  // Like nginx without any header set: the program is told its own address as Host, and the browser's Origin.
  proxy = createServer((request, response) => {
    const path = request.url ?? '';
    if (!path.startsWith(`${PATH}/`)) return void response.writeHead(404).end('not of this program');
    const { port, host } = new URL(app.url);
    const options = { port, method: request.method, path: path.slice(PATH.length), headers: { ...request.headers, host } };
    const asked = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    asked.on('error', () => response.destroy());
    response.on('close', () => asked.destroy());
    request.pipe(asked);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  outside = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PATH}`;
  app = await startApp({ env: { PUBLIC_URL: outside } });
  await ingest(app, eventLine({ logId: 'before' }));
});

afterAll(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await app?.stop();
});

test('below a path of a proxy the page asks, streams, and copies requests that a shell can send', async () => {
  const { page } = await openPage('columns=logId', { pathBefore: PATH });
  const ids = async () => [...(await drawnLines(page)).values()].map(([id]) => id);
  await expect.poll(ids).toEqual(['before']);
  expect(await page.locator('#blank').count()).toBe(0);
  for (const [item, path] of [
    ['Copy the request of this page as curl', '/shield/event-logs/all/explore'],
    ['Copy the export as curl', '/shield/event-logs/all/export'],
  ] as const) {
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain(`'${outside}${path}'`);
  }
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await expect.poll(() => page.getByRole('main').textContent()).toContain('Watching');
  await ingest(app, eventLine({ logId: 'after', timestamp: Date.now() }));
  await expect.poll(ids).toEqual(['after']);
  expect(new URL(page.url()).pathname).toBe(`${PATH}/`);
});

test.each(['/docs', '/docs/'])('below a path of a proxy %s shows the interface, and tries it there', async (path) => {
  const { page } = await openPage('', { pathBefore: PATH });
  const docs = await page.context().newPage();
  await docs.goto(`${outside}${path}`);
  await docs.locator('.opblock').first().waitFor();
  expect(await docs.getByRole('combobox').first().inputValue()).toBe(outside);
});

test('a page whose scripts do not come says why it stays blank', async () => {
  const { page } = await openPage('', { pathBefore: PATH, expectsFailures: true });
  await page.route('**/*.js', (route) => route.fulfill({ status: 404 }));
  await page.reload();
  const sentence = page.getByText('This page stays blank where its scripts cannot be loaded');
  await expect.poll(() => sentence.isVisible()).toBe(true);
});
