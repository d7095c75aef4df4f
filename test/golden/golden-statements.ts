import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { column } from '../../sql/columns.ts';
import { duckdbDialect } from '../../sql/dialect.ts';
import { groupDetailStatement, groupOnceStatement } from '../../sql/group-fact-statements.ts';
import { groupPageStatement } from '../../sql/group-statements.ts';
import { rowPageStatement, slotCountStatement } from '../../sql/row-statements.ts';
import { joinSql, markText, type SqlStatement, trusted } from '../../sql/statement.ts';
import type { GoldenCase } from './golden-case.ts';

/** A view of events as a search sees them. */
const EVENTS = trusted('events');

/** The columns of a row as the store reads it, with marked texts. */
const SELECTED = joinSql(
  [column('timestamp'), column('logPlace'), ...(['logId', ...TEXT_FIELDS] as const).map((name) => markText(column(name)))],
  ', ',
);

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
    const slice = { offset: page.index * page.size, limit: page.size };
    return [
      slotCountStatement(plan, EVENTS, { window, slotMs }, duckdbDialect),
      rowPageStatement(plan, EVENTS, window, slice, SELECTED, duckdbDialect),
    ];
  }
  const keys = groups.map(({ key }) => key);
  const first = groupPageStatement(plan, output, EVENTS, duckdbDialect);
  const details =
    keys.length === 0 ? [] : [groupDetailStatement(plan, output, { keys, isWhole: keys.length === total }, EVENTS, duckdbDialect)];
  return [first, ...details, groupOnceStatement(plan, output, EVENTS, duckdbDialect)];
}
