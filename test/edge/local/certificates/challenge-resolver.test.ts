import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { httpChallengeResolver } from '../../../../edge/local/certificates/http-challenge.ts';

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
});

async function listen(listener: RequestListener): Promise<string> {
  const made = createServer(listener);
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

const PATH = '/.well-known/acme-challenge/abc';

describe('the web server that every hostname is looked up at', () => {
  test('is asked for the file with the hostname as its Host', async () => {
    const url = await listen((request, response) => response.end(`${request.method} ${request.headers.host} ${request.url}`));
    const resolve = httpChallengeResolver({ url, deadlineMs: 5_000 });
    expect(await resolve('www.example.com', PATH)).toEqual({ kind: 'content', content: `GET www.example.com ${PATH}` });
  });

  test.each<[string, RequestListener, string]>([
    ['a status other than 200', (_, response) => response.writeHead(404).end('x'), 'it was answered with the status 404'],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'it was answered with the status 302',
    ],
    [
      'another protocol',
      ({ socket }) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
      'it was answered with the status 101',
    ],
    ['more than a kilobyte', (_, response) => response.end('x'.repeat(1_025)), 'the file has more than 1024 bytes'],
    [
      'half an answer',
      (_, response) => void response.writeHead(200, { 'content-length': 9 }).write('x', () => response.destroy()),
      'the answer broke off',
    ],
    ['a closed connection', (request) => request.destroy(), 'there was no answer'],
  ])('has nothing when it answers with %s', async (_, listener, reason) => {
    const resolve = httpChallengeResolver({ url: await listen(listener), deadlineMs: 5_000 });
    expect(await resolve('www.example.com', PATH)).toEqual({ kind: 'nothing', reason });
  });

  test.each<[string, RequestListener]>([
    ['never answers', () => {}],
    ['never ends its answer', (_, response) => void response.write('x')],
  ])('has nothing when it %s within the deadline', async (_, listener) => {
    const resolve = httpChallengeResolver({ url: await listen(listener), deadlineMs: 100 });
    const answer = await resolve('www.example.com', PATH);
    expect(answer.kind).toBe('nothing');
  });

  test.each(['https://127.0.0.1', 'file:///etc/passwd', '127.0.0.1:80', ''])('cannot be at %j', (url) => {
    expect(() => httpChallengeResolver({ url, deadlineMs: 1 })).toThrow(/allowed: an http:\/\/ address/);
  });
});
