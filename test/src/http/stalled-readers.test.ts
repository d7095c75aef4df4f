import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { cutOffIdle } from '../../../edge/leaving-callers.ts';
import { createHttpServer } from '../../../src/http/http-server.ts';

const MIB = 1024 * 1024;
/** More than the buffers of both ends of a connection take. */
const LARGE = Buffer.alloc(64 * MIB);
const IDLE_MS = 200;

/** A server whose readers may take nothing for so long, and a connection that has asked it for something. */
async function askedConnection(handler: RequestListener) {
  const server = createHttpServer(handler, { maxConnections: 10, onRefused: () => undefined, idleMs: IDLE_MS });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return { socket, closed };
}

test.each<[string, RequestListener]>([
  ['in one write', (_request, response) => void response.end(LARGE)],
  [
    'in many',
    (_request, response) => {
      for (let sent = 0; sent < LARGE.length; sent += MIB) response.write(LARGE.subarray(sent, sent + MIB));
    },
  ],
  [
    'whose route says so twice',
    (_request, response) => {
      cutOffIdle(response, 600_000);
      cutOffIdle(response, IDLE_MS);
      response.end(LARGE);
    },
  ],
])('an answer %s is cut off where its reader takes nothing, whatever route it is of', async (_name, handler) => {
  const { promise: gone, resolve } = Promise.withResolvers<boolean>();
  const { socket, closed } = await askedConnection((request, response) => {
    response.once('close', () => resolve(response.writableFinished));
    handler(request, response);
  });
  await once(socket, 'readable');
  expect(await gone).toBe(false);
  socket.resume();
  await closed;
  expect(socket.bytesRead).toBeLessThan(LARGE.length);
});

test('an answer that begins late is no reason to cut anybody off, and neither is a pause of the program', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let timeouts = 0;
  const { socket } = await askedConnection((_request, response) => {
    response.socket?.on('timeout', () => {
      timeouts += 1;
      if (timeouts === 2) response.write('late');
      if (timeouts === 4) begin();
    });
    void begun.then(() => response.end('r'));
  });
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await begun;
  await expect.poll(() => text).toContain('late\r\n1\r\nr\r\n0\r\n');
});

test('a route may give its readers longer than others', async () => {
  const { promise: waited, resolve } = Promise.withResolvers<void>();
  const { socket } = await askedConnection((_request, response) => {
    let timeouts = 0;
    // The longer time passes where nothing happens; the caller is there until then.
    cutOffIdle(response, 3 * IDLE_MS, () => {
      timeouts += 1;
      if (timeouts === 1) resolve();
    });
    response.end(LARGE);
  });
  await once(socket, 'readable');
  await waited;
  expect(socket.destroyed).toBe(false);
});
