import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput } from '../query/search-plan.ts';
import type { EventGroup, SearchResult } from '../query/search-result.ts';
import { duckdbDialect } from '../sql/duckdb-dialect.ts';
import { groupOnceStatement, PAGE_ROWS } from '../sql/group-once-statement.ts';
import { groupDetailStatement, groupPageStatement } from '../sql/group-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import { collectFacts } from './collect-facts.ts';
import { type FoundGroups, keysIn } from './found-groups.ts';
import type { GroupFacts } from './group-facts.ts';
import type { GroupMemory } from './group-memory.ts';
import { findRemembered } from './remembered-groups.ts';
import type { SearchScope } from './search-scope.ts';

/**
 * Of how many events of a zone the matching ones are kept while they are grouped. Of more, each phase of a group search reads what it needs by itself,
 * which takes less memory, and less time too where most events match.
 */
export interface MostKept {
  /** Where a filter leaves some out, and the keys are short. */
  readonly filtered: number;
  readonly otherwise: number;
}

export const MOST_KEPT: MostKept = { filtered: 4_000_000, otherwise: 100_000 };

const LONG_TEXTS: ReadonlySet<Dimension> = new Set<Dimension>(['url', 'ua']);

/** One page of groups and the number of all. With `memory`, what is found in segments is kept for the next time. */
export async function searchGroups(
  scope: SearchScope,
  output: GroupsOutput,
  mostKept: MostKept,
  memory?: GroupMemory,
): Promise<SearchResult> {
  const remembered = await memory?.use(scope, output, (base) => findRemembered(scope, output, base, memory));
  const { total, keys, facts } = remembered ?? (await findAnew(scope, output, mostKept));
  memory?.answered(scope, output, total);
  const groups = keys.map((key, position) => eventGroup(output, key, facts[position] as GroupFacts));
  return { kind: 'groups', groups, total };
}

async function findAnew(scope: SearchScope, output: GroupsOutput, mostKept: MostKept): Promise<FoundGroups> {
  const isFiltered = scope.plan.where.kind !== 'everything' && !output.by.some((dimension) => LONG_TEXTS.has(dimension));
  const most = isFiltered ? mostKept.filtered : mostKept.otherwise;
  return scope.sealedRows <= most ? await groupAtOnce(scope, output) : await groupInTwoPhases(scope, output);
}

async function groupAtOnce(scope: SearchScope, output: GroupsOutput): Promise<FoundGroups> {
  const rows = await scope.run(groupOnceStatement(scope.plan, output, scope.events(), duckdbDialect));
  const byKind = Map.groupBy(rows, ([, absent]) => Number(absent));
  const [totalRow] = byKind.get(PAGE_ROWS.total) ?? [];
  const keys: string[][] = [];
  for (const row of byKind.get(PAGE_ROWS.key) ?? []) {
    keys[Number(row[0])] = row.slice(-output.by.length).map((key) => unmarkText(key as string));
  }
  const details = rows.filter(([, absent]) => Number(absent) >= 0);
  return { total: Number(totalRow?.[6] ?? 0), keys, facts: collectFacts(details, { keys, isWhole: false }, output) };
}

/** First the keys of the page, then everything about those keys. */
async function groupInTwoPhases(scope: SearchScope, output: GroupsOutput): Promise<FoundGroups> {
  const { plan } = scope;
  const { total, keys } = keysIn(await scope.run(groupPageStatement(plan, output, scope.events(), duckdbDialect)));
  if (keys.length === 0) {
    return { total, keys, facts: [] };
  }
  const page = { keys, isWhole: keys.length === total };
  const details = await scope.run(groupDetailStatement(plan, output, page, scope.events(), duckdbDialect));
  return { total, keys, facts: collectFacts(details, page, output) };
}

function eventGroup(output: GroupsOutput, key: readonly string[], facts: GroupFacts): EventGroup {
  const named: Partial<Record<Dimension, string>> = {};
  for (const [place, dimension] of output.by.entries()) {
    named[dimension] = key[place] ?? '';
  }
  const { count, firstSeen, lastSeen, sparkline } = facts;
  return { key: named, count, firstSeen, lastSeen, context: facts.context(), ...(output.buckets > 0 ? { sparkline } : {}) };
}
