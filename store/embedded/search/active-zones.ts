import { duckdbDialect } from '../../../sql/dialect.ts';
import { activeZonesStatement } from '../../../sql/explore-statements.ts';
import type { ActiveZone } from '../../event-store.ts';
import type { SearchScope } from './search-scope.ts';

/** The zones of the plan that have events in its window, by number of events descending, then by zone. */
export async function findActiveZones(scope: SearchScope): Promise<readonly ActiveZone[]> {
  const rows = await scope.runner.run(activeZonesStatement(scope.plan, scope.events(), duckdbDialect));
  return rows.map(([zoneId, events, lastMs]) => ({ zoneId: Number(zoneId), events: Number(events), lastMs: Number(lastMs) }));
}
