import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../http/metric-registry.ts';

/** `/metrics` in the text format of Prometheus. */
export async function metricsRoutes(app: FastifyInstance, { metrics }: { readonly metrics: Metrics }): Promise<void> {
  app.get('/metrics', { config: { needsScope: 'metrics' } }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
