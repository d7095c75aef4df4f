import type { FastifyInstance, FastifyRequest } from 'fastify';
import { compileExplore } from '../../query/request/compile-explore.ts';
import { callerOf, flowOf } from '../auth/access.ts';
import { openedZones, requestedZones, type ZonePath } from '../auth/requested-zones.ts';
import { onePiece } from '../http/answer-writes.ts';
import { markIncomplete } from '../http/begin-answer.ts';
import { negotiateAnswer, requireJsonBody, SEARCH_ANSWER_TYPES } from '../http/content-negotiation.ts';
import { activeZonesJson, exploreJson, rulesJson } from '../http/explore-json.ts';
import { compiled } from '../http/problem.ts';
import { SEARCH_BODY_BYTES, takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { queryWindow } from '../http/request-parameters.ts';
import type { RouteServices } from './route-services.ts';

/**
 * What an explorer asks: `POST /shield/event-logs/{shieldZoneId}/explore` about the events of one zone, a list of zones or `all`, `GET
 * /shield/event-logs/{shieldZoneId}/rules` for the names of the rules that have some, and `GET /shield/event-logs/zones` for the zones.
 */
export async function exploreRoutes(app: FastifyInstance, options: RouteServices): Promise<void> {
  const { store, reads, searches, now, bodies } = options;

  takeWholeBodies(app, bodies);

  const validateAccept = async ({ headers }: FastifyRequest): Promise<void> => {
    negotiateAnswer(headers.accept, SEARCH_ANSWER_TYPES);
  };

  /** Refuses what the headers alone make wrong, before the body is read. */
  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requestedZones(request.params.shieldZoneId, callerOf(request));
    requireJsonBody(request.headers);
    await validateAccept(request);
  };

  app.post<ZonePath>(
    '/shield/event-logs/:shieldZoneId/explore',
    { bodyLimit: SEARCH_BODY_BYTES, onRequest: validateHeaders },
    async (request, reply) => {
      const zones = requestedZones(request.params.shieldZoneId, callerOf(request));
      const plan = compiled(() => compileExplore(wholeBody(request), { zones, nowMs: now() }));
      const result = await searches.read('explore', reply.raw, (signal) => reads.of(flowOf(request)).explore(plan, { signal }));
      markIncomplete(reply, store.unreadableEvents(zones, plan.search.window));
      return searches.send(request, reply, (hold) => exploreJson(result, plan, hold));
    },
  );

  const validateZonesAndAccept = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requestedZones(request.params.shieldZoneId, callerOf(request));
    await validateAccept(request);
  };

  app.get<ZonePath>('/shield/event-logs/:shieldZoneId/rules', { onRequest: validateZonesAndAccept }, async (request, reply) => {
    const window = queryWindow(request.query, now());
    const zones = requestedZones(request.params.shieldZoneId, callerOf(request));
    const rules = await searches.read('rules', reply.raw, (signal) => reads.of(flowOf(request)).activeRules(window, zones, { signal }));
    markIncomplete(reply, store.unreadableEvents(zones, window));
    return searches.send(request, reply, (hold) => rulesJson(rules, hold));
  });

  app.get('/shield/event-logs/zones', { onRequest: validateAccept }, async (request, reply) => {
    const window = queryWindow(request.query, now());
    const zones = openedZones(callerOf(request));
    const active = await searches.read('zones', reply.raw, (signal) => reads.of(flowOf(request)).activeZones(window, zones, { signal }));
    markIncomplete(reply, store.unreadableEvents(zones, window));
    return searches.send(request, reply, () => onePiece([activeZonesJson(active)]));
  });
}
