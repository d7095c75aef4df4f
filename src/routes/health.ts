import type { FastifyInstance } from 'fastify';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';
import type { EventStore } from '../../store/event-store.ts';

export interface HealthRoutesOptions {
  readonly store: EventStore;
  readonly kafka: KafkaSource | null;
  readonly isStopping: () => boolean;
}

async function reasonsNotReady({ store, kafka, isStopping }: HealthRoutesOptions): Promise<string[]> {
  if (isStopping()) return ['the program is stopping'];
  const reasons = (await store.problems()).map((problem) => `store: ${problem}`);
  const health = kafka?.health();
  if (health !== undefined && !health.ready) {
    const why = health.reasons.length === 0 ? ['not consuming yet'] : health.reasons;
    reasons.push(...why.map((reason) => `kafka: ${reason}`));
  }
  return reasons;
}

/** `/healthz`: the process answers. `/readyz`: it also serves and takes in what it is set up to; 503 with the reasons otherwise. */
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
