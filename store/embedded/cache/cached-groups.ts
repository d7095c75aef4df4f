import type { GroupsOutput } from '../../../query/plan/search-plan.ts';
import { allEvents, eventsBefore } from '../../../sql/events-relation.ts';
import { type GroupPage, MAX_ADDED_FACTS } from '../../../sql/group-fact-statements.ts';
import { countedPageStatement, groupTimesStatement, TIMES_BELOW } from '../../../sql/group-statements.ts';
import type { SqlFragment } from '../../../sql/statement.ts';
import type { CheckedSegment } from '../integrity/segment-checks.ts';
import { type CountedPage, type FoundGroups, GroupFacts, pageIn, readFacts, readFactsToAddUp } from '../search/group-facts.ts';
import type { SearchScope } from '../search/search-scope.ts';
import { bytesOfGroup, type CachedGroup, type GroupByCacheEntry } from './group-by-cache-entry.ts';
import { segmentsCut } from './group-coverage.ts';
import { addToSparkline, BYTES_OF_A_TIME, bucketStarts, type GroupTimes, mergeTimes, TimesCollector } from './group-times.ts';

/** Returns whether there is room for so many more bytes. */
export type FitsBudget = (bytes: number) => boolean;

/** Finds one page of a group search from the cache entry of its segments, from the other segments, and from the unflushed events. */
export async function findCached(
  scope: SearchScope,
  output: GroupsOutput,
  entry: GroupByCacheEntry,
  fits: FitsBudget,
): Promise<FoundGroups> {
  const { plan } = scope;
  const events = eventsBeside(scope, entry);
  const page = pageIn(await scope.runner.run(countedPageStatement(plan, output, { table: entry.table, events })));
  if (page.keys.length === 0) {
    return { ...page, facts: [] };
  }
  const cached = await cachedGroups(scope, output, page, entry, fits);
  const beside = cached === undefined || events === undefined ? undefined : await readFactsToAddUp(scope, output, page, events);
  if (cached === undefined || (events !== undefined && beside === undefined)) {
    return { ...page, facts: await readFacts(scope, output, page, scope.events()) };
  }
  const starts = output.buckets > 0 ? bucketStarts(plan.window, output.buckets) : [];
  const facts = cached.map(({ facts, times }, index) => {
    const all = beside?.[index] ?? new GroupFacts(output.buckets);
    all.addAll(facts);
    if (times !== undefined) {
      addToSparkline(all, times, starts);
    }
    return all;
  });
  return { ...page, facts };
}

/** The events that the entry does not cover: unflushed ones, those of other segments, and earlier ones of cut segments; undefined: none. */
function eventsBeside(scope: SearchScope, { segments, coverage }: GroupByCacheEntry): SqlFragment | undefined {
  const { window } = scope.plan;
  const rest = scope.segments.filter(({ id }) => !segments.has(id));
  const beside = rest.length + scope.growingSegments.length === 0 ? undefined : scope.events(window, rest);
  const cut = coverage.fromMs === window.fromMs ? [] : segmentsCut(coverage);
  if (cut.length === 0) {
    return beside;
  }
  const before = eventsBefore(scope.asking({ window: { ...window, toMs: coverage.fromMs } }).flushedEvents(cut), coverage.fromMs);
  return beside === undefined ? before : allEvents([beside, before]);
}

/**
 * The cached facts of the page's groups in what the entry covers. Facts that are not cached yet are read and cached; undefined where there
 * is no room for them, or the groups have so many values that the engine has to make their texts.
 */
