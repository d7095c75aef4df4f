import type { Dimension } from '../../../query/dimensions.ts';
import type { GroupsOutput } from '../../../query/search-plan.ts';
import type { EventGroup, SearchResult } from '../../../query/search-result.ts';
import { duckdbDialect } from '../../../sql/duckdb-dialect.ts';
import { groupFingerprintStatement, groupSampleStatement } from '../../../sql/group-fingerprint-statements.ts';
import { groupOnceStatement, PAGE_ROWS } from '../../../sql/group-once-statement.ts';
import { groupDetailStatement, groupPageStatement } from '../../../sql/group-statements.ts';
import { unmarkText } from '../../../sql/marked-text.ts';
import type { Segment } from '../segment/segment.ts';
import { collectFacts } from './collect-facts.ts';
import { type FoundGroups, keysIn } from './found-groups.ts';
import type { GroupFacts } from './group-facts.ts';
import type { SearchScope } from './search-scope.ts';

/**
 * Of how many events of a zone the matching ones are kept while they are grouped. Of more, each phase of a group search reads what it needs
 * by itself, which takes less memory, and less time too where most events match.
 */
export interface MaxKept {
  /** Where a filter leaves some out, and the keys are short. */
  readonly filtered: number;
  readonly otherwise: number;
  /** Default: what has been measured to be worth it. */
  readonly singletons?: SingletonThreshold;
}

export const MAX_KEPT: MaxKept = { filtered: 4_000_000, otherwise: 100_000 };

/** Groups are counted by fingerprints where a zone has this many events and nearly all of a sample are singleton groups. */
export interface SingletonThreshold {
  /** Of the zone, in segments. */
  readonly events: number;
  /** The least share of a sample's events that are singleton groups. */
  readonly share: number;
}

const SINGLETON_THRESHOLD: SingletonThreshold = { events: 500_000, share: 0.98 };
const SAMPLE = 20_000;
/** Groups on this page and those before it, of which each is kept in order. */
const MAX_IN_ORDER = 1_000;

const LONG_TEXTS: ReadonlySet<Dimension> = new Set<Dimension>(['url', 'ua']);

/** Groups that earlier searches found in segments. */
export interface GroupCache {
  /** Finds the page with the help of what is cached; undefined where nothing cached helps. */
  find(scope: SearchScope, output: GroupsOutput): Promise<FoundGroups | undefined>;
  /** Is told of every answer and its number of groups, whoever found it. */
  answered(scope: SearchScope, output: GroupsOutput, groups: number): void;
}

/** One page of groups and the number of all. With `cache`, the counts in segments are kept for the next time. */
export async function searchGroups(scope: SearchScope, output: GroupsOutput, maxKept: MaxKept, cache?: GroupCache): Promise<SearchResult> {
  const cached = await cache?.find(scope, output);
  const { total, keys, facts } = cached ?? (await findAnew(scope, output, maxKept));
  cache?.answered(scope, output, total);
  const groups = keys.map((key, position) => eventGroup(output, key, facts[position] as GroupFacts));
  return { kind: 'groups', groups, total };
}

async function findAnew(scope: SearchScope, output: GroupsOutput, maxKept: MaxKept): Promise<FoundGroups> {
  const isFiltered = scope.plan.where.kind !== 'everything' && !output.by.some((dimension) => LONG_TEXTS.has(dimension));
  const most = isFiltered ? maxKept.filtered : maxKept.otherwise;
  return scope.flushedRows <= most
    ? await groupAtOnce(scope, output)
    : await groupInTwoPhases(scope, output, maxKept.singletons ?? SINGLETON_THRESHOLD);
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
async function groupInTwoPhases(scope: SearchScope, output: GroupsOutput, threshold: SingletonThreshold): Promise<FoundGroups> {
  const { plan } = scope;
  const statement = (await areMostlySingletons(scope, output, threshold))
    ? groupFingerprintStatement(plan, output, scope.events())
    : groupPageStatement(plan, output, scope.events(), duckdbDialect);
  const { total, keys } = keysIn(await scope.run(statement));
  if (keys.length === 0) {
    return { total, keys, facts: [] };
  }
  const page = { keys, isWhole: keys.length === total };
  const details = await scope.run(groupDetailStatement(plan, output, page, scope.events(), duckdbDialect));
  return { total, keys, facts: collectFacts(details, page, output) };
}

/** Whether nearly all groups are singletons, as a sample of the segment with the most events says. */
async function areMostlySingletons(scope: SearchScope, output: GroupsOutput, { events, share }: SingletonThreshold): Promise<boolean> {
  const { plan, segments } = scope;
  const zoneRowsIn = (segment: Segment) => segment.zoneRows.get(plan.zoneId) ?? 0;
  const [largest] = segments.toSorted((a, b) => zoneRowsIn(b) - zoneRowsIn(a));
  const isWorth = scope.flushedRows >= events && (plan.page.index + 1) * plan.page.size <= MAX_IN_ORDER;
  if (largest === undefined || !isWorth || !output.by.some((dimension) => LONG_TEXTS.has(dimension))) {
    return false;
  }
  const [[sampled, groups] = []] = await scope.run(groupSampleStatement(plan, output, scope.flushedEvents([largest]), SAMPLE));
  // Where the filter finds nothing there, nothing is known.
  return Number(sampled) > 0 && Number(groups) >= share * Number(sampled);
}

function eventGroup(output: GroupsOutput, key: readonly string[], facts: GroupFacts): EventGroup {
  const named: Partial<Record<Dimension, string>> = {};
  for (const [place, dimension] of output.by.entries()) {
    named[dimension] = key[place] ?? '';
  }
  const { count, firstSeen, lastSeen, sparkline } = facts;
  return { key: named, count, firstSeen, lastSeen, context: facts.context(), ...(output.buckets > 0 ? { sparkline } : {}) };
}
