import type { FastifyInstance, FastifyRequest } from 'fastify';
import { compileSearch } from '../../query/request/compile-search.ts';
import { callerOf, flowOf, requireZone } from '../auth/access.ts';
import type { ZonePath } from '../auth/requested-zones.ts';
import { markIncomplete } from '../http/begin-answer.ts';
import { negotiateAnswer, requireJsonBody, SEARCH_ANSWER_TYPES } from '../http/content-negotiation.ts';
import { compiled } from '../http/problem.ts';
import { SEARCH_BODY_BYTES, takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { parseZoneId } from '../http/request-parameters.ts';
import { searchJson } from '../http/search-json.ts';
import type { RouteServices } from './route-services.ts';

/** `POST /shield/event-logs/{shieldZoneId}/search`, operation 1. */
export async function searchRoutes(app: FastifyInstance, options: RouteServices): Promise<void> {
  const { store, reads, searches, now, bodies } = options;

  takeWholeBodies(app, bodies);

  /** Refuses what the headers alone make wrong, before the body is read. */
  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requireZone(callerOf(request), parseZoneId(request.params.shieldZoneId));
    requireJsonBody(request.headers);
    negotiateAnswer(request.headers.accept, SEARCH_ANSWER_TYPES);
  };

  app.post<ZonePath>(
    '/shield/event-logs/:shieldZoneId/search',
    { bodyLimit: SEARCH_BODY_BYTES, onRequest: validateHeaders },
    async (request, reply) => {
      const zoneId = parseZoneId(request.params.shieldZoneId);
      const plan = compiled(() => compileSearch(wholeBody(request), { zoneId, nowMs: now() }));
      const result = await searches.read(plan.output.kind, reply.raw, (signal) => reads.of(flowOf(request)).search(plan, { signal }));
      markIncomplete(reply, store.unreadableEvents(plan.zones, plan.window));
      return searches.send(request, reply, (hold) => searchJson(result, plan.page, hold));
    },
  );
}
