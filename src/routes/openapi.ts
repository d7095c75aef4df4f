import type { FastifyInstance } from 'fastify';
import { OPENAPI_DOCUMENT } from '../openapi-document.ts';

/** `/openapi.json`, for programs and for the page at `/docs`. */
export async function openapiRoutes(app: FastifyInstance): Promise<void> {
  const text = JSON.stringify(OPENAPI_DOCUMENT);
  app.get('/openapi.json', { config: { needsKey: 'never' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(text),
  );
}
