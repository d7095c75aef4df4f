import { MAX_ACTIVE_RULES } from '../../../query/search-limits.ts';
import { duckdbDialect } from '../../../sql/dialect.ts';
import { activeRule, activeRulesStatement, activeZonesStatement } from '../../../sql/explore-statements.ts';
import type { ActiveRule, ActiveZone } from '../../event-store.ts';
import type { SearchScope } from './search-scope.ts';

/** The zones of the plan that have events in its window, by number of events descending, then by zone. */
export async function findActiveZones(scope: SearchScope): Promise<readonly ActiveZone[]> {
  const rows = await scope.runner.run(activeZonesStatement(scope.plan, scope.events(), duckdbDialect));
  return rows.map(([zoneId, events, lastMs]) => ({ zoneId: Number(zoneId), events: Number(events), lastMs: Number(lastMs) }));
}

/** The rules that have events of the plan in its window, by number of events descending, then by id. */
export async function findActiveRules(scope: SearchScope): Promise<readonly ActiveRule[]> {
  const rows = await scope.runner.run(activeRulesStatement(scope.plan, MAX_ACTIVE_RULES, scope.events(), duckdbDialect));
  return rows.map(activeRule);
}
