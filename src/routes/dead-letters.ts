import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { replayDeadLetters } from '../../ingest/dead-letter-replay.ts';
import type { EventStore, StoredDeadLetter } from '../../store/event-store.ts';
import { callerOf } from '../access.ts';
import { RequestProblem } from '../problem.ts';
import { asStoreProblem } from '../store-problem.ts';

const DEFAULT_LIMIT = 100;
const MOST_LISTED = 10_000;
/** A dead letter may hold megabytes: a few at a time are in memory. */
const READ_AT_ONCE = 20;

export interface DeadLetterRoutesOptions {
  readonly store: EventStore;
  readonly now: () => number;
  readonly retentionMs: number;
}

function refuse(field: string, value: unknown, allowed: string): never {
  const message = `${JSON.stringify(value)} is not allowed; allowed: ${allowed}`;
  throw new RequestProblem('request.invalid', `${field}: ${message}`, { errors: [{ field, message }] });
}

function wholeNumber(field: string, value: unknown, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value) || Number(value) < least || Number(value) > most) {
    refuse(field, value, `a whole number ${least}..${most}`);
  }
  return Number(value);
}

/** The dead letter's bytes as text, or in base64 where they are not UTF-8. */
function letterJson({ id, receivedAtMs, source, topic, partition, offset, reason, bytes }: StoredDeadLetter): string {
  const body = isUtf8(bytes) ? { text: Buffer.from(bytes).toString('utf8') } : { base64: Buffer.from(bytes).toString('base64') };
  return JSON.stringify({ id, receivedAtMs, source, topic, partition, offset: offset?.toString() ?? null, reason, ...body });
}

const after = (id: number | undefined) => (id === undefined ? {} : { afterId: id });

function* listJson(store: EventStore, afterId: number | undefined, limit: number): Generator<string> {
  yield '{"deadLetters":[';
  let last = afterId;
  let listed = 0;
  while (listed < limit) {
    const asked = Math.min(READ_AT_ONCE, limit - listed);
    const letters = store.listDeadLetters({ ...after(last), limit: asked });
    for (const letter of letters) {
      yield listed === 0 ? letterJson(letter) : `,${letterJson(letter)}`;
      last = letter.id;
      listed += 1;
    }
    if (letters.length < asked) break;
  }
  const more = store.listDeadLetters({ ...after(last), limit: 1 }).length > 0;
  yield `],"nextAfterId":${more && last !== undefined ? last : 'null'}}`;
}

function idsOf(body: unknown): readonly number[] | undefined {
  if (body === undefined || body === null) return undefined;
  const { ids, ...others } =
    typeof body === 'object' && !Array.isArray(body) ? (body as { readonly ids?: unknown }) : refuse('$', body, 'an object {"ids": […]}');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) refuse('$', unknown, 'the property ids');
  if (ids === undefined || ids === null) return undefined;
  if (!Array.isArray(ids)) refuse('$.ids', ids, 'an array of ids');
  for (const [index, id] of ids.entries()) {
    if (!Number.isSafeInteger(id) || id < 0) refuse(`$.ids[${index}]`, id, 'the id of a dead letter');
  }
  return ids as readonly number[];
}

/** A dead letter has no zone to go by, so only a key that opens every zone may see or replay them. */
async function requireEveryZone(request: FastifyRequest): Promise<void> {
  if (callerOf(request).opensEveryZone) return;
  throw new RequestProblem('access.zone_denied', 'Dead letters need an access key that opens every zone (*)');
}

/** `GET /ingest/dead-letters` in id order, and `POST /ingest/dead-letters/replay` of all or of the `ids` named. */
export async function deadLetterRoutes(app: FastifyInstance, { store, now, retentionMs }: DeadLetterRoutesOptions): Promise<void> {
  app.get<{ readonly Querystring: Readonly<Record<string, unknown>> }>(
    '/ingest/dead-letters',
    { onRequest: requireEveryZone },
    async ({ query }, reply) => {
      const afterId = wholeNumber('afterId', query['afterId'], 0, Number.MAX_SAFE_INTEGER);
      const limit = wholeNumber('limit', query['limit'], 1, MOST_LISTED) ?? DEFAULT_LIMIT;
      return reply.type('application/json; charset=utf-8').send(Readable.from(listJson(store, afterId, limit)));
    },
  );
  app.post('/ingest/dead-letters/replay', { onRequest: requireEveryZone }, async (request) => {
    const ids = idsOf(request.body);
    try {
      return await replayDeadLetters(store, { now, retentionMs, ...(ids === undefined ? {} : { ids }) });
    } catch (error) {
      throw asStoreProblem(error);
    }
  });
}
