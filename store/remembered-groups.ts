import type { GroupsOutput } from '../query/search-plan.ts';
import { duckdbDialect } from '../sql/duckdb-dialect.ts';
import { allEvents, eventsBefore } from '../sql/events-relation.ts';
import type { SqlFragment } from '../sql/fragment.ts';
import { countedPageStatement, groupTimesStatement, TIMES_BELOW } from '../sql/group-memory-statements.ts';
import { groupDetailStatement } from '../sql/group-statements.ts';
import { collectFacts } from './collect-facts.ts';
import { addToSparkline, BYTES_OF_A_TIME, bucketStarts, type EventTimes, mergeTimes, TimesCollector } from './event-times.ts';
import { type FoundGroups, keysIn } from './found-groups.ts';
import { bytesOf, type GroupBase, type KnownGroup } from './group-base.ts';
import { segmentsCut } from './group-coverage.ts';
import { GroupFacts } from './group-facts.ts';
import type { GroupMemory } from './group-memory.ts';
import type { SearchScope } from './search-scope.ts';
import type { Segment } from './segment.ts';

/** One page of a group search, read from what is remembered of its segments, from the others, and from the unflushed events. */
export async function findRemembered(scope: SearchScope, output: GroupsOutput, base: GroupBase, memory: GroupMemory): Promise<FoundGroups> {
  const { plan } = scope;
  const events = eventsBeside(scope, base);
  const found = keysIn(await scope.run(countedPageStatement(plan, output, { table: base.table, events }, duckdbDialect)));
  if (found.keys.length === 0) {
    return { ...found, facts: [] };
  }
  const page = { ...found, isWhole: found.keys.length === found.total };
  const details = async (part: typeof events) =>
    await scope.run(groupDetailStatement(plan, output, page, part ?? scope.events(), duckdbDialect));
  const known = await knownGroups(scope, output, page, base, memory);
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
function eventsBeside(scope: SearchScope, { segments, coverage }: GroupBase): SqlFragment | undefined {
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
  /** How many events each has; there may be others that are not of the base. */
  readonly counts: readonly number[];
  readonly isWhole: boolean;
}

/** What is known of the page's groups in what the base covers. What is not known yet is read; undefined where there is no room for it. */
async function knownGroups(
  scope: SearchScope,
  output: GroupsOutput,
  { keys, counts, isWhole }: CountedPage,
  base: GroupBase,
  memory: GroupMemory,
): Promise<readonly KnownGroup[] | undefined> {
  const { segments, fromMs } = base.coverage;
  const covered = scope.during({ ...scope.plan.window, fromMs });
  const groups = keys.map((key) => base.known(key));
  const places = Map.groupBy(keys.keys(), (place) => groups[place]?.segments);
  for (const [before, behind] of places) {
    if (before === base.segments) {
      continue;
    }
    const most = behind.reduce((sum, place) => sum + (counts[place] as number), 0) * (output.buckets > 0 ? BYTES_OF_A_TIME : 0);
    if (base.isFull || (output.buckets > 0 && spanMs(segments) >= TIMES_BELOW) || !memory.makeRoom(most)) {
      base.isFull = true;
      return undefined;
    }
    const wanted = { keys: behind.map((place) => keys[place] as readonly string[]), isWhole: isWhole && behind.length === keys.length };
    const unread = segments.filter(({ id }) => before?.has(id) !== true);
    const read = await readGroups(covered, output, wanted, unread).catch((error: unknown) => {
      base.isFull = true;
      throw error;
    });
    const learned = behind.map((place, index) => together(groups[place], read[index] as GroupPart, base.segments));
    if (memory.makeRoom(learned.reduce((sum, group) => sum + bytesOf(group), 0))) {
      base.remember(wanted.keys, learned);
    } else {
      base.isFull = true;
    }
    for (const [index, place] of behind.entries()) {
      groups[place] = learned[index];
    }
  }
  base.forgetOlder();
  return groups as KnownGroup[];
}

type GroupPart = Omit<KnownGroup, 'segments'>;

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

function together(before: KnownGroup | undefined, part: GroupPart, segments: ReadonlySet<number>): KnownGroup {
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
