import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { refuseTunnel } from '../../../src/http/http-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { answerOn, openConnection, type RawAnswer } from './raw-connection.ts';

const KEY = 'key-of-every-zone-1';
const SEARCH = 'POST /shield/event-logs/7/search HTTP/1.1';
const JSON_TYPE = 'Content-Type: application/json';

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

/** The answer to a request line and headers. */
async function answerTo(...lines: readonly string[]): Promise<RawAnswer> {
  const socket = await openConnection(app);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return answerOn(socket);
}

describe('a request that never reaches a route is answered with ProblemDetails:', () => {
  test.each([
    ['no HTTP at all', ['hello'], '400 Bad Request', 'request.malformed', null],
    ['a method that does not exist', ['BREW / HTTP/1.1', 'Host: localhost'], '400 Bad Request', 'request.malformed', null],
    ['a version that does not exist', ['GET / HTTP/7.0', 'Host: localhost'], '400 Bad Request', 'request.malformed', null],
    ['two lengths', [SEARCH, 'Host: localhost', 'Content-Length: 1', 'Content-Length: 2'], '400 Bad Request', 'request.malformed', null],
    ['no Host', ['GET /healthz HTTP/1.1', 'Connection: close'], '400 Bad Request', 'request.malformed', '/healthz'],
    [
      'two Hosts',
      ['GET /healthz HTTP/1.1', 'Host: localhost', 'Host: localhost', 'Connection: close'],
      '400 Bad Request',
      'request.malformed',
      '/healthz',
    ],
    [
      'an expectation that nobody knows',
      [SEARCH, 'Host: localhost', 'Expect: nonsense', 'Connection: close', 'Content-Length: 5'],
      '417 Expectation Failed',
      'expect.unsupported',
      '/shield/event-logs/7/search',
    ],
    [
      'one more beside 100-continue',
      [SEARCH, 'Host: localhost', 'Expect: 100-continue, nonsense', 'Connection: close', 'Content-Length: 5'],
      '417 Expectation Failed',
      'expect.unsupported',
      '/shield/event-logs/7/search',
    ],
    ['a tunnel', ['CONNECT example.com:443 HTTP/1.1', 'Host: example.com'], '405 Method Not Allowed', 'route.method_not_allowed', null],
    ['the server as a whole', ['OPTIONS * HTTP/1.1', 'Host: localhost', 'Connection: close'], '404 Not Found', 'route.not_found', '*'],
    [
      'a method that no path has',
      ['PROPFIND /healthz HTTP/1.1', 'Host: localhost', 'Connection: close'],
      '405 Method Not Allowed',
      'route.method_not_allowed',
      '/healthz',
    ],
    [
      'a % that begins no escape',
      ['GET /shield/%zz HTTP/1.1', 'Host: localhost', 'Connection: close'],
      '400 Bad Request',
      'request.malformed',
      '/shield/%zz',
    ],
  ] as const)('%s', async (_what, lines, statusLine, errorKey, instance) => {
    const { head, body } = await answerTo(...lines);
    expect(head).toContain(`HTTP/1.1 ${statusLine}`);
    expect(head).toMatch(/^content-type: application\/problem\+json; charset=utf-8\r?$/im);
    expect(head).toMatch(/^x-content-type-options: nosniff\r?$/im);
    expect(head).toMatch(/^content-security-policy: default-src 'none'; sandbox\r?$/im);
    expect(body).toMatchObject({ status: Number(statusLine.slice(0, 3)), errorKey, instance });
    expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});

describe('the words of a refusal', () => {
  test.each([
    ['GET /healthz HTTP/1.1', 'The request has 0 Host headers; HTTP/1.1 needs exactly one'],
    [
      'GET /a%ffb HTTP/1.1\r\nHost: localhost',
      '/a%ffb is not a path: each % must begin an escape such as %2F, and the escapes must be UTF-8',
    ],
    ['GET / HTTP/1.1\r\nHost: localhost\r\nExpect: tea', 'Expect: tea cannot be met; allowed: 100-continue'],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a', 'There are no tunnels here, to a:1 or elsewhere: CONNECT is not answered'],
  ])('to %j name the value and what is allowed', async (lines, detail) => {
    expect((await answerTo(lines, 'Connection: close')).body.detail).toBe(detail);
  });

  test.each([
    [300, 'x'],
    [300, '7'],
    [12_000, 'x'],
  ])('to a zone of %i characters are the usual ones', async (length, character) => {
    const { status, body } = await search(app, lastHour(), {}, character.repeat(length));
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'shieldZoneId', message: `"${character.repeat(80)}…" is not a whole number -2147483648..2147483647` }],
    ]);
  });
});

