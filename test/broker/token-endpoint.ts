import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface TokenEndpoint {
  readonly url: string;
  /** The requests that it got. */
  readonly asked: readonly { readonly authorization: string | undefined; readonly form: Readonly<Record<string, string>> }[];
}

/** An OAuth token endpoint on loopback; it is closed with the test. */
export async function tokenEndpoint(answer: (response: ServerResponse, asked: number) => void): Promise<TokenEndpoint> {
  const asked: { authorization: string | undefined; form: Record<string, string> }[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push({ authorization: request.headers.authorization, form: Object.fromEntries(new URLSearchParams(await text(request))) });
    answer(response, asked.length);
  };
  const server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/token`, asked };
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
