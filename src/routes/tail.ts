import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../auth/access.ts';
import { requestedZones, type ZonePath } from '../auth/requested-zones.ts';
import { expiredCursor } from '../feed/feed-reading.ts';
import { negotiateAnswer } from '../http/content-negotiation.ts';
import { RequestProblem } from '../http/problem.ts';
import { readyFrame } from '../tail/tail-frames.ts';
import { registerTailMetrics, TailHub } from '../tail/tail-hub.ts';
import { TAIL_LIMITS, type TailLimits } from '../tail/tail-limits.ts';
import { readTailRequest } from '../tail/tail-request.ts';
import { TailWatcher } from '../tail/tail-watcher.ts';
import type { RouteServices } from './route-services.ts';

const STREAM_TYPE = 'text/event-stream';

export interface TailRoutesOptions extends Pick<RouteServices, 'store' | 'turns' | 'metrics'> {
  readonly limits?: Partial<TailLimits>;
}

/** From here on this program writes the response. It ends when the client or the program does. */
function openStream(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack();
  // The heartbeats find a client that does not read.
  reply.raw.setTimeout(0);
  reply.raw.writeHead(200, {
    'content-type': STREAM_TYPE,
    'cache-control': 'no-store',
    // nginx would hold events back until it has some kilobytes of them.
    'x-accel-buffering': 'no',
  });
  return reply.raw;
}

/** `GET /shield/event-logs/{shieldZoneId}/tail`: new events as server-sent events. The zones are one, a list, or `all`, as for the feed. */
export async function tailRoutes(app: FastifyInstance, { store, turns, metrics, limits = {} }: TailRoutesOptions): Promise<void> {
  const { heartbeatMs, maxWatchers, maxBufferedBytes, workPerSecond } = { ...TAIL_LIMITS, ...limits };
  const hub = new TailHub({ store, logger: app.log, turns, heartbeatMs, workPerSecond });
  registerTailMetrics(metrics.registry, hub);
  app.addHook('preClose', async () => hub.stop());

  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requestedZones(request.params.shieldZoneId, callerOf(request));
    negotiateAnswer(request.headers.accept, [STREAM_TYPE]);
  };

  app.get<ZonePath>(
    '/shield/event-logs/:shieldZoneId/tail',
    // A HEAD would be a watcher that sees nothing.
    { onRequest: validateHeaders, exposeHeadRoute: false },
    async (request, reply) => {
      const zones = requestedZones(request.params.shieldZoneId, callerOf(request));
      const { matcher, where, position } = await readTailRequest(request.query, request.headers, store);
      if ((await store.positions.afterExpiry(zones, position)) !== undefined) throw await expiredCursor(position, { store, zones });
      if (hub.watcherCount >= maxWatchers) {
        const detail = `There are ${maxWatchers} live tails already, and no more are served; try again when one has ended`;
        throw new RequestProblem('tail.full', detail, { headers: { 'retry-after': '5' } });
      }
      // An unread body would hide that the client has gone.
      request.raw.resume();
      const watcher = new TailWatcher({ zones, matcher, where, position, outlet: openStream(reply), maxBufferedBytes });
      watcher.write([readyFrame(store.positions.encode(position))]);
      hub.add(watcher);
    },
  );
}
