import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../auth/access.ts';
import { feedLines } from '../feed/feed-lines.ts';
import { registerFeedMetrics } from '../feed/feed-metrics.ts';
import { type FeedPlace, FeedPlaces } from '../feed/feed-places.ts';
import { FEED_TYPES, feedQuery } from '../feed/feed-query.ts';
import { awaitPage, type FeedReading, type FeedStore, missedEvents } from '../feed/feed-reading.ts';
import { feedZones } from '../feed/feed-zones.ts';
import { FormatThreads } from '../feed/format-threads.ts';
import { PageMemory } from '../feed/page-memory.ts';
import { encodeStream, negotiateEncoding } from '../http/content-encoding.ts';
import { negotiateAnswer } from '../http/content-negotiation.ts';
import { ClientHungUp, hangUpSignal } from '../http/hang-up.ts';
import type { Metrics } from '../http/metrics.ts';
import type { RequestProblem } from '../http/problem.ts';

interface ZonePath {
  readonly Params: { readonly shieldZoneId: string };
}

export interface FeedRoutesOptions {
  readonly store: FeedStore;
  readonly metrics: Pick<Metrics, 'feedEvents' | 'registry'>;
  /** How long a page may take in the store. */
  readonly queryDeadlineMs: number;
  /** How long a reader may take no byte of what is ready for it. */
  readonly idleMs?: number;
  /** What pages of all readers may take together, in bytes. */
  readonly pageMemoryBytes?: number;
}

export const FEED_IDLE_MS = 60_000;

const PAGE_MEMORY_BYTES = 32 * 1024 * 1024;

/** Takes a place until the response is through, which it is also where its client keeps it and reads nothing. */
function takePlace(places: FeedPlaces, { raw, log }: FastifyReply, quietMs: number): FeedPlace {
  const place = places.take();
  raw.once('close', place.leave);
  if (raw.closed) place.leave();
  raw.setTimeout(quietMs, () => {
    log.warn({ quietMs }, 'a reader of the feed that read nothing was cut off');
    raw.destroy();
  });
  return place;
}

/** `GET /shield/event-logs/{shieldZoneId}/feed`: events in the order in which they were taken in. */
export async function feedRoutes(app: FastifyInstance, options: FeedRoutesOptions): Promise<void> {
  const { store, metrics, queryDeadlineMs, idleMs = FEED_IDLE_MS } = options;
  const places = new FeedPlaces();
  registerFeedMetrics(metrics.registry, places);
  const memory = new PageMemory(options.pageMemoryBytes ?? PAGE_MEMORY_BYTES);
  const threads = new FormatThreads();
  app.addHook('onClose', () => threads.close());
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());

  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    feedZones(request.params.shieldZoneId, callerOf(request));
    negotiateAnswer(request.headers.accept, FEED_TYPES);
    negotiateEncoding(request.headers['accept-encoding']);
  };

  // A HEAD would wait, and read a page, for nobody.
  app.get<ZonePath>(
    '/shield/event-logs/:shieldZoneId/feed',
    { onRequest: validateHeaders, exposeHeadRoute: false },
    async (request, reply) => {
      const zones = feedZones(request.params.shieldZoneId, callerOf(request));
      const { position, limit, format, waitMs } = feedQuery(request.query, store);
      // What passes until bytes are ready is no fault of the reader.
      const place = takePlace(places, reply, waitMs + queryDeadlineMs + idleMs);
      const hungUp = hangUpSignal(reply.raw);
      const reading: FeedReading = { store, zones, deadlineMs: queryDeadlineMs, hungUp, memory };
      const firstPage = await awaitPage(position, limit, { waitMs, stopping: stopping.signal, onWait: place.wait }, reading);
      place.read();
      if (firstPage === null) throw missedEvents(position, reading);
      const onEvents = (count: number): void => metrics.feedEvents.inc({ format }, count);
      const onShortened = (problem: RequestProblem): void =>
        request.log.warn(
          { err: problem },
          'an answer of the feed ends early, because its next page could not be read; its reader goes on from the cursor',
        );
      const lines = Readable.from(feedLines({ reading, position, limit, format, threads, firstPage, onEvents, onShortened }));
      lines.once('error', (error) => {
        if (!(error instanceof ClientHungUp))
          request.log.error({ err: error }, 'the feed broke off; its reader goes on from the last cursor');
      });
      const encoding = negotiateEncoding(request.headers['accept-encoding']);
      const type = negotiateAnswer(request.headers.accept, FEED_TYPES);
      // What all means changes with the key: a reader who goes on can see that zones have come whose events before its cursor it has not.
      if (request.params.shieldZoneId === 'all') reply.header('shield-zones', zones === 'all' ? zones : zones.join(','));
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      // A connection that is kept for a next request would keep the program.
      if (stopping.signal.aborted) reply.header('connection', 'close');
      return reply
        .type(`${type}; charset=utf-8`)
        .headers({ vary: 'accept, accept-encoding', 'cache-control': 'no-store' })
        .send(encodeStream(lines, encoding));
    },
  );
}
