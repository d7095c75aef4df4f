import type { GroupsOutput } from '../../../query/search-plan.ts';
import { fillGroupByCacheStatement, groupByCacheSizeStatement } from '../../../sql/group-by-cache-statements.ts';
import type { SearchScope } from '../search/search-scope.ts';
import type { GroupByCacheEntry } from './group-by-cache-entry.ts';
import type { Coverage } from './group-coverage.ts';

/** A table of groups takes this much for a row and its count, and for each key beside the text. */
const BYTES_OF_A_ROW = 8;
const BYTES_OF_A_KEY = 16;

export interface FilledGroups {
  /** One more than `maxGroups` where there are more. */
  readonly groups: number;
  /** What the table takes, as it is estimated. */
  readonly bytes: number;
}

/**
 * Counts the groups of what is covered, all of which lies in the window, into a new table. The segments of the entry `from`, a part of it,
 * are not read again.
 */
export async function fillGroupByCache(
  scope: SearchScope,
  output: GroupsOutput,
  table: string,
  coverage: Coverage,
  from: GroupByCacheEntry | undefined,
  maxGroups: number,
): Promise<FilledGroups> {
  const covered = scope.during({ ...scope.plan.window, fromMs: coverage.fromMs });
  const events = covered.flushedEvents(coverage.segments.filter(({ id }) => from?.segments.has(id) !== true));
  await scope.run(fillGroupByCacheStatement(covered.plan, output, table, { table: from?.table, events }, maxGroups));
  const [[groups, textBytes] = []] = await scope.run(groupByCacheSizeStatement(output, table));
  return { groups: Number(groups), bytes: Number(groups) * (BYTES_OF_A_ROW + output.by.length * BYTES_OF_A_KEY) + Number(textBytes) };
}
