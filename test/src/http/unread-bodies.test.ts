import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { answerOn, openConnection } from './raw-connection.ts';

const KEY = 'key-of-every-zone-1';
/** More than the buffers of a connection hold. */
const BODY = Buffer.alloc(16 * 1024 * 1024, 'x');

let app: RunningApp;

afterEach(() => app.stop());

interface Refused {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** With a length: refused by that. Chunked otherwise. */
  readonly withLength?: boolean;
  readonly status: number;
  readonly errorKey: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const REFUSED: readonly (readonly [string, Refused])[] = [
  ['a search that is too long', { path: '/shield/event-logs/7/search', headers: JSON_TYPE, status: 413, errorKey: 'body.too_large' }],
  [
    'a search that says so',
    { path: '/shield/event-logs/7/search', headers: JSON_TYPE, withLength: true, status: 413, errorKey: 'body.too_large' },
  ],
  ['an export that is too long', { path: '/shield/event-logs/7/export', headers: JSON_TYPE, status: 413, errorKey: 'body.too_large' }],
  [
    'an upload that is no gzip',
    { path: '/ingest/events', headers: { 'content-encoding': 'gzip' }, withLength: true, status: 400, errorKey: 'request.malformed' },
  ],
  [
    'an upload of an unknown type',
    { path: '/ingest/events', headers: { 'content-type': 'image/png' }, status: 415, errorKey: 'body.unsupported_type' },
  ],
  ['a body that has nowhere to go', { path: '/nowhere', headers: {}, withLength: true, status: 404, errorKey: 'route.not_found' }],
  [
    'a body that its path does not take',
    { method: 'PUT', path: '/healthz', headers: {}, withLength: true, status: 405, errorKey: 'route.method_not_allowed' },
  ],
  ['a body behind a broken path', { path: '/%zz', headers: {}, status: 400, errorKey: 'request.malformed' }],
];

/** Sends the whole body before it reads a byte of the answer. */
async function sendAll(socket: Socket, { method = 'POST', path, headers, withLength = false }: Refused): Promise<void> {
  const framing = withLength ? `Content-Length: ${BODY.length}` : 'Transfer-Encoding: chunked';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${framing}\r\n\r\n`);
  const parts = withLength ? [BODY] : [`${BODY.length.toString(16)}\r\n`, BODY, '\r\n0\r\n\r\n'];
  for (const part of parts) if (!socket.write(part)) await once(socket, 'drain');
}

describe('a request that is refused before its body has come whole', () => {
  test.each(REFUSED)('is answered, and its connection closed, with nothing lost: %s', async (_what, refused) => {
    app = await startApp();
    const socket = await openConnection(app);
    socket.pause();
    await sendAll(socket, refused);
    const { head, body } = await answerOn(socket);
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${refused.status} `));
    expect(head).toMatch(/^connection: close\r?$/im);
    expect(body).toMatchObject({ status: refused.status, errorKey: refused.errorKey });
  });

  test.each(REFUSED)('leaves a client that keeps its connections able to go on: %s', async (_what, refused) => {
    app = await startApp();
    const { method = 'POST', path, headers, withLength = false } = refused;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const length = withLength ? { 'content-length': BODY.length } : {};
    const request = httpRequest(`${app.url}${path}`, { method, agent, headers: { ...headers, ...length } });
    // The answer may come, and the connection be closed, while the client still writes.
    request.on('error', () => undefined);
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.end(BODY);
    const [response] = await answered;
    expect([response.statusCode, JSON.parse(await text(response)).errorKey]).toEqual([refused.status, refused.errorKey]);
    const next = httpRequest(`${app.url}/healthz`, { agent });
    const nextAnswered = once(next, 'response') as Promise<[IncomingMessage]>;
    next.end();
    expect((await nextAnswered)[0].statusCode).toBe(200);
  });

  test('is answered also where the rest breaks the rules of its transfer', async () => {
    app = await startApp();
    const socket = await openConnection(app);
    socket.pause();
    socket.write('POST /ingest/events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    if (!socket.write(BODY)) await once(socket, 'drain');
    const { head, body } = await answerOn(socket);
    expect(head).toContain('HTTP/1.1 400');
    expect(body.errorKey).toBe('request.malformed');
  });

  test('is refused without a key in the same way', async () => {
    app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*` } });
    const path = '/ingest/events';
    for (const withLength of [true, false]) {
      const socket = await openConnection(app);
      socket.pause();
      await sendAll(socket, { path, headers: {}, withLength, status: 401, errorKey: 'access.key_missing' });
      const { head, body } = await answerOn(socket);
      expect(head).toMatch(/^connection: close\r?$/im);
      expect(body.errorKey).toBe('access.key_missing');
    }
    const init = { method: 'POST', body: BODY };
    expect((await ask(app, path, init)).status).toBe(401);
    expect((await ask(app, '/healthz')).status).toBe(200);
  });

  test('is the last of its connection: what comes behind it is not done', async () => {
    app = await startApp();
    const seen: (string | undefined)[] = [];
    app.app.server.on('request', ({ url }) => seen.push(url));
    const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.resume();
    await sendAll(socket, { path: '/nowhere', headers: {}, withLength: true, status: 404, errorKey: 'route.not_found' });
    const event = eventLine({ logId: 'behind' });
    socket.write(`POST /ingest/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(event)}\r\n\r\n${event}`);
    await eventually('it has come', () => seen.includes('/ingest/events'));
    // Events are stored in the order in which they come.
    expect((await ingest(app, eventLine({ logId: 'later' }))).status).toBe(202);
    expect((await search(app, lastHour())).body.rows.map(({ logId }: { logId: string }) => logId)).toEqual(['later']);
  });
});

describe('a request whose body has come', () => {
  test('keeps its connection, however it is answered', async () => {
    app = await startApp();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const sockets = new Set<Socket>();
    for (const [method, path, body] of [
      ['POST', '/nowhere', 'x'],
      ['POST', '/shield/event-logs/7/search', '{'],
      ['GET', '/%zz', ''],
      ['GET', '/healthz', ''],
    ] as const) {
      const request = httpRequest(`${app.url}${path}`, { method, agent, headers: JSON_TYPE });
      request.once('socket', (socket) => sockets.add(socket));
      const answered = once(request, 'response') as Promise<[IncomingMessage]>;
      request.end(body);
      await text((await answered)[0]);
    }
    expect(sockets.size).toBe(1);
  });
});

describe('a short body of which some is still to come', () => {
  test.each([
    ['was not looked at', 'POST /nowhere HTTP/1.1', '404'],
    ['was read in part', 'POST /ingest/events HTTP/1.1\r\nContent-Encoding: gzip', '400'],
  ])('is waited for, and its connection kept, where it %s', async (_what, lines, status) => {
    app = await startApp();
    const socket = await openConnection(app);
    socket.setEncoding('latin1');
    socket.write(`${lines}\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(10_000)}`);
    const [refusal] = await once(socket, 'data');
    expect(refusal).toContain(`HTTP/1.1 ${status} `);
    socket.write(`${'x'.repeat(10_000)}GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect((await answerOn(socket)).head).toContain('HTTP/1.1 200 ');
  });

  test('is not waited for where the client waits to be told to go on', async () => {
    app = await startApp();
    const socket = await openConnection(app);
    socket.write('POST /nowhere HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    expect((await answerOn(socket)).head).toMatch(/^connection: close\r?$/im);
  });
});
