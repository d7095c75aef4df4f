import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { TestCertificate } from './test-certificate.ts';

export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Decompressed. */
  readonly body: string;
}

/**
 * The reaction of the listener to a request. `reset` cuts the connection after the body was read, `cut` in the middle of a 200,
 * `endless` begins a 200 to which something is added for ever, and `silent` never answers.
 */
export type Reaction =
  | 'reset'
  | 'cut'
  | 'endless'
  | 'silent'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer };

function drip(response: ServerResponse): void {
  response.writeHead(200).write('{');
  const more = setInterval(() => response.write(' '), 5);
  response.once('close', () => clearInterval(more));
}

export interface HttpListener {
  readonly url: URL;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

/** A real HTTP server (HTTPS with a certificate) on a free port of loopback, or on `port`, that notes what it gets and reacts as told. */
export async function httpListener(
  react: (request: Received) => Reaction,
  { certificate, port = 0 }: { readonly certificate?: TestCertificate; readonly port?: number } = {},
): Promise<HttpListener> {
  const received: Received[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await buffer(request);
    const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
    const seen = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    received.push(seen);
    const reaction = react(seen);
    if (reaction === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    if (reaction === 'cut') {
      response.writeHead(200, { 'content-length': '100' }).write('ok', () => request.socket.resetAndDestroy());
      return;
    }
    if (reaction === 'silent') return;
    if (reaction === 'endless') {
      drip(response);
      return;
    }
    response.writeHead(reaction.status, reaction.headers).end(reaction.body ?? '');
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // A client may break off its connection.
    handle(request, response).catch(() => response.destroy());
  };
  const server =
    certificate === undefined ? createServer(onRequest) : createTlsServer({ key: certificate.key, cert: certificate.cert }, onRequest);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: new URL(`${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${taken}/`),
    received,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
