import type { DuckDBValue } from '@duckdb/node-api';
import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput } from '../query/search-plan.ts';
import type { EventGroup, SearchResult } from '../query/search-result.ts';
import { duckdbDialect } from '../sql/duckdb-dialect.ts';
import { DETAIL_ROWS, type GroupPage, groupDetailStatement, groupPageStatement, isDirect } from '../sql/group-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import { GroupFacts } from './group-facts.ts';
import type { SearchScope } from './search-scope.ts';

/** One page of groups and the number of all: first the keys of the page, then everything about those keys. */
export async function searchGroups(scope: SearchScope, output: GroupsOutput): Promise<SearchResult> {
  const { plan } = scope;
  const pageRows = await scope.run(groupPageStatement(plan, output, scope.events(), duckdbDialect));
  const total = Number(pageRows[0]?.[0] ?? 0);
  const keys = pageRows.filter((row) => row.at(-1) !== null).map((row) => row.slice(1, -1).map((key) => unmarkText(key as string)));
  if (keys.length === 0) {
    return { kind: 'groups', groups: [], total };
  }
  const page = { keys, isWhole: keys.length === total };
  const details = await scope.run(groupDetailStatement(plan, output, page, scope.events(), duckdbDialect));
  const facts = collectFacts(details, page, output);
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
function collectFacts(details: readonly DuckDBValue[][], { keys, isWhole }: GroupPage, output: GroupsOutput): GroupFacts[] {
  const facts = keys.map(() => new GroupFacts(output.buckets));
  const positions = isDirect(output, isWhole) ? new Map(keys.map(([key], position) => [key, position])) : undefined;
  for (const [place, absent, country, asn, action, feature, events, firstSeen, lastSeen, listed] of details) {
    const position = positions === undefined ? Number(place) : positions.get(textOf(place) ?? '');
    const group = facts[position as number] as GroupFacts;
    switch (Number(absent)) {
      case DETAIL_ROWS.origin:
        group.addOrigin(textOf(country), textOf(asn), Number(events));
        break;
      case DETAIL_ROWS.verdict:
        group.addSpan(Number(events), Number(firstSeen), Number(lastSeen));
        group.addVerdict(textOf(action), textOf(feature), Number(events));
        break;
      case DETAIL_ROWS.buckets:
        for (const pair of (listed as string).split(',')) {
          const [bucket, inBucket] = pair.split(':');
          group.addBucket(Number(bucket), Number(inBucket));
        }
        break;
      default:
        group.ruleIds = textOf(listed) ?? '';
    }
  }
  return facts;
}

function textOf(marked: DuckDBValue | undefined): string | null {
  return typeof marked === 'string' ? unmarkText(marked) : null;
}
