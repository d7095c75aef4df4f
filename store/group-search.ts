import type { DuckDBValue } from '@duckdb/node-api';
import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput } from '../query/search-plan.ts';
import type { EventGroup, SearchResult } from '../query/search-result.ts';
import { duckdbDialect } from '../sql/duckdb-dialect.ts';
import { BUCKET_ROW, COUNTED_COLUMNS, groupDetailStatement, groupPageStatement, groupRow, valueRow } from '../sql/group-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import { GroupFacts } from './group-facts.ts';
import type { SearchScope } from './search-scope.ts';

/** One page of groups and the number of all: first the keys of the page, then everything about those keys. */
export async function searchGroups(scope: SearchScope, output: GroupsOutput): Promise<SearchResult> {
  const pageRows = await scope.run(groupPageStatement(scope.plan, output, scope.events(), duckdbDialect));
  const total = Number(pageRows[0]?.[0] ?? 0);
  const keys = pageRows.filter((row) => row.at(-1) !== null).map((row) => row.slice(1, -1).map((key) => unmarkText(key as string)));
  if (keys.length === 0) {
    return { kind: 'groups', groups: [], total };
  }
  const details = await scope.run(groupDetailStatement(scope.plan, output, keys, scope.events(), duckdbDialect));
  const facts = collectFacts(details, keys.length, output);
  const groups = keys.map((key, position) => eventGroup(output, key, facts[position] as GroupFacts));
  return { kind: 'groups', groups, total };
}

function eventGroup(output: GroupsOutput, key: readonly string[], facts: GroupFacts): EventGroup {
  const named: Partial<Record<Dimension, string>> = {};
  for (const [place, dimension] of output.by.entries()) {
    named[dimension] = key[place] ?? '';
  }
  const { count, firstSeen, lastSeen, sparkline } = facts;
  return { key: named, count, firstSeen, lastSeen, context: facts.context(), ...(output.buckets > 0 ? { sparkline } : {}) };
}

/** Sorts the rows of `groupDetailStatement` to the groups they are about. */
function collectFacts(details: readonly DuckDBValue[][], groups: number, { buckets }: GroupsOutput): GroupFacts[] {
  const facts = Array.from({ length: groups }, () => new GroupFacts(buckets));
  const countedByRow = new Map(COUNTED_COLUMNS.map((name, place) => [valueRow(name, buckets), { name, place }]));
  const firstCounted = buckets > 0 ? 3 : 2;
  for (const row of details) {
    const [position, absent] = [Number(row[0]), Number(row[1])];
    const [events, firstSeen, lastSeen] = row.slice(firstCounted + COUNTED_COLUMNS.length).map(Number);
    const group = facts[position] as GroupFacts;
    const counted = countedByRow.get(absent);
    if (absent === groupRow(buckets)) {
      group.setSpan(events as number, firstSeen as number, lastSeen as number);
    } else if (counted !== undefined) {
      const value = row[firstCounted + counted.place] as string | null;
      group.addValue(counted.name, value === null ? null : unmarkText(value), events as number);
    } else if (absent === BUCKET_ROW) {
      group.addBucket(Number(row[2]), events as number);
    }
  }
  return facts;
}
