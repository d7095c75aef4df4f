import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EventStore } from '../../store/event-store.ts';
import { callerOf } from '../auth/access.ts';
import { cursorText } from '../feed/feed-cursor.ts';
import { missedEvents } from '../feed/feed-reading.ts';
import { feedZones } from '../feed/feed-zones.ts';
import { negotiateAnswer } from '../http/content-negotiation.ts';
import type { Metrics } from '../http/metrics.ts';
import { RequestProblem } from '../http/problem.ts';
import { readyFrame } from '../tail/tail-frames.ts';
import { TailHub } from '../tail/tail-hub.ts';
import { registerTailMetrics } from '../tail/tail-metrics.ts';
import { readTailRequest } from '../tail/tail-request.ts';
import { TailWatcher } from '../tail/tail-watcher.ts';
import { TAIL_WORK } from '../tail/tail-work.ts';

const STREAM_TYPE = 'text/event-stream';

export interface TailLimits {
  /** How often a client gets a sign of life. */
  readonly heartbeatMs: number;
  /** More clients than this are sent away. */
  readonly maxWatchers: number;
  /** What is kept at most for one client that does not read. */
  readonly maxBufferedBytes: number;
  /** What matching may cost for all clients together, in characters that are looked through in a second. */
  readonly workPerSecond: number;
}

export const TAIL_LIMITS: TailLimits = {
  heartbeatMs: 15_000,
  maxWatchers: 64,
  maxBufferedBytes: 1024 * 1024,
  workPerSecond: TAIL_WORK.perSecond,
};

interface ZonePath {
  readonly Params: { readonly shieldZoneId: string };
}

export interface TailRoutesOptions {
  readonly store: EventStore;
  readonly metrics: Metrics;
  readonly limits?: Partial<TailLimits>;
}

/** From here on the response is ours: it ends when the client or the program does. */
function openStream(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': STREAM_TYPE,
    'cache-control': 'no-store',
    // nginx would hold events back until it has some kilobytes of them.
    'x-accel-buffering': 'no',
  });
  return reply.raw;
}

/**
 * `GET /shield/event-logs/{shieldZoneId}/tail`: events as they come, as server-sent events. The zones are those of a feed: one, a list, or
 * `all`.
 */
export async function tailRoutes(app: FastifyInstance, { store, metrics, limits = {} }: TailRoutesOptions): Promise<void> {
  const { heartbeatMs, maxWatchers, maxBufferedBytes, workPerSecond } = { ...TAIL_LIMITS, ...limits };
  const hub = new TailHub({ store, logger: app.log, heartbeatMs, workPerSecond });
  registerTailMetrics(metrics.registry, hub);
  app.addHook('preClose', async () => hub.stop());

  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    feedZones(request.params.shieldZoneId, callerOf(request));
    negotiateAnswer(request.headers.accept, [STREAM_TYPE]);
  };

  app.get<ZonePath>(
    '/shield/event-logs/:shieldZoneId/tail',
    // A HEAD would be a watcher that sees nothing.
    { onRequest: validateHeaders, exposeHeadRoute: false },
    async (request, reply) => {
      const zones = feedZones(request.params.shieldZoneId, callerOf(request));
      const { matcher, position } = readTailRequest(request.query, request.headers, store);
      if (store.expiredWatermark(zones, position.afterRuns) > position.sequence) throw missedEvents(position, { store });
      if (hub.watcherCount >= maxWatchers) {
        const detail = `There are ${maxWatchers} live tails already, and no more are served; try again when one has ended`;
        throw new RequestProblem('tail.full', detail, { headers: { 'retry-after': '5' } });
      }
      // A body, which nobody reads, would hide that the client has gone.
      request.raw.resume();
      const watcher = new TailWatcher({ zones, matcher, position, outlet: openStream(reply), maxBufferedBytes });
      watcher.write([readyFrame(cursorText(position, store))]);
      hub.add(watcher);
    },
  );
}
