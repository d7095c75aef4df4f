import type { FastifyInstance, FastifyRequest } from 'fastify';
import { discardDeadLetters, replayDeadLetters } from '../../ingest/upload/dead-letter-replay.ts';
import type { DeadLetterIds, DeadLetterSelection } from '../../store/dead-letter.ts';
import { callerOf, mappingFor } from '../auth/access.ts';
import { ROOM_MS } from '../http/body-memory.ts';
import { requireJsonBody, requirePlainBody } from '../http/content-negotiation.ts';
import {
  DEFAULT_LISTED_LETTERS,
  deadLetterList,
  MAX_LISTED_LETTERS,
  readDiscardRequest,
  readReplayRequest,
} from '../http/dead-letter-json.ts';
import { hangUpSignal } from '../http/interruption.ts';
import { takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { type Reader, readQuery, shownParameter, wholeNumberParameter } from '../http/request-parameters.ts';
import type { RouteServices } from './route-services.ts';

/** The zones whose letters a key sees: its own. Letters of no known zone are for keys of every zone. */
function zonesOf(request: FastifyRequest): DeadLetterSelection['zones'] {
  const { zones } = callerOf(request);
  return zones === 'all' ? zones : [...zones];
}

function letterId(ids: DeadLetterIds): Reader<string> {
  return (value, name, errors) => {
    if (value === undefined) return undefined;
    const id = typeof value === 'string' ? ids.parse(value) : null;
    if (id === null) errors.add(name, `must be the id of a dead letter, ${ids.allowed}, not ${shownParameter(value)}`);
    return id ?? undefined;
  };
}

function listQuery(query: unknown, ids: DeadLetterIds): { readonly afterId?: string; readonly limit?: number } {
  return readQuery<{ afterId: string; limit: number }>(query, {
    afterId: letterId(ids),
    limit: wholeNumberParameter(1, MAX_LISTED_LETTERS),
  });
}

/** Refuses a body without the type of JSON. A request without a body, such as one of `curl -X POST`, has no type. */
async function validateBody({ headers, query }: FastifyRequest): Promise<void> {
  readQuery(query, {});
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (hasBody || headers['content-type'] !== undefined) requireJsonBody(headers);
  else requirePlainBody(headers['content-encoding']);
}

/**
 * `GET /ingest/dead-letters` lists the letters in id order, `POST /ingest/dead-letters/replay` replays all or the `ids` named, these
 * also by another `mapping`, and `POST /ingest/dead-letters/discard` removes the `ids` named or all. Letters of zones that the key does
 * not open do not exist for it.
 */
export async function deadLetterRoutes(app: FastifyInstance, options: RouteServices): Promise<void> {
  const { store, searches, now, retentionMs, mapping: threads, bodies } = options;
  takeWholeBodies(app, bodies);

  app.get('/ingest/dead-letters', async (request, reply) => {
    const { afterId, limit = DEFAULT_LISTED_LETTERS } = listQuery(request.query, store.deadLetterIds);
    const selection = { zones: zonesOf(request), ...(afterId === undefined ? {} : { afterId }), limit };
    return searches.send(request, reply, (hold) => deadLetterList(store, selection, hold), 'application/json');
  });

  const changes = { config: { needsScope: 'ingest' }, onRequest: validateBody } as const;
  app.post('/ingest/dead-letters/replay', changes, async (request, reply) => {
    const named = readReplayRequest(wholeBody(request), store.deadLetterIds, [...threads.mappings.keys()]);
    if (named.mapping !== undefined) mappingFor(callerOf(request), named.mapping);
    const zones = zonesOf(request);
    const signal = hangUpSignal(reply.raw);
    return await replayDeadLetters(store, { now, retentionMs, threads, waitMs: ROOM_MS, zones, signal, ...named });
  });

  app.post('/ingest/dead-letters/discard', changes, async (request) => {
    const ids = readDiscardRequest(wholeBody(request), store.deadLetterIds);
    return { discarded: await discardDeadLetters(store, zonesOf(request), ids) };
  });
}
