import { once } from 'node:events';
import { connect } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpServer } from '../../../src/http/http-server.ts';
import { everyLocalhost } from '../../../src/http/listen.ts';
import { eventually } from '../../fixtures/eventually.ts';

const connections = { maxConnections: 100, onRefused: () => undefined };

let app: FastifyInstance;

afterEach(() => app.close());

async function start(host: string, addresses: readonly string[]): Promise<string> {
  app = fastify({ serverFactory: (handler) => createHttpServer(handler, connections) });
  await app.register(everyLocalhost, { host, connections, addressesOf: async () => addresses });
  app.get('/', async () => 'here');
  return app.listen({ host: '127.0.0.1', port: 0 });
}

/** Whether something answers at this address of 127.0.0.0/8, all of which is this machine. */
async function answers(url: string, address: string): Promise<boolean> {
  try {
    return (await fetch(url.replace('127.0.0.1', address))).ok;
  } catch {
    return false;
  }
}

describe('HOST=localhost', () => {
  test('is listened on at all its addresses, until the program stops', async () => {
    const url = await start('localhost', ['127.0.0.1', '127.0.0.2', '127.0.0.3']);
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) await eventually(address, () => answers(url, address));
    await app.close();
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) expect(await answers(url, address)).toBe(false);
  });

  test('answers in the same way at all of them', async () => {
    const url = await start('localhost', ['127.0.0.1', '127.0.0.2']);
    await eventually('the second address', () => answers(url, '127.0.0.2'));
    for (const address of ['127.0.0.1', '127.0.0.2']) {
      const socket = connect(Number(new URL(url).port), address);
      await once(socket, 'connect');
      socket.write('CONNECT elsewhere:1 HTTP/1.1\r\nHost: elsewhere\r\n\r\n');
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      expect(text).toContain('HTTP/1.1 405');
    }
  });

  test('is listened on where one of its addresses is none of this machine', async () => {
    const url = await start('localhost', ['192.0.2.1', '127.0.0.1', '127.0.0.2']);
    await eventually('the address after it', () => answers(url, '127.0.0.2'));
  });

  test('is not meant by any other host', async () => {
    const url = await start('127.0.0.1', ['127.0.0.2']);
    expect([await answers(url, '127.0.0.1'), await answers(url, '127.0.0.2')]).toEqual([true, false]);
  });
});
