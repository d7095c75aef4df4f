import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpClient } from '../../../src/sinks/http-exchange.ts';

/** An answer that never ends, as far as the client takes it. */
function endless(): Readable {
  return Readable.from(
    (function* zeros() {
      for (;;) yield Buffer.alloc(64 * 1024);
    })(),
  );
}

const encoded = (encoding: string, write: (response: ServerResponse) => Promise<void> | boolean) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-encoding': encoding });
  return write(response);
};

const ANSWERS = [
  ['is too long', 'oversized', encoded('identity', (response) => pipeline(endless(), response))],
  ['is too long, packed with gzip', 'oversized', encoded('gzip', (response) => pipeline(endless(), createGzip(), response))],
  ['is too long, packed with zstd', 'oversized', encoded('zstd', (response) => pipeline(endless(), createZstdCompress(), response))],
  ['is no gzip although it says so', 'unavailable', encoded('gzip', (response) => response.write('no gzip'))],
] as const;

test.each(ANSWERS)('an answer that %s ends the exchange and the connection', async (_what, code, answer) => {
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => {
    // The client breaks the answer off.
    Promise.resolve(answer(response)).catch(() => {});
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createHttpClient(null);
  onTestFinished(async () => {
    client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const signal = new AbortController().signal;
  const limits = { silenceMs: 3_600_000, maxAnswerBytes: 1024 * 1024 };
  await expect(client.exchange({ method: 'GET', url, headers: {}, signal, ...limits })).rejects.toMatchObject({ code });
  await expect.poll(() => sockets.size).toBe(0);
});

/** A TCP server that does as told with each connection once something was sent over it. Resolves with its URL and open connections. */
async function tcpServer(react: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    // The client breaks the answer off.
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => react(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), sockets };
}

test('an answer whose headers come byte by byte for ever is waited for as long as for none', async () => {
  const { url, sockets } = await tcpServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nServer: ');
    const drip = setInterval(() => socket.write('a'), 5);
    socket.on('close', () => clearInterval(drip));
  });
  const client = createHttpClient(null);
  onTestFinished(() => client.close());
  const request = { url, headers: {}, signal: new AbortController().signal, silenceMs: 200, maxAnswerBytes: 1024 };
  const overdue = { code: 'unavailable', message: expect.stringContaining('its answer did not begin within 0.2 s') };
  for (const sent of [{ method: 'GET' }, { method: 'POST', body: Buffer.alloc(100_000) }] as const) {
    await expect(client.exchange({ ...request, ...sent })).rejects.toMatchObject(overdue);
    await expect(client.open({ ...request, ...sent })).rejects.toMatchObject(overdue);
  }
  await expect.poll(() => sockets.size).toBe(0);
});

test('an answer that goes on in another protocol is a refusal, and ends the connection', async () => {
  const { url, sockets } = await tcpServer((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  });
  const client = createHttpClient(null);
  onTestFinished(() => client.close());
  const request = { method: 'POST', url, headers: {}, body: Buffer.from('x'), signal: new AbortController().signal } as const;
  const refusal = { code: 'refused', message: `POST ${url.href} answered 101, and went on in a protocol that was not asked for` };
  await expect(client.exchange({ ...request, silenceMs: 60_000, maxAnswerBytes: 1024 })).rejects.toMatchObject(refusal);
  await expect(client.open({ ...request, silenceMs: 60_000 })).rejects.toMatchObject(refusal);
  await expect.poll(() => sockets.size).toBe(0);
});
