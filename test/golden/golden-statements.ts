import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { duckdbDialect } from '../../sql/dialect.ts';
import { groupDetailStatement, groupOnceStatement } from '../../sql/group-fact-statements.ts';
import { groupPageStatement } from '../../sql/group-statements.ts';
import { rowsStatement, slotCountStatement } from '../../sql/row-statements.ts';
import { type SqlStatement, trusted } from '../../sql/statement.ts';
import type { GoldenCase } from './golden-case.ts';

/** A view of events as a search sees them. */
const EVENTS = trusted('events');

/** The window is counted in four slots: enough to see the statement. */
const SLOTS = 4;

/**
 * The statements that answer a plan over one table called `events`: count and page of rows, or page and details of the expected groups, and
 * then the one statement that is both.
 */
export function goldenStatements(plan: SearchPlan, { groups = [], total }: GoldenCase): readonly SqlStatement[] {
  const { window, output, page } = plan;
  if (output.kind === 'rows') {
    const slotMs = Math.ceil((window.toMs - window.fromMs) / SLOTS);
    const slice = { skip: page.index * page.size, limit: page.size };
    return [slotCountStatement(plan, EVENTS, { window, slotMs }, duckdbDialect), rowsStatement(plan, EVENTS, window, slice)];
  }
  const keys = groups.map(({ key }) => key);
  const first = groupPageStatement(plan, output, EVENTS);
  const details = keys.length === 0 ? [] : [groupDetailStatement(plan, output, { keys, isWhole: keys.length === total }, EVENTS)];
  return [first, ...details, groupOnceStatement(plan, output, EVENTS)];
}
