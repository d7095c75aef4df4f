import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { cutOffIdle } from '../../edge/answer-room.ts';
import { discardDeadLetters, replayDeadLetters } from '../../ingest/upload/dead-letter-replay.ts';
import type { DeadLetterSelection, EventStore } from '../../store/event-store.ts';
import { callerOf } from '../auth/access.ts';
import { isJsonType, JSON_TYPES, requireBodyType, requirePlainBody } from '../http/content-negotiation.ts';
import { deadLetterList } from '../http/dead-letter-list.ts';
import { hangUpSignal } from '../http/hang-up.ts';
import { readQuery, wholeNumber } from '../http/query-parameters.ts';
import { readDiscardRequest, readReplayRequest } from '../http/replay-request.ts';
import { wholeBodyWithin } from '../http/request-body.ts';
import { asStoreProblem } from '../http/store-problem.ts';

const DEFAULT_LIMIT = 100;
export const MAX_LISTED = 10_000;

export interface DeadLetterRoutesOptions {
  readonly store: EventStore;
  readonly now: () => number;
  readonly retentionMs: number;
  /** How long the whole body of a request may take to arrive. */
  readonly bodyDeadlineMs: number;
}

/** A key sees the letters of its zones; those of no known zone are for keys that open every zone. */
function zonesOf(request: FastifyRequest): DeadLetterSelection['zones'] {
  const { zones } = callerOf(request);
  return zones === 'all' ? zones : [...zones];
}

function listQuery(query: unknown): { readonly afterId?: number; readonly limit?: number } {
  return readQuery<{ afterId: number; limit: number }>(query, {
    afterId: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    limit: wholeNumber(1, MAX_LISTED),
  });
}

/** A body needs a type; no body, as from `curl -X POST`, has none. */
async function validateBody({ headers, query }: FastifyRequest): Promise<void> {
  readQuery(query, {});
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (hasBody || headers['content-type'] !== undefined) requireBodyType(headers['content-type'], isJsonType, JSON_TYPES.join(', '));
  requirePlainBody(headers['content-encoding']);
}

/**
 * `GET /ingest/dead-letters` in id order, `POST /ingest/dead-letters/replay` of all or of the `ids` named, and `POST
 * /ingest/dead-letters/discard` of the `ids` named or of all. A letter that the key does not open is to it as one that is not there.
 */
export async function deadLetterRoutes(app: FastifyInstance, options: DeadLetterRoutesOptions): Promise<void> {
  const { store, now, retentionMs, bodyDeadlineMs } = options;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', wholeBodyWithin(bodyDeadlineMs));

  app.get('/ingest/dead-letters', async (request, reply) => {
    const { afterId, limit = DEFAULT_LIMIT } = listQuery(request.query);
    const selection = { zones: zonesOf(request), ...(afterId === undefined ? {} : { afterId }), limit };
    const list = Readable.from(deadLetterList(store, selection));
    list.once('error', (error) => request.log.error({ err: error }, 'the dead letters could not be listed to their end'));
    cutOffIdle(reply.raw);
    return reply.type('application/json; charset=utf-8').send(list);
  });

  const changes = { config: { needsScope: 'ingest' }, onRequest: validateBody } as const;
  app.post<{ readonly Body: Uint8Array | undefined }>('/ingest/dead-letters/replay', changes, async (request, reply) => {
    const ids = readReplayRequest(request.body);
    const zones = zonesOf(request);
    const options = { now, retentionMs, zones, signal: hangUpSignal(reply.raw), ...(ids === undefined ? {} : { ids }) };
    return await orStoreProblem(() => replayDeadLetters(store, options));
  });

  app.post<{ readonly Body: Uint8Array | undefined }>('/ingest/dead-letters/discard', changes, async (request) => {
    const ids = readDiscardRequest(request.body);
    return await orStoreProblem(async () => ({ discarded: await discardDeadLetters(store, zonesOf(request), ids) }));
  });
}

async function orStoreProblem<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStoreProblem(error);
  }
}
