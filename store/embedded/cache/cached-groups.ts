import type { GroupsOutput } from '../../../query/search-plan.ts';
import { duckdbDialect } from '../../../sql/duckdb-dialect.ts';
import { allEvents, eventsBefore } from '../../../sql/events-relation.ts';
import type { SqlFragment } from '../../../sql/fragment.ts';
import { countedPageStatement, groupTimesStatement, TIMES_BELOW } from '../../../sql/group-by-cache-statements.ts';
import { groupDetailStatement } from '../../../sql/group-statements.ts';
import { collectFacts } from '../search/collect-facts.ts';
import { type FoundGroups, keysIn } from '../search/found-groups.ts';
import { GroupFacts } from '../search/group-facts.ts';
import type { SearchScope } from '../search/search-scope.ts';
import type { Segment } from '../segment/segment.ts';
import { addToSparkline, BYTES_OF_A_TIME, bucketStarts, type EventTimes, mergeTimes, TimesCollector } from './event-times.ts';
import { bytesOf, type CachedGroup, type GroupByCacheEntry } from './group-by-cache-entry.ts';
import { segmentsCut } from './group-coverage.ts';

/** Whether there is room for so many bytes more. */
export type HasRoom = (bytes: number) => boolean;

/** Finds one page of a group search from the cache entry of its segments, from the other segments, and from the unflushed events. */
export async function findCached(
  scope: SearchScope,
  output: GroupsOutput,
  entry: GroupByCacheEntry,
  hasRoom: HasRoom,
): Promise<FoundGroups> {
  const { plan } = scope;
  const events = eventsBeside(scope, entry);
  const found = keysIn(await scope.run(countedPageStatement(plan, output, { table: entry.table, events }, duckdbDialect)));
  if (found.keys.length === 0) {
    return { ...found, facts: [] };
  }
  const page = { ...found, isWhole: found.keys.length === found.total };
  const details = async (part: typeof events) =>
    await scope.run(groupDetailStatement(plan, output, page, part ?? scope.events(), duckdbDialect));
  const known = await cachedGroups(scope, output, page, entry, hasRoom);
  if (known === undefined) {
    return { ...found, facts: collectFacts(await details(undefined), page, output) };
  }
  const starts = output.buckets > 0 ? bucketStarts(plan.window, output.buckets) : [];
  const facts = known.map(({ facts, times }) => {
    const all = new GroupFacts(output.buckets);
    all.addAll(facts);
    if (times !== undefined) {
      addToSparkline(all, times, starts);
    }
    return all;
  });
  return { ...found, facts: events === undefined ? facts : collectFacts(await details(events), page, output, facts) };
}

/** What is not covered: the unflushed events, other segments, and what those that are cut have before. Undefined: nothing. */
function eventsBeside(scope: SearchScope, { segments, coverage }: GroupByCacheEntry): SqlFragment | undefined {
  const { window } = scope.plan;
  const rest = scope.segments.filter(({ id }) => !segments.has(id));
  const beside = rest.length + scope.growingSegments.length === 0 ? undefined : scope.events(window, rest);
  const cut = coverage.fromMs === window.fromMs ? [] : segmentsCut(coverage);
  if (cut.length === 0) {
    return beside;
  }
  const before = eventsBefore(scope.during({ ...window, toMs: coverage.fromMs }).flushedEvents(cut), coverage.fromMs);
  return beside === undefined ? before : allEvents([beside, before]);
}

interface CountedPage {
  readonly keys: readonly (readonly string[])[];
  /** How many events each has; there may be others that are not of the entry. */
  readonly counts: readonly number[];
  readonly isWhole: boolean;
}

/**
 * What is cached of the page's groups in what the entry covers. What is not cached yet is read; undefined where there is no room for it.
 */
async function cachedGroups(
  scope: SearchScope,
  output: GroupsOutput,
  { keys, counts, isWhole }: CountedPage,
  entry: GroupByCacheEntry,
  hasRoom: HasRoom,
): Promise<readonly CachedGroup[] | undefined> {
  const { segments, fromMs } = entry.coverage;
  const covered = scope.during({ ...scope.plan.window, fromMs });
  const groups = keys.map((key) => entry.cached(key));
  const places = Map.groupBy(keys.keys(), (place) => groups[place]?.segments);
  for (const [before, behind] of places) {
    if (before === entry.segments) {
      continue;
    }
    const most = behind.reduce((sum, place) => sum + (counts[place] as number), 0) * (output.buckets > 0 ? BYTES_OF_A_TIME : 0);
    if (entry.isFull || (output.buckets > 0 && spanMs(segments) >= TIMES_BELOW) || !hasRoom(most)) {
      entry.isFull = true;
      return undefined;
    }
    const wanted = { keys: behind.map((place) => keys[place] as readonly string[]), isWhole: isWhole && behind.length === keys.length };
    const unread = segments.filter(({ id }) => before?.has(id) !== true);
    const read = await readGroups(covered, output, wanted, unread).catch((error: unknown) => {
      entry.isFull = true;
      throw error;
    });
    const learned = behind.map((place, index) => mergeCachedGroups(groups[place], read[index] as GroupPart, entry.segments));
    if (hasRoom(learned.reduce((sum, group) => sum + bytesOf(group), 0))) {
      entry.add(wanted.keys, learned);
    } else {
      entry.isFull = true;
    }
    for (const [index, place] of behind.entries()) {
      groups[place] = learned[index];
    }
  }
  entry.dropOlder();
  return groups as CachedGroup[];
}

type GroupPart = Omit<CachedGroup, 'segments'>;

async function readGroups(
  scope: SearchScope,
  output: GroupsOutput,
  wanted: Pick<CountedPage, 'keys' | 'isWhole'>,
  segments: readonly Segment[],
): Promise<GroupPart[]> {
  const byTime = segments.toSorted((a, b) => a.minTimestamp - b.minTimestamp);
  const events = scope.flushedEvents(byTime);
  const contexts = { ...output, buckets: 0 };
  const facts = collectFacts(await scope.run(groupDetailStatement(scope.plan, contexts, wanted, events, duckdbDialect)), wanted, contexts);
  if (output.buckets === 0) {
    return facts.map((one) => ({ facts: one, times: undefined }));
  }
  const originMs = byTime[0]?.minTimestamp ?? 0;
  const collector = new TimesCollector(wanted.keys.length, originMs);
  const statement = groupTimesStatement(scope.plan, output, wanted.keys, events, originMs, duckdbDialect);
  await scope.streamNumbers(statement, (placed) => collector.take(placed));
  const times = collector.times();
  return facts.map((one, place) => ({ facts: one, times: times[place] }));
}

function mergeCachedGroups(before: CachedGroup | undefined, part: GroupPart, segments: ReadonlySet<number>): CachedGroup {
  if (before === undefined) {
    return { ...part, segments };
  }
  const facts = new GroupFacts(0);
  facts.addAll(before.facts);
  facts.addAll(part.facts);
  const times = part.times === undefined ? undefined : mergeTimes(before.times as EventTimes, part.times);
  return { facts, times, segments };
}

function spanMs(segments: readonly Segment[]): number {
  return Math.max(...segments.map(({ maxTimestamp }) => maxTimestamp)) - Math.min(...segments.map(({ minTimestamp }) => minTimestamp));
}
