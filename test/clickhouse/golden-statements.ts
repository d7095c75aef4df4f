import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { eventsOf } from '../../sql/clickhouse/events.ts';
import { fewGroupsStatement, groupFactsStatement, groupKeysStatement } from '../../sql/clickhouse/group-statements.ts';
import { rowSliceStatement } from '../../sql/clickhouse/row-statements.ts';
import type { SqlStatement } from '../../sql/statement.ts';
import { PIECE_BYTES } from '../../store/event-store.ts';
import type { GoldenCase } from '../golden/golden-case.ts';
import { TABLE } from './event-table.ts';

/**
 * The statements of ClickHouse that answer a plan: the page of rows, or the page of few groups with their facts; then, as where they are
 * many, the page of their keys and the facts about the expected ones.
 */
export function goldenClickhouseStatements(plan: SearchPlan, { groups = [], total }: GoldenCase): readonly SqlStatement[] {
  const { window, output, page } = plan;
  const events = eventsOf(TABLE);
  if (output.kind === 'rows') {
    return [rowSliceStatement(plan, events, window, { skip: page.index * page.size, limit: page.size }, PIECE_BYTES)];
  }
  const keys = groups.map(({ key }) => key);
  const ofMany = [fewGroupsStatement(plan, output, events), groupKeysStatement(plan, output, events)];
  return keys.length === 0 ? ofMany : [...ofMany, groupFactsStatement(plan, output, { keys, isWhole: keys.length === total }, events)];
}
