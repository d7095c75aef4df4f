import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** `cut`: half of the answer, then an end as if it were whole. `reset`: half of it, then the connection is reset. */
export type FeedFault =
  | 'cut'
  | 'reset'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

export interface FaultyFeed {
  /** Without a slash at its end. */
  readonly url: string;
  /** Paths with queries, in order. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

async function answerOf(url: string, incoming: IncomingMessage): Promise<{ readonly response: IncomingMessage; readonly body: Buffer }> {
  const request = forward(`${url}${incoming.url}`, { method: incoming.method ?? 'GET', headers: incoming.headers });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { response, body: await buffer(response) };
}

/** Stands before the program and spoils the answers to the first requests, each in its way; the others pass as they are. */
export async function faultyFeed(url: string, faults: readonly FeedFault[]): Promise<FaultyFeed> {
  const requests: string[] = [];
  const left = [...faults];
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    requests.push(incoming.url ?? '');
    const fault = left.shift();
    if (typeof fault === 'object') {
      outgoing.writeHead(fault.status, fault.headers).end(fault.body ?? '');
      return;
    }
    const { response, body } = await answerOf(url, incoming);
    const half = body.subarray(0, Math.floor(body.length / 2));
    const length = fault === 'reset' ? body.length : fault === 'cut' ? half.length : body.length;
    const { 'transfer-encoding': _chunked, ...headers } = response.headers;
    outgoing.writeHead(response.statusCode ?? 502, { ...headers, 'content-length': length });
    if (fault === undefined) outgoing.end(body);
    else if (fault === 'cut') outgoing.end(half);
    else outgoing.write(half, () => incoming.socket.resetAndDestroy());
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
