import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { RequestProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered although the program is stopping. */
    readonly whileStopping?: boolean;
  }
  interface FastifyInstance {
    /** True from the moment `close` is called. */
    isStopping(): boolean;
    /** The requests that are not answered yet, such as `GET /metrics`. */
    underWay(): readonly string[];
  }
}

/** New requests on connections that are still open get 503 once the program is stopping; those under way are finished. */
export const stopping = fastifyPlugin(async (app: FastifyInstance) => {
  let isStopping = false;
  const requests = new Set<FastifyRequest>();
  app.decorate('isStopping', () => isStopping);
  app.decorate('underWay', () => [...requests].map(({ method, routeOptions, url }) => `${method} ${routeOptions.url ?? url}`));
  app.addHook('preClose', async () => {
    isStopping = true;
  });
  app.addHook('onRequest', async (request, reply) => {
    requests.add(request);
    // Also where the client went away.
    reply.raw.once('close', () => requests.delete(request));
    if (!isStopping || request.routeOptions.config?.whileStopping === true) return;
    throw new RequestProblem('program.stopping', 'The program is stopping; try again when it is back', { headers: { 'retry-after': '5' } });
  });
});
