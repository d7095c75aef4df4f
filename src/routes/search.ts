import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { SearchResult } from '../../query/plan/search-result.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import type { EventStore } from '../../store/event-store.ts';
import { callerOf, requireZone } from '../auth/access.ts';
import type { AnswerMemory } from '../http/answer-memory.ts';
import {
  isJsonType,
  JSON_TYPES,
  negotiateAnswer,
  requireBodyType,
  requirePlainBody,
  SEARCH_ANSWER_TYPES,
} from '../http/content-negotiation.ts';
import { ClientHungUp, DeadlinePassed, hangUpSignal, withDeadline } from '../http/interruption.ts';
import type { Metrics } from '../http/metrics.ts';
import { asReadProblem, compiled } from '../http/problem.ts';
import { SEARCH_BODY_BYTES, wholeBodyWithin } from '../http/request-body.ts';
import { parseZoneId } from '../http/request-parameters.ts';
import { searchResponseJson } from '../http/search-response.ts';

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

type Outcome = 'answered' | 'deadline' | 'hung_up' | 'failed';

function outcomeOf(error: unknown): Outcome {
  if (error instanceof DeadlinePassed) return 'deadline';
  return error instanceof ClientHungUp ? 'hung_up' : 'failed';
}

/** `POST /shield/event-logs/{shieldZoneId}/search`, operation 1. */
export async function searchRoutes(app: FastifyInstance, options: SearchRoutesOptions): Promise<void> {
  const { store, metrics, now, queryDeadlineMs, bodyDeadlineMs, answers } = options;
  async function search(plan: SearchPlan, hungUp: AbortSignal): Promise<SearchResult> {
    const began = performance.now();
    let outcome: Outcome = 'answered';
    try {
      return await withDeadline(queryDeadlineMs, hungUp, (signal) => store.search(plan, { signal }));
    } catch (error) {
      outcome = outcomeOf(error);
      throw asReadProblem(error, 'The search was interrupted', 'ask for a smaller window or add filters');
    } finally {
      metrics.searchSeconds.observe({ output: plan.output.kind, outcome }, (performance.now() - began) / 1000);
    }
  }

  // The body is read byte for byte, so that no integer loses digits. `validateHeaders` checks its type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', wholeBodyWithin(bodyDeadlineMs));

  /** Refuses what the headers alone make wrong, before the body is read. */
  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requireZone(callerOf(request), parseZoneId(request.params.shieldZoneId));
    requireBodyType(request.headers['content-type'], isJsonType, JSON_TYPES.join(', '));
    requirePlainBody(request.headers['content-encoding']);
    negotiateAnswer(request.headers.accept, SEARCH_ANSWER_TYPES);
  };

  app.post<ZonePath>(
    '/shield/event-logs/:shieldZoneId/search',
    { bodyLimit: SEARCH_BODY_BYTES, onRequest: validateHeaders },
    async (request, reply) => {
      const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      const zoneId = parseZoneId(request.params.shieldZoneId);
      const plan = compiled(() => compileSearch(body, { zoneId, nowMs: now() }));
      const result = await search(plan, hangUpSignal(reply.raw));
      const answerType = negotiateAnswer(request.headers.accept, SEARCH_ANSWER_TYPES);
      const answer = Buffer.from(searchResponseJson(result, plan.page));
      answers.hold(reply.raw, answer.length);
      return reply.type(`${answerType}; charset=utf-8`).send(answer);
    },
  );
}
