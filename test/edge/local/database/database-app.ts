import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type Config, createClient } from '@libsql/client';
import fastify from 'fastify';
import { openTokenStore, type TokenStore } from '../../../../edge/local/database/access-tokens.ts';
import type { DatabaseLimits } from '../../../../edge/local/database/database-limits.ts';
import { makeDatabaseResource } from '../../../../edge/local/database/database-resource.ts';
import { startProxy } from '../../proxy/proxy-app.ts';

export interface DatabaseApp {
  readonly url: string;
  readonly dataDir: string;
  /** Has a connection of its own, like `shieldlog tokens`. */
  readonly tokens: TokenStore;
  readonly full: string;
  readonly read: string;
  client(token: string, config?: Partial<Config>): Client;
  /** Returns the answer of `POST /v2/pipeline`. A null token is not sent. */
  pipeline(token: string | null, body: unknown): Promise<PipelineAnswer>;
  /** One statement in a stream of its own, closed at once. */
  run(token: string, sql: string, args?: readonly unknown[]): Promise<PipelineAnswer>;
  stop(): Promise<void>;
}

export interface PipelineAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's JSON, looked into by each test.
  readonly body: any;
}

/** The database on a Fastify of its own, on loopback, in a new folder: by itself, or behind the proxy that callers meet. */
export async function startDatabaseApp(
  limits: Partial<DatabaseLimits> = {},
  { isProxied = false }: { readonly isProxied?: boolean } = {},
): Promise<DatabaseApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-database-'));
  const app = fastify();
  const logger = { info: () => {}, warn: () => {}, error: (facts: object) => console.error(facts) };
  makeDatabaseResource(limits).routes(app, { dataDir, now: Date.now, logger });
  const ownUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const proxy = isProxied ? await startProxy({ target: { url: ownUrl, passes: ['authorization'] } }) : null;
  const url = proxy?.url ?? ownUrl;
  const tokens = openTokenStore(dataDir, Date.now);
  const [full, read] = tokens.generate().map(({ token }) => token) as [string, string];
  const clients: Client[] = [];

  async function pipeline(token: string | null, body: unknown): Promise<PipelineAnswer> {
    const response = await fetch(`${url}/v2/pipeline`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const { status, headers } = response;
    return { status, contentType: headers.get('content-type'), retryAfter: headers.get('retry-after'), body: await response.json() };
  }

  return {
    url,
    dataDir,
    tokens,
    full,
    read,
    client(token, config) {
      const client = createClient({ url, authToken: token, ...config });
      clients.push(client);
      return client;
    },
    pipeline,
    run: (token, sql, args = []) => pipeline(token, { requests: [{ type: 'execute', stmt: { sql, args } }, { type: 'close' }] }),
    async stop() {
      for (const client of clients) client.close();
      tokens.close();
      await proxy?.[Symbol.asyncDispose]();
      await app.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
