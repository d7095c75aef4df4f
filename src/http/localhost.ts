import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { answerBrokenConnection } from './connection-answers.ts';
import { createHttpServer, type HttpServerOptions } from './http-server.ts';

/** For answers under way when the program stops; what takes longer is cut off. */
const FINISH_MS = 4_000;

async function addressesOfLocalhost(): Promise<readonly string[]> {
  return (await lookup('localhost', { all: true })).map(({ address }) => address);
}

async function finish(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await Promise.race([closed, pause(FINISH_MS, undefined, { ref: false })]);
  server.closeAllConnections();
}

export interface EveryLocalhostOptions {
  /** Where the program listens. */
  readonly host: string;
  /** Of each of the addresses. */
  readonly connections: HttpServerOptions;
  readonly addressesOf?: () => Promise<readonly string[]>;
}

/**
 * Where the program is to listen on `localhost`, listens on all of its addresses (127.0.0.1 and ::1) and not only on the first. Fastify
 * does that for servers that it makes itself; ours come from `createHttpServer`. An address that cannot be listened on is logged, the
 * others are served.
 */
export const everyLocalhost = fastifyPlugin(async (app: FastifyInstance, options: EveryLocalhostOptions) => {
  const { host, connections, addressesOf = addressesOfLocalhost } = options;
  if (host.toLowerCase() !== 'localhost') return;
  const servers: Server[] = [];

  async function listenOn(address: string, port: number): Promise<void> {
    const server = createHttpServer((request, response) => app.routing(request, response), connections);
    server.on('clientError', answerBrokenConnection);
    server.listen({ host: address, port });
    try {
      await once(server, 'listening');
      servers.push(server);
    } catch (error) {
      app.log.warn({ err: error }, `not listening on ${address}, which is localhost too`);
    }
  }

  app.addHook('onListen', async () => {
    const { address: main, port } = app.server.address() as AddressInfo;
    const others = new Set(await addressesOf());
    others.delete(main);
    for (const address of others) await listenOn(address, port);
  });
  app.addHook('preClose', async () => {
    await Promise.all(servers.map(finish));
  });
});
