import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { replayDeadLetters } from '../../ingest/dead-letter-replay.ts';
import type { EventStore } from '../../store/event-store.ts';
import { callerOf } from '../access.ts';
import { isJsonType, JSON_TYPES, requireBodyType, requirePlainBody } from '../content-negotiation.ts';
import { deadLetterList } from '../dead-letter-list.ts';
import { RequestProblem } from '../problem.ts';
import { readQuery, wholeNumber } from '../query-parameters.ts';
import { readReplayRequest } from '../replay-request.ts';
import { wholeBodyWithin } from '../request-body.ts';
import { asStoreProblem } from '../store-problem.ts';

const DEFAULT_LIMIT = 100;
export const MOST_LISTED = 10_000;

export interface DeadLetterRoutesOptions {
  readonly store: EventStore;
  readonly now: () => number;
  readonly retentionMs: number;
  /** How long the whole body of a replay may take to arrive. */
  readonly bodyDeadlineMs: number;
}

/** A dead letter has no zone to go by, so only a key that opens every zone may see or replay them. */
async function requireEveryZone(request: FastifyRequest): Promise<void> {
  if (callerOf(request).opensEveryZone) return;
  throw new RequestProblem('access.zone_denied', 'Dead letters need an access key that opens every zone (*)');
}

function listQuery(query: unknown): { readonly afterId?: number; readonly limit?: number } {
  return readQuery<{ afterId: number; limit: number }>(query, {
    afterId: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    limit: wholeNumber(1, MOST_LISTED),
  });
}

/** A body needs a type; no body, as from `curl -X POST`, has none. */
async function judgeReplay({ headers, query }: FastifyRequest): Promise<void> {
  readQuery(query, {});
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (hasBody || headers['content-type'] !== undefined) requireBodyType(headers['content-type'], isJsonType, JSON_TYPES.join(', '));
  requirePlainBody(headers['content-encoding']);
}

/** `GET /ingest/dead-letters` in id order, and `POST /ingest/dead-letters/replay` of all or of the `ids` named. */
export async function deadLetterRoutes(app: FastifyInstance, options: DeadLetterRoutesOptions): Promise<void> {
  const { store, now, retentionMs, bodyDeadlineMs } = options;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', wholeBodyWithin(bodyDeadlineMs));

  app.get('/ingest/dead-letters', { onRequest: requireEveryZone }, async (request, reply) => {
    const { afterId, limit = DEFAULT_LIMIT } = listQuery(request.query);
    const list = Readable.from(deadLetterList(store, afterId, limit));
    list.once('error', (error) => request.log.error({ err: error }, 'the dead letters could not be listed to their end'));
    return reply.type('application/json; charset=utf-8').send(list);
  });

  app.post<{ readonly Body: Uint8Array | undefined }>(
    '/ingest/dead-letters/replay',
    { config: { needsScope: 'ingest' }, onRequest: [requireEveryZone, judgeReplay] },
    async (request) => {
      const ids = readReplayRequest(request.body);
      try {
        return await replayDeadLetters(store, { now, retentionMs, ...(ids === undefined ? {} : { ids }) });
      } catch (error) {
        throw asStoreProblem(error);
      }
    },
  );
}
