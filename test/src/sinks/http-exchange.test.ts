import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
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
