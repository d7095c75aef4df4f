import type { FastifyInstance } from 'fastify';
import { DoorIntake, type DoorOptions } from './door.ts';
import { elasticsearchRoutes } from './elasticsearch.ts';
import { firehoseRoutes } from './firehose.ts';
import { otlpRoutes } from './otlp.ts';
import { splunkHecRoutes } from './splunk-hec.ts';

/** The doors of other products' shippers, each with an error handler of its own. */
export async function doorRoutes(app: FastifyInstance, options: DoorOptions): Promise<void> {
  const intake = new DoorIntake(options);
  await app.register(splunkHecRoutes, { ...options, intake });
  await app.register(firehoseRoutes, { ...options, intake });
  await app.register(elasticsearchRoutes, { ...options, intake });
  await app.register(otlpRoutes, { ...options, intake });
}
