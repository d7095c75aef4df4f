import type { FastifyInstance, FastifyRequest } from 'fastify';
import { compileSearch } from '../../query/compile-search.ts';
import { InvalidSearchError } from '../../query/invalid-search-error.ts';
import type { SearchPlan } from '../../query/search-plan.ts';
import type { SearchResult } from '../../query/search-result.ts';
import type { EventStore } from '../../store/event-store.ts';
import { requireZone } from '../auth/access.ts';
import type { AnswerMemory } from '../http/answer-memory.ts';
import {
  isJsonType,
  JSON_TYPES,
  negotiateAnswer,
  requireBodyType,
  requirePlainBody,
  SEARCH_ANSWER_TYPES,
} from '../http/content-negotiation.ts';
import { DeadlinePassed, withDeadline } from '../http/deadline.ts';
import { ClientHungUp, hangUpSignal } from '../http/hang-up.ts';
import type { Metrics } from '../http/metrics.ts';
import { RequestProblem } from '../http/problem.ts';
import { invalidRequest } from '../http/query-parameters.ts';
import { SEARCH_BODY_BYTES, wholeBodyWithin } from '../http/request-body.ts';
import { searchResponseJson } from '../http/search-response.ts';
import { asStoreProblem } from '../http/store-problem.ts';
import { parseZoneId } from '../http/zone-of-path.ts';

interface ZonePath {
  readonly Params: { readonly shieldZoneId: string };
}

export interface SearchRoutesOptions {
  readonly store: EventStore;
  readonly metrics: Metrics;
  readonly now: () => number;
  readonly queryDeadlineMs: number;
  /** How long the whole body may take to arrive. */
  readonly bodyDeadlineMs: number;
  readonly answers: AnswerMemory;
}

function compile(body: unknown, zoneId: number, nowMs: number): SearchPlan {
  try {
    return compileSearch(body instanceof Uint8Array ? body : new Uint8Array(), { zoneId, nowMs });
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) throw error;
    throw invalidRequest(error.errors, error);
  }
}

type Outcome = 'answered' | 'deadline' | 'hung_up' | 'failed';

function outcomeOf(error: unknown): Outcome {
  if (error instanceof DeadlinePassed) return 'deadline';
  return error instanceof ClientHungUp ? 'hung_up' : 'failed';
}

function asSearchProblem(error: unknown): unknown {
  if (!(error instanceof DeadlinePassed)) return asStoreProblem(error);
  const detail = `The search was interrupted: ${error.message}; ask for a smaller window or add filters`;
  return new RequestProblem('search.deadline', detail, { headers: { 'retry-after': '5' }, cause: error });
}

/** Operation 1: `POST /shield/event-logs/{shieldZoneId}/search`. */
export async function searchRoutes(app: FastifyInstance, options: SearchRoutesOptions): Promise<void> {
  const { store, metrics, now, queryDeadlineMs, bodyDeadlineMs, answers } = options;
  async function search(plan: SearchPlan, hungUp: AbortSignal): Promise<SearchResult> {
    const began = performance.now();
    let outcome: Outcome = 'answered';
    try {
      return await withDeadline(queryDeadlineMs, hungUp, (signal) => store.search(plan, { signal }));
    } catch (error) {
      outcome = outcomeOf(error);
      throw asSearchProblem(error);
    } finally {
      metrics.searchSeconds.observe({ output: plan.output.kind, outcome }, (performance.now() - began) / 1000);
    }
  }

  // The request's body is read by us, byte for byte, so that no integer loses digits; its type is judged by `validateHeaders`.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', wholeBodyWithin(bodyDeadlineMs));

  /** What can be refused without reading the body is. */
  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requireZone(request, parseZoneId(request.params.shieldZoneId));
    requireBodyType(request.headers['content-type'], isJsonType, JSON_TYPES.join(', '));
    requirePlainBody(request.headers['content-encoding']);
    negotiateAnswer(request.headers.accept, SEARCH_ANSWER_TYPES);
  };

  app.post<ZonePath>(
    '/shield/event-logs/:shieldZoneId/search',
    { bodyLimit: SEARCH_BODY_BYTES, onRequest: validateHeaders },
    async (request, reply) => {
      const plan = compile(request.body, parseZoneId(request.params.shieldZoneId), now());
      const result = await search(plan, hangUpSignal(reply.raw));
      const answerType = negotiateAnswer(request.headers.accept, SEARCH_ANSWER_TYPES);
      const body = Buffer.from(searchResponseJson(result, plan.page));
      answers.hold(reply.raw, body.length);
      return reply.type(`${answerType}; charset=utf-8`).send(body);
    },
  );
}
