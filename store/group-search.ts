import type { DuckDBValue } from '@duckdb/node-api';
import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput } from '../query/search-plan.ts';
import type { EventGroup, SearchResult } from '../query/search-result.ts';
import { duckdbDialect } from '../sql/duckdb-dialect.ts';
import { DETAIL_ROWS } from '../sql/group-facts.ts';
import { groupOnceStatement, PAGE_ROWS } from '../sql/group-once-statement.ts';
import { type GroupPage, groupDetailStatement, groupPageStatement, isDirect } from '../sql/group-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import { GroupFacts } from './group-facts.ts';
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

/** One page of groups and the number of all. */
export async function searchGroups(scope: SearchScope, output: GroupsOutput, mostKept: MostKept): Promise<SearchResult> {
  const isFiltered = scope.plan.where.kind !== 'everything' && !output.by.some((dimension) => LONG_TEXTS.has(dimension));
  const most = isFiltered ? mostKept.filtered : mostKept.otherwise;
  const { total, keys, facts } = scope.sealedRows <= most ? await groupAtOnce(scope, output) : await groupInTwoPhases(scope, output);
  const groups = keys.map((key, position) => eventGroup(output, key, facts[position] as GroupFacts));
  return { kind: 'groups', groups, total };
}

/** A page of groups: their keys in the order of the answer, and what is known of each. */
interface FoundGroups {
  readonly total: number;
  readonly keys: readonly (readonly string[])[];
  readonly facts: readonly GroupFacts[];
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
  const pageRows = await scope.run(groupPageStatement(plan, output, scope.events(), duckdbDialect));
  const total = Number(pageRows[0]?.[0] ?? 0);
  const keys = pageRows.filter((row) => row.at(-1) !== null).map((row) => row.slice(1, -1).map((key) => unmarkText(key as string)));
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

/** Sorts rows of `factRows` to the groups they are about. */
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
