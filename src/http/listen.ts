import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../config/config.ts';
import { answerBrokenConnection, createHttpServer, type HttpServerOptions } from './http-server.ts';

/** The address cannot be listened on. The message is one line for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process; set PORT to a free one, or to 0 for any',
  EACCES: 'may not be listened on by this user; ports from 1024 on may',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not a host name that can be resolved',
};

/** Listens, logs the address and returns it, such as `http://127.0.0.1:8080`. Throws ListenError. */
export async function listen(app: FastifyInstance, { host, port }: Pick<Config, 'host' | 'port'>): Promise<string> {
  try {
    await app.listen({ host: host.replace(/^\[(.*)\]$/, '$1'), port, listenTextResolver: (address) => `listening on ${address}` });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    throw new ListenError(`${shown}:${port} ${REASONS[code ?? ''] ?? `cannot be listened on: ${message}`}`, { cause: error });
  }
  const [bound] = app.addresses();
  if (bound === undefined || typeof bound === 'string') throw new ListenError(`${host}:${port} is not being listened on`);
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

/** Answers under way may take so long when the program stops, in milliseconds. */
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

interface EveryLocalhostOptions {
  /** Where the program listens. */
  readonly host: string;
  /** The limits of each address. */
  readonly connections: HttpServerOptions;
  readonly addressesOf?: () => Promise<readonly string[]>;
}

/**
 * Listens on all addresses of `localhost` (127.0.0.1 and ::1) where that is the host. Fastify does so only for servers that it makes
 * itself. An address that cannot be listened on is logged, and the others are served.
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
