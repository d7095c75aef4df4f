import { GUARDIAN_COUNTERS, type GuardianCounter, totalName } from '../../operations/shield-zones.ts';
import { type GuardianDay, type LocalResource, shieldSuccess } from '../local-resource.ts';

function total(days: readonly GuardianDay[], counter: GuardianCounter): number {
  return days.reduce((sum, { counts }) => sum + counts[counter], 0);
}

/** Answers operation 13: the counters of API Guardian for a shield zone, from the stored events. */
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
