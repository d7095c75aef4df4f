import type { GroupDimension } from '../../../query/event-fields.ts';
import type { GroupsOutput } from '../../../query/plan/search-plan.ts';
import type { EventGroup, GroupsResult } from '../../../query/plan/search-result.ts';
import { groupOnceStatement, PAGE_ROWS } from '../../../sql/group-fact-statements.ts';
import { groupFingerprintStatement, groupSampleStatement } from '../../../sql/group-fingerprint-statements.ts';
import { groupPageStatement } from '../../../sql/group-statements.ts';
import { unmarkText } from '../../../sql/statement.ts';
import { rowsOfZones, type Segment } from '../segment/segment.ts';
import {
  areTooMany,
  type CountedPage,
  type FoundGroups,
  factsIn,
  type GroupFacts,
  pageIn,
  readContexts,
  readFacts,
} from './group-facts.ts';
import type { SearchScope } from './search-scope.ts';

/**
 * The most events of a zone whose matching ones are kept in memory while they are grouped. Of a zone with more events each phase of a group
 * search reads its own columns, which takes less memory, and less time where most events match.
 */
export interface MaxKept {
  /** For searches with a filter and short keys. */
  readonly filtered: number;
  readonly otherwise: number;
  /** Default: {@link SINGLETON_THRESHOLD}, which was measured. */
  readonly singletons?: SingletonThreshold;
}

export const MAX_KEPT: MaxKept = { filtered: 4_000_000, otherwise: 100_000 };

/** Groups are counted by fingerprints where a zone has this many events and nearly all of a sample are singleton groups. */
export interface SingletonThreshold {
  /** Number of the zone's flushed events. */
  readonly events: number;
  /** The least share of singleton groups in a sample, 0 to 1. */
  readonly share: number;
}

const SINGLETON_THRESHOLD: SingletonThreshold = { events: 500_000, share: 0.98 };
const SAMPLE = 20_000;
/** The most groups on this page and before it that are kept in order. */
const MAX_IN_ORDER = 1_000;

const LONG_TEXTS: ReadonlySet<GroupDimension> = new Set<GroupDimension>(['url', 'ua']);

/** The group-by cache, as a search uses it: `GroupByCache` in `cache/group-by-cache.ts`, which is above this folder. */
export interface GroupCache {
  /** Finds the page by cached groups; undefined where none help. */
  find(scope: SearchScope, output: GroupsOutput): Promise<FoundGroups | undefined>;
  /** Has to be called for every answer, cached or not, with its number of groups. */
  answered(scope: SearchScope, output: GroupsOutput, groups: number): void;
  /** Forgets all groups; resolves when DuckDB has dropped their tables. */
  evictAll(): Promise<void>;
}

/** Finds one page of groups and the number of all groups. With `cache`, groups found in segments are cached for later searches. */
export async function searchGroups(scope: SearchScope, output: GroupsOutput, maxKept: MaxKept, cache?: GroupCache): Promise<GroupsResult> {
  const cached = await cache?.find(scope, output);
  const found =
    cached ?? (keepsMatching(scope, output, maxKept) ? await groupAtOnce(scope, output) : await groupInTwoPhases(scope, output, maxKept));
  const { total, keys, facts } = found;
  cache?.answered(scope, output, total);
  const groups = keys.map((key, position) => eventGroup(output, key, facts[position] as GroupFacts));
  return { kind: 'groups', groups, total };
}

/** Returns whether the zone has few enough events for the matching ones to be kept in memory. */
function keepsMatching({ plan, flushedRows }: SearchScope, { by }: GroupsOutput, { filtered, otherwise }: MaxKept): boolean {
  const isFiltered = plan.where.kind !== 'everything' && !by.some((dimension) => LONG_TEXTS.has(dimension));
  return flushedRows <= (isFiltered ? filtered : otherwise);
}

async function groupAtOnce(scope: SearchScope, output: GroupsOutput): Promise<FoundGroups> {
  const rows = await scope.runner.run(groupOnceStatement(scope.plan, output, scope.events()));
  const byKind = Map.groupBy(rows, ([, absent]) => Number(absent));
  const [totalRow] = byKind.get(PAGE_ROWS.total) ?? [];
  const keys: string[][] = [];
  for (const row of byKind.get(PAGE_ROWS.key) ?? []) {
    keys[Number(row[0])] = row.slice(-output.by.length).map((key) => unmarkText(key as string));
  }
  const details = rows.filter(([, absent]) => Number(absent) >= 0);
  const page = { keys, isWhole: false };
  const facts = areTooMany(details) ? await readContexts(scope, output, page, scope.events()) : factsIn(details, page, output);
  return { total: Number(totalRow?.[6] ?? 0), keys, facts };
}

/** Finds the keys of the page, then the facts of these keys. */
async function groupInTwoPhases(scope: SearchScope, output: GroupsOutput, { singletons }: MaxKept): Promise<FoundGroups> {
  const page = await findFirstGroups(scope, output, singletons);
  return { ...page, facts: page.keys.length === 0 ? [] : await readFacts(scope, output, page, scope.events()) };
}

/** The keys of the page with their numbers of events, and the number of all groups. */
export async function findFirstGroups(scope: SearchScope, output: GroupsOutput, singletons?: SingletonThreshold): Promise<CountedPage> {
  const statement = (await areMostlySingletons(scope, output, singletons))
    ? groupFingerprintStatement(scope.plan, output, scope.events())
    : groupPageStatement(scope.plan, output, scope.events());
  return pageIn(await scope.runner.run(statement));
}

/** Returns whether nearly all groups of a sample of the zone's largest segment are singletons. */
async function areMostlySingletons(
  scope: SearchScope,
  output: GroupsOutput,
  { events, share }: SingletonThreshold = SINGLETON_THRESHOLD,
): Promise<boolean> {
  const { plan, segments } = scope;
  const rowsIn = (segment: Segment) => rowsOfZones(segment, plan.zones);
  const [largest] = segments.toSorted((a, b) => rowsIn(b) - rowsIn(a));
  const isWorth = scope.flushedRows >= events && (plan.page.index + 1) * plan.page.size <= MAX_IN_ORDER;
  if (largest === undefined || !isWorth || !output.by.some((dimension) => LONG_TEXTS.has(dimension))) {
    return false;
  }
  const [[sampled, groups] = []] = await scope.runner.run(groupSampleStatement(plan, output, scope.flushedEvents([largest]), SAMPLE));
  // A sample without matching events says nothing.
  return Number(sampled) > 0 && Number(groups) >= share * Number(sampled);
}

function eventGroup(output: GroupsOutput, key: readonly string[], facts: GroupFacts): EventGroup {
  const named: Partial<Record<GroupDimension, string>> = {};
  for (const [index, dimension] of output.by.entries()) {
    named[dimension] = key[index] ?? '';
  }
  const { count, firstSeen, lastSeen, sparkline } = facts;
  return { key: named, count, firstSeen, lastSeen, context: facts.context(), ...(output.buckets > 0 ? { sparkline } : {}) };
}
