import type { TimeWindow } from '../../../query/plan/search-plan.ts';
import type { GroupsResult } from '../../../query/plan/search-result.ts';
import { fileSlotCountStatement } from '../../../sql/row-statements.ts';
import type { CountedRange } from '../../counted-ranges.ts';
import { liesWithin, rowsOfZones, type Segment } from '../segment/segment.ts';
import { countBySlot, disjointRanges, locatePage, type PageLocation, slotRange, slotsOf } from './page-location.ts';
import { type ReadRows, RowCursor } from './row-pieces.ts';
import type { SearchScope } from './search-scope.ts';
import type { SegmentCounts } from './segment-counts.ts';

/** A range with no more events is sorted as it is; a larger one is divided again. */
const FEW_MATCHING = 20_000;

/**
 * A range in more segments is divided again, too: most of them hold nothing of the page, and each costs a row group. This bounds nothing: a
 * range that cannot be divided is read from all its segments.
 */
const FEW_SEGMENTS = 2;

/** A range is not divided for its many segments where the zone has no more rows in them: reading these costs less than counting again. */
const FEW_ROWS = 20_000;

/** A page of rows that was found. Its first piece is read, so that an error comes before anything is answered. */
export interface FoundRows {
  readonly kind: 'rows';
  readonly total: number;
  /** The first piece; undefined where the page has no rows. */
  readonly first: ReadRows | undefined;
  /** The rows behind the first piece; undefined where there are no more. */
  readonly rest: RowCursor | undefined;
}

/** A page of rows whose first piece is read, or a page of groups. */
export type FoundPage = FoundRows | GroupsResult;

/**
 * Finds one page of rows and the number of all rows. The events are first counted by time slot, which reads no more than the filtered
 * columns. Then only the slots that hold the page are sorted, so that a deep page costs what the first one costs. Logs are read for the
 * rows of the page only, and of a page that is no small one piece by piece. With `counts`, segments are counted once for all searches.
 */
export async function searchRows(scope: SearchScope, counts?: SegmentCounts): Promise<FoundRows> {
  const { page, where } = scope.plan;
  const ranges = where.kind === 'everything' ? await countUnfiltered(scope) : await countMatching(scope, counts);
  const total = ranges.reduce((sum, { events }) => sum + events, 0);
  const located = locatePage(ranges, page.index * page.size, page.size);
  if (located === undefined) {
    return { kind: 'rows', total, first: undefined, rest: undefined };
  }
  const narrow = await narrowDown(scope, located);
  const cursor = new RowCursor(narrow, narrow.skip, Math.min(page.size, narrow.events - narrow.skip));
  const first = await cursor.next(scope, page.size, true);
  return { kind: 'rows', total, first, rest: cursor.left === 0 ? undefined : cursor };
}

/** Counts the matching events. Segments whose count is known are not read. */
async function countMatching(scope: SearchScope, counts: SegmentCounts | undefined): Promise<CountedRange[]> {
  const { plan, segments } = scope;
  const { window } = plan;
  if (counts === undefined) {
    return await countBySlot(scope, window);
  }
  const bySegment = counts.of(plan);
  const [known, unknown] = partition(segments, (segment) => liesWithin(segment, window) && bySegment.has(segment.id));
  const slots = slotsOf(window, scope.newestMs);
  const statement = fileSlotCountStatement(plan, scope.eventsByFile(unknown), slots);
  const counted = unknown.length === 0 && scope.growingSegments.length === 0 ? [] : await scope.runner.run(statement);
  const byFile = Map.groupBy(counted, ([file]) => file);
  for (const segment of unknown.filter((one) => liesWithin(one, window))) {
    const inSegment = byFile.get(scope.fileOf(segment)) ?? [];
    bySegment.set(
      segment.id,
      inSegment.reduce((sum, [, , events]) => sum + Number(events), 0),
    );
  }
  const ranges = known.map((segment) => rangeOfSegment(segment, bySegment.get(segment.id) ?? 0)).filter(({ events }) => events > 0);
  return disjointRanges([...ranges, ...counted.map(([, slot, events]) => slotRange(slots, Number(slot), Number(events)))]);
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function rangeOfSegment({ minTimestamp, maxTimestamp }: Segment, events: number): CountedRange {
  return { fromMs: minTimestamp, toMs: maxTimestamp + 1, events };
}

/** Counts the events of a search without a filter. Only segments that the window cuts are read: the counts of others are known. */
async function countUnfiltered(scope: SearchScope): Promise<CountedRange[]> {
  const { window, zones } = scope.plan;
  const [inside, cut] = partition(scope.segments, (segment) => liesWithin(segment, window));
  const known = inside.map((segment) => rangeOfSegment(segment, rowsOfZones(segment, zones)));
  const counted = cut.length === 0 && scope.growingSegments.length === 0 ? [] : await countBySlot(scope, window, cut);
  return disjointRanges([...counted, ...known]);
}

/** A shorter range with the page in it, whose events are few and lie in few segments, as short as it can be divided. */
async function narrowDown(scope: SearchScope, located: PageLocation): Promise<PageLocation> {
  const { size } = scope.plan.page;
  let narrow = located;
  while (isWorthDividing(scope, narrow)) {
    const narrower = locatePage(await countBySlot(scope, narrow), narrow.skip, size);
    if (narrower === undefined || widthMs(narrower) >= widthMs(narrow)) {
      break;
    }
    narrow = narrower;
  }
  return narrow;
}

function isWorthDividing(scope: SearchScope, range: PageLocation): boolean {
  const segments = scope.segmentsIn(range);
  const areFew = segments.length <= FEW_SEGMENTS || scope.rowsIn(segments) <= FEW_ROWS;
  const isShort = range.events <= FEW_MATCHING && areFew;
  return !isShort && range.events > scope.plan.page.size && widthMs(range) > 1;
}

function widthMs({ fromMs, toMs }: TimeWindow): number {
  return toMs - fromMs;
}
