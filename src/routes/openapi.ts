import type { FastifyInstance } from 'fastify';
import { OPENAPI_DOCUMENT } from '../openapi-document.ts';
import { type DocsRoutesOptions, docsRoutes } from './docs.ts';

/** `/openapi.json`, for programs, and the page at `/docs` that shows it to people. */
export async function openapiRoutes(app: FastifyInstance, { now = Date.now }: Partial<DocsRoutesOptions>): Promise<void> {
  const text = JSON.stringify(OPENAPI_DOCUMENT);
  app.get('/openapi.json', { config: { needsKey: 'never' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(text),
  );
  await app.register(docsRoutes, { now });
}
