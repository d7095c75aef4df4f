import type { FastifyInstance } from 'fastify';
import { isLoopbackHost } from '../config/loopback.ts';
import { servedDocument } from '../openapi/openapi-served-document.ts';
import { docsRoutes } from './docs.ts';

export interface OpenapiRoutesOptions {
  /** Unix ms UTC. */
  readonly now: () => number;
  /** Whether access keys are configured. */
  readonly hasKeys: boolean;
  /** Where the program listens. */
  readonly host: string;
}

/** `/openapi.json`, for programs, and the page at `/docs` that shows it to people. */
export async function openapiRoutes(app: FastifyInstance, { now, hasKeys, host }: OpenapiRoutesOptions): Promise<void> {
  const describe = servedDocument({ hasKeys, onLoopback: isLoopbackHost(host) });
  const currentDocument = () => describe(now());
  app.get('/openapi.json', { config: { needsKey: 'never' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(currentDocument())),
  );
  await app.register(docsRoutes, { currentDocument });
}
