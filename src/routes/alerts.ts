import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AlertKeeper } from '../../alerts/evaluation/alert-keeper.ts';
import {
  alertsJson,
  DEFAULT_LISTED_ALERTS,
  MAX_LISTED_ALERTS,
  readSilence,
  readSilenceId,
  seesZones,
  silenceJson,
} from '../alerts/alerts-json.ts';
import { callerOf } from '../auth/access.ts';
import type { BodyMemory } from '../http/body-memory.ts';
import { requireJsonBody } from '../http/content-negotiation.ts';
import { takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { readQuery, wholeNumberParameter } from '../http/request-parameters.ts';

export interface AlertRoutesOptions {
  /** Null where no rules are followed. */
  readonly keeper: Pick<AlertKeeper, 'overview' | 'addSilence' | 'removeSilence'> | null;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly bodies: BodyMemory;
}

/** So many of the last alerts and deliveries are looked through for those of a key of some zones. */
const LOOKED_THROUGH = 10_000;

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

  const overviewOf = async (limit: number) => {
    return (await keeper?.overview({ limit })) ?? { rules: [], alerts: [], deliveries: [], silences: [], facts: { refusals: {} } };
  };

  app.get('/alerts', async (request) => {
    const { limit = DEFAULT_LISTED_ALERTS } = readQuery<{ limit: number }>(request.query, {
      limit: wholeNumberParameter(1, MAX_LISTED_ALERTS),
    });
    const caller = callerOf(request);
    return alertsJson(await overviewOf(caller.opensEveryZone ? limit : LOOKED_THROUGH), caller, { limit, nowMs: now() });
  });

  const changes = { config: { needsScope: 'manage' }, onRequest: validateBody } as const;
  app.post('/alerts/silences', changes, async (request) => {
    const { rules, silences } = await overviewOf(1);
    const seen = rules.map(({ rule }) => rule).filter((rule) => seesZones(callerOf(request), rule));
    const ruleNamed = (name: string) => seen.find((rule) => rule.name === name);
    const silence = readSilence(wholeBody(request), { ruleNamed, silences, nowMs: now() });
    if (keeper === null) throw new Error(`nobody follows the rule ${silence.rule}`);
    return silenceJson(await keeper.addSilence(silence), ruleNamed(silence.rule)?.by);
  });

  app.post('/alerts/silences/remove', changes, async (request) => {
    const id = readSilenceId(wholeBody(request));
    const { silences } = await overviewOf(1);
    const isSeen = silences.some((silence) => silence.id === id && seesZones(callerOf(request), silence));
    return { removed: isSeen && ((await keeper?.removeSilence(id)) ?? false) };
  });
}