describe('a client without Host', () => {
  test('is answered where it speaks HTTP/1.0, by those with a key', async () => {
    await app.stop();
    app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*` } });
    expect((await answerTo('GET /readyz HTTP/1.0')).head).toContain(' 200 OK');
  });
});

describe('a client that waits for 100 Continue', () => {
  const WAITS = ['Host: localhost', 'Expect: 100-continue', 'Connection: close'];

  test.each([
    ['is too long', [SEARCH, ...WAITS, JSON_TYPE, 'Content-Length: 1048577'], '413 Payload Too Large', 'body.too_large'],
    ['has the wrong type', [SEARCH, ...WAITS, 'Content-Type: text/csv', 'Content-Length: 5'], '415 Unsupported', 'body.unsupported_type'],
    ['nobody would get an answer to', [SEARCH, ...WAITS, JSON_TYPE, 'Accept: image/png', 'Content-Length: 5'], '406 Not', 'accept.none'],
    ['has nowhere to go', ['POST /nothing HTTP/1.1', ...WAITS, JSON_TYPE, 'Content-Length: 5'], '404 Not Found', 'route.not_found'],
    [
      'its path does not take',
      ['POST /healthz HTTP/1.1', ...WAITS, JSON_TYPE, 'Content-Length: 5'],
      '405 Method',
      'route.method_not_allowed',
    ],
    [
      'is another kind of upload',
      ['POST /ingest/events?a=b HTTP/1.1', ...WAITS, 'Content-Length: 5'],
      '400 Bad Request',
      'request.invalid',
    ],
  ])('is not told to go on where the body %s', async (_what, lines, statusLine, errorKey) => {
    const { head, body } = await answerTo(...lines);
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${statusLine}`));
    expect(body.errorKey).toBe(errorKey);
  });

  test('is not told to go on without a key', async () => {
    await app.stop();
    app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*` } });
    const { head, body } = await answerTo(SEARCH, ...WAITS, JSON_TYPE, 'Content-Length: 5');
    expect(head).toMatch(/^HTTP\/1\.1 401/);
    expect(body.errorKey).toBe('access.key_missing');
  });

  test.each([
    [SEARCH, lastHour(), '200 OK'],
    ['POST /ingest/events HTTP/1.1', '', '202 Accepted'],
    ['POST /ingest/dead-letters/replay HTTP/1.1', '{}', '200 OK'],
  ])('is told so where its body will be read: %s', async (requestLine, body, statusLine) => {
    const socket = await openConnection(app);
    socket.write(`${[requestLine, ...WAITS, JSON_TYPE, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n`);
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    socket.write(body);
    let rest = String(first).slice('HTTP/1.1 100 Continue\r\n\r\n'.length);
    for await (const chunk of socket) rest += String(chunk);
    expect(rest).toMatch(new RegExp(`^HTTP/1\\.1 ${statusLine}`));
  });
});

describe('a tunnel that is refused', () => {
  test('may break at any moment without harm', async () => {
    const socket = new PassThrough();
    refuseTunnel({ url: 'a:1' } as IncomingMessage, socket);
    socket.destroy(new Error('reset'));
    await eventually('the socket is closed', () => socket.closed);
  });
});

test('bytes that are no request, while an answer is under way, break it off and put nothing into it', async () => {
  const socket = await openConnection(app);
  socket.write('GET /shield/event-logs/7/tail HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [begun] = await once(socket, 'data');
  expect(String(begun)).toContain('HTTP/1.1 200 OK');
  let rest = '';
  socket.on('data', (chunk) => {
    rest += String(chunk);
  });
  // A reset is as good an end as any.
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('hello\r\n\r\n');
  await closed;
  expect(rest).not.toContain('HTTP/1.1');
});
