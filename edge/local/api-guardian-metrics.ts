import { GUARDIAN_COUNTERS, type GuardianCounter, totalName } from '../schemas/api-guardian-metrics.ts';
import type { GuardianDay } from './guardian-counts.ts';
import type { LocalResource } from './local-resource.ts';
import { shieldSuccess } from './shield-success.ts';

function total(days: readonly GuardianDay[], counter: GuardianCounter): number {
  return days.reduce((sum, { counts }) => sum + counts[counter], 0);
}

/** What API Guardian did for a shield zone, counted from the events stored of it. */
export const apiGuardianMetrics: LocalResource = {
  name: 'api-guardian-metrics',
  migrations: [],
  routes(app, { guardianCounts }) {
    app.get<{ Params: { shieldZoneId: number } }>('/shield/metrics/shield-zone/:shieldZoneId/api-guardian', async ({ params }) => {
      const days = await guardianCounts(params.shieldZoneId);
      return shieldSuccess({
        ...Object.fromEntries(GUARDIAN_COUNTERS.map((counter) => [totalName(counter), total(days, counter)])),
        overviewPastTwentyEightDays: Object.fromEntries(days.map(({ day, counts }) => [day, counts])),
      });
    });
  },
};