async function cachedGroups(
  scope: SearchScope,
  output: GroupsOutput,
  { keys, counts, isWhole }: CountedPage,
  entry: GroupByCacheEntry,
  fits: FitsBudget,
): Promise<readonly CachedGroup[] | undefined> {
  const { segments, fromMs } = entry.coverage;
  const covered = scope.asking({ window: { ...scope.plan.window, fromMs } });
  const groups = keys.map((key) => entry.cached(key));
  const indexesBySegments = Map.groupBy(keys.keys(), (index) => groups[index]?.segments);
  for (const [before, indexes] of indexesBySegments) {
    if (before === entry.segments) {
      continue;
    }
    const maxBytes = indexes.reduce((sum, index) => sum + (counts[index] as number), 0) * (output.buckets > 0 ? BYTES_OF_A_TIME : 0);
    if (entry.isFull || (output.buckets > 0 && spanMs(segments) >= TIMES_BELOW) || !fits(maxBytes)) {
      entry.isFull = true;
      return undefined;
    }
    const wanted = { keys: indexes.map((index) => keys[index] as readonly string[]), isWhole: isWhole && indexes.length === keys.length };
    const unread = segments.filter(({ id }) => before?.has(id) !== true);
    const read = await readGroups(covered, output, wanted, unread).catch((error: unknown) => {
      entry.isFull = true;
      throw error;
    });
    if (read === undefined) {
      entry.isFull = true;
      return undefined;
    }
    const learned = indexes.map((index, nth) => mergeCachedGroups(groups[index], read[nth] as GroupPart, entry.segments));
    if (areMany(learned)) {
      entry.isFull = true;
      return undefined;
    }
    if (fits(learned.reduce((sum, group, nth) => sum + bytesOfGroup(wanted.keys[nth] as readonly string[], group), 0))) {
      entry.add(wanted.keys, learned);
    } else {
      entry.isFull = true;
    }
    for (const [nth, index] of indexes.entries()) {
      groups[index] = learned[nth];
    }
  }
  entry.dropOlder();
  return groups as CachedGroup[];
}

type GroupPart = Omit<CachedGroup, 'segments'>;

/** Reads the facts of groups from these segments; undefined where the groups have too many values to be kept. */
async function readGroups(
  scope: SearchScope,
  output: GroupsOutput,
  wanted: GroupPage,
  segments: readonly CheckedSegment[],
): Promise<GroupPart[] | undefined> {
  const byTime = segments.toSorted((a, b) => a.minTimestamp - b.minTimestamp);
  const events = scope.flushedEvents(byTime);
  const contexts = { ...output, buckets: 0 };
  const facts = await readFactsToAddUp(scope, contexts, wanted, events);
  if (facts === undefined || output.buckets === 0) {
    return facts?.map((one) => ({ facts: one, times: undefined }));
  }
  const originMs = byTime[0]?.minTimestamp ?? 0;
  const collector = new TimesCollector(wanted.keys.length, originMs);
  const statement = groupTimesStatement(scope.plan, output, wanted.keys, events, originMs);
  await scope.runner.stream(statement, (chunk) => {
    collector.take(chunk.getColumnValues(0) as number[]);
    return true;
  });
  const times = collector.times();
  return facts.map((one, index) => ({ facts: one, times: times[index] }));
}

/** Whether the groups have more values than are sorted here within some milliseconds. */
function areMany(groups: readonly CachedGroup[]): boolean {
  return groups.reduce((sum, { facts }) => sum + facts.values().length, 0) > MAX_ADDED_FACTS.rows;
}

function mergeCachedGroups(before: CachedGroup | undefined, part: GroupPart, segments: ReadonlySet<number>): CachedGroup {
  if (before === undefined) {
    return { ...part, segments };
  }
  const facts = new GroupFacts(0);
  facts.addAll(before.facts);
  facts.addAll(part.facts);
  const times = part.times === undefined ? undefined : mergeTimes(before.times as GroupTimes, part.times);
  return { facts, times, segments };
}

function spanMs(segments: readonly CheckedSegment[]): number {
  return Math.max(...segments.map(({ maxTimestamp }) => maxTimestamp)) - Math.min(...segments.map(({ minTimestamp }) => minTimestamp));
}
