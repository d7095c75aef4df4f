import type { FastifyInstance } from 'fastify';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { Metrics } from '../http/metrics.ts';

interface HealthRoutesOptions {
  readonly store: EventStore;
  readonly kafka: KafkaSource | null;
  readonly isStopping: () => boolean;
}

async function reasonsNotReady({ store, kafka, isStopping }: HealthRoutesOptions): Promise<string[]> {
  if (isStopping()) return ['the program is stopping'];
  const ofStore = await store.reasonsNotReady();
  const ofKafka = kafka?.reasonsNotReady() ?? [];
  return [...ofStore.map((reason) => `store: ${reason}`), ...ofKafka.map((reason) => `kafka: ${reason}`)];
}

/** `/healthz`: the process answers. `/readyz`: the program also serves and takes in events; otherwise 503 with the reasons. */
export async function healthRoutes(app: FastifyInstance, options: HealthRoutesOptions): Promise<void> {
  const config = { needsKey: 'never', whileStopping: true } as const;
  app.get('/healthz', { config }, async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'alive' }));
  app.get('/readyz', { config }, async (_request, reply) => {
    const reasons = await reasonsNotReady(options);
    const ready = reasons.length === 0;
    return reply
      .code(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: ready ? 'ready' : 'not ready', reasons });
  });
}

/** `/metrics` in the text format of Prometheus. */
export async function metricsRoutes(app: FastifyInstance, { metrics }: { readonly metrics: Metrics }): Promise<void> {
  app.get('/metrics', { config: { needsKey: 'unless-loopback', needsScope: 'metrics' } }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
