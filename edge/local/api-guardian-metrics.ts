import type { GuardianDay } from './guardian-counts.ts';
import type { LocalResource } from './local-resource.ts';
import { shieldSuccess } from './shield-success.ts';

type Counts = Omit<GuardianDay, 'day'>;

const NOTHING: Counts = { blocked: 0, logged: 0, rateLimited: 0, inspected: 0, failedRequestValidation: 0, failedAuthentication: 0 };

function sum(one: Counts, other: Counts): Counts {
  return {
    blocked: one.blocked + other.blocked,
    logged: one.logged + other.logged,
    rateLimited: one.rateLimited + other.rateLimited,
    inspected: one.inspected + other.inspected,
    failedRequestValidation: one.failedRequestValidation + other.failedRequestValidation,
    failedAuthentication: one.failedAuthentication + other.failedAuthentication,
  };
}

function countersOf(counts: Counts): Readonly<Record<string, number>> {
  return {
    totalBlockedRequests: counts.blocked,
    totalLoggedRequests: counts.logged,
    totalRateLimited: counts.rateLimited,
    totalRequestsInspected: counts.inspected,
    totalFailedRequestValidation: counts.failedRequestValidation,
    totalFailedAuthenticationEnforcement: counts.failedAuthentication,
  };
}

/** What API Guardian did for a shield zone, counted from the events stored of it. */
export const apiGuardianMetrics: LocalResource = {
  name: 'api-guardian-metrics',
  migrations: [],
  routes(app, { guardianCounts }) {
    app.get<{ Params: { shieldZoneId: number } }>('/shield/metrics/shield-zone/:shieldZoneId/api-guardian', async ({ params }) => {
      const days = await guardianCounts(params.shieldZoneId);
      return shieldSuccess({
        ...countersOf(days.reduce<Counts>(sum, NOTHING)),
        overviewPastTwentyEightDays: Object.fromEntries(days.map((day) => [day.day, countersOf(day)])),
      });
    });
  },
};
