import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';

/** The address cannot be listened on; the message is one line for the person who chose it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process; set PORT to a free one, or to 0 for any',
  EACCES: 'may not be listened on by this user; ports from 1024 on may',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not a host name that can be resolved',
};

/** Listens, logs so, and returns the address that answers, such as `http://127.0.0.1:8080`. Throws ListenError. */
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
