import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { zonesOfPart } from '../../query/plan/feed-zones.ts';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { callerOf, flowOf } from '../auth/access.ts';
import { requestedZones, type ZonePath } from '../auth/requested-zones.ts';
import { feedAnswer } from '../feed/feed-answer.ts';
import { awaitPage, expiredCursor, type FeedReading, type FeedStore } from '../feed/feed-reading.ts';
import { feedQuery } from '../feed/feed-request.ts';
import { type FeedSlot, FeedSlots, registerFeedMetrics } from '../feed/feed-slots.ts';
import { FormatThreads, type WrittenPiece } from '../feed/format-threads.ts';
import { PageMemory } from '../feed/page-memory.ts';
import { FEED_MEDIA_TYPES } from '../formats/feed-formats.ts';
import { beginAnswer } from '../http/begin-answer.ts';
import { encodeBody, negotiateAnswer, negotiateEncoding } from '../http/content-negotiation.ts';
import { hangUpSignal } from '../http/interruption.ts';
import type { Metrics } from '../http/metric-registry.ts';
import type { RequestProblem } from '../http/problem.ts';
import type { ScheduledReads } from '../scheduling/scheduled-reads.ts';

export interface FeedRoutesOptions {
  readonly store: FeedStore;
  readonly reads: Pick<ScheduledReads, 'of'>;
  readonly turns: MainThreadTurns;
  readonly metrics: Pick<Metrics, 'feedEvents' | 'feedLongLines' | 'registry'>;
  /** How long a page may take in the store. */
  readonly queryDeadlineMs: number;
  /** How long a reader may take no byte of an answer that is ready, in milliseconds. */
  readonly idleMs?: number;
  /** The memory for the pages of all readers together, in bytes. */
  readonly pageMemoryBytes?: number;
}

export const FEED_IDLE_MS = 60_000;

const PAGE_MEMORY_BYTES = 32 * 1024 * 1024;

/** Takes a slot until the response is closed. */
function takeSlot(slots: FeedSlots, { raw }: FastifyReply): FeedSlot {
  const slot = slots.take();
  raw.once('close', slot.release);
  if (raw.closed) slot.release();
  return slot;
}

/** `GET /shield/event-logs/{shieldZoneId}/feed`: events in the order in which they were taken in. */
export async function feedRoutes(app: FastifyInstance, options: FeedRoutesOptions): Promise<void> {
  const { store, reads, turns, metrics, queryDeadlineMs, idleMs = FEED_IDLE_MS } = options;
  const slots = new FeedSlots();
  registerFeedMetrics(metrics.registry, slots);
  const memory = new PageMemory(options.pageMemoryBytes ?? PAGE_MEMORY_BYTES);
  const threads = new FormatThreads();
  app.addHook('onClose', () => threads.close());
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());

  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requestedZones(request.params.shieldZoneId, callerOf(request));
    negotiateAnswer(request.headers.accept, FEED_MEDIA_TYPES);
    negotiateEncoding(request.headers['accept-encoding']);
  };

  // A HEAD would wait and read a page for nobody.
  app.get<ZonePath>(
    '/shield/event-logs/:shieldZoneId/feed',
    { onRequest: validateHeaders, exposeHeadRoute: false },
    async (request, reply) => {
      const asked = requestedZones(request.params.shieldZoneId, callerOf(request));
      const { position, limit, format, waitMs, maxLine, part, where } = await feedQuery(request.query, store);
      const zones = part === null ? asked : zonesOfPart(asked, part);
      const slot = takeSlot(slots, reply);
      const hungUp = hangUpSignal(reply.raw);
      const reading: FeedReading = { store, reads: reads.of(flowOf(request)), zones, where, deadlineMs: queryDeadlineMs, hungUp, memory };
      const firstPage = await awaitPage(position, limit, { waitMs, stopping: stopping.signal, onWait: slot.wait }, reading);
      slot.read();
      if (firstPage === null) throw await expiredCursor(position, reading);
      const onPiece = ({ events, longLines: { shortened, tooLong } }: WrittenPiece): void => {
        metrics.feedEvents.inc({ format }, events);
        metrics.feedLongLines.inc({ sent: 'shortened' }, shortened - tooLong);
        metrics.feedLongLines.inc({ sent: 'too_long' }, tooLong);
      };
      const onShortened = (problem: RequestProblem): void =>
        request.log.warn(
          { err: problem },
          'an answer of the feed ends early, because its next page could not be read; its reader goes on from the cursor',
        );
      const read = () => feedAnswer({ reading, position, limit, format, maxLine, threads, firstPage, onPiece, onShortened });
      const answer = await beginAnswer({ turns, reply, what: 'an answer of the feed', read, idleMs });
      const encoding = negotiateEncoding(request.headers['accept-encoding']);
      const type = negotiateAnswer(request.headers.accept, FEED_MEDIA_TYPES);
      // The zones of `all` change with the key. A reader sees by this header that zones were added whose earlier events it has missed.
      if (request.params.shieldZoneId === 'all') reply.header('shield-zones', asked === 'all' ? asked : asked.join(','));
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      // A connection that is kept alive would keep the program.
      if (stopping.signal.aborted) reply.header('connection', 'close');
      return reply
        .type(`${type}; charset=utf-8`)
        .headers({ vary: 'accept, accept-encoding', 'cache-control': 'no-store' })
        .send(encodeBody(answer, encoding));
    },
  );
}
