import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AlertKeeper } from '../../alerts/evaluation/alert-keeper.ts';
import {
  alertsJson,
  DEFAULT_LISTED_ALERTS,
  MAX_LISTED_ALERTS,
  readSilence,
  readSilenceId,
  refusalsJson,
  seesRule,
  silenceJson,
} from '../alerts/alerts-json.ts';
import { callerOf } from '../auth/access.ts';
import type { BodyMemory } from '../http/body-memory.ts';
import { requireJsonBody } from '../http/content-negotiation.ts';
import { takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { readQuery, wholeNumberParameter } from '../http/request-parameters.ts';

export interface AlertRoutesOptions {
  /** Null where no rules are followed. */
  readonly keeper: AlertKeeper | null;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly bodies: BodyMemory;
}

/** So many of the last alerts and deliveries are looked through for those of a key of some zones. */
const LOOKED_THROUGH = 10_000;

const NOTHING = { rules: [], alerts: [], deliveries: [], silences: [], refusals: refusalsJson({}) };

async function validateBody({ headers, query }: FastifyRequest): Promise<void> {
  readQuery(query, {});
  requireJsonBody(headers);
}

/**
 * `GET /alerts` says how far rules are and lists alerts, deliveries, and silences. `POST /alerts/silences` keeps the alerts of
 * a rule from being sent for some time, and `POST /alerts/silences/remove` ends that. A rule one of whose zones the key does not open does
 * not exist for it.
 */
export async function alertRoutes(app: FastifyInstance, { keeper, now, bodies }: AlertRoutesOptions): Promise<void> {
  takeWholeBodies(app, bodies);

  app.get('/alerts', async (request) => {
    const { limit = DEFAULT_LISTED_ALERTS } = readQuery<{ limit: number }>(request.query, {
      limit: wholeNumberParameter(1, MAX_LISTED_ALERTS),
    });
    if (keeper === null) return NOTHING;
    const caller = callerOf(request);
    const overview = await keeper.overview({ limit: caller.opensEveryZone ? limit : LOOKED_THROUGH });
    return alertsJson(overview, caller, { limit, nowMs: now() });
  });

  const changes = { config: { needsScope: 'manage' }, onRequest: validateBody } as const;
  app.post('/alerts/silences', changes, async (request) => {
    const overview = await keeper?.overview({ limit: 1 });
    const seen = overview?.rules.map(({ rule }) => rule).filter((rule) => seesRule(callerOf(request), rule)) ?? [];
    const ruleNamed = (name: string) => seen.find((rule) => rule.name === name);
    const silence = readSilence(wholeBody(request), { ruleNamed, silences: overview?.silences ?? [], nowMs: now() });
    if (keeper === null) throw new Error(`nobody follows the rule ${silence.rule}`);
    return silenceJson(await keeper.addSilence(silence), ruleNamed(silence.rule));
  });

  app.post('/alerts/silences/remove', changes, async (request) => {
    const id = readSilenceId(wholeBody(request));
    if (keeper === null) return { removed: false };
    const { silences } = await keeper.overview({ limit: 1 });
    const isSeen = silences.some((silence) => silence.id === id && seesRule(callerOf(request), silence));
    return { removed: isSeen && (await keeper.removeSilence(id)) };
  });
}
