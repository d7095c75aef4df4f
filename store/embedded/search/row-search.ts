import type { DuckDBValue } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import type { TimeWindow } from '../../../query/search-plan.ts';
import type { EventRow, SearchResult } from '../../../query/search-result.ts';
import { column } from '../../../sql/columns.ts';
import { duckdbDialect } from '../../../sql/duckdb-dialect.ts';
import { joinSql } from '../../../sql/fragment.ts';
import { markText, unmarkText } from '../../../sql/marked-text.ts';
import { fileSlotCountStatement, rowPageStatement } from '../../../sql/row-statements.ts';
import { unpackLog } from '../blob/unpack-log.ts';
import { liesWithin } from '../segment/segment.ts';
import { readLogs } from './log-reader.ts';
import { type CountedRange, disjointRanges, locatePage, type PageLocation } from './page-location.ts';
import { rangesOfTimes } from './ranges-of-times.ts';
import type { FlushedPart, SearchScope } from './search-scope.ts';
import type { SegmentCounts } from './segment-counts.ts';
import { countBySlot, slotRange, slotsOf } from './slot-counts.ts';

/** A range of time with no more events than this is sorted as it is; a longer one is divided again. */
const SORTED_AT_ONCE = 20_000;

/** One that lies in more segments than this is divided again too: most of them hold nothing of the page, and each costs a row group. */
const READ_AT_ONCE = 2;

const SELECTED = joinSql(
  [column('timestamp'), column('logPlace'), ...(['logId', ...TEXT_FIELDS] as const).map((name) => markText(column(name)))],
  ', ',
);

/**
 * One page of rows and the number of all of them. The events are first counted by time slot, which reads no more than the filtered columns;
 * then only the slots that hold the page are sorted, so that a deep page costs what the first one costs. The logs are read for the rows of
 * the page. With `counts` segments are counted only once for all searches.
 */
export async function searchRows(scope: SearchScope, counts?: SegmentCounts): Promise<SearchResult> {
  const { page, where } = scope.plan;
  const ranges = where.kind === 'everything' ? await countUnfiltered(scope) : await countMatching(scope, counts);
  const total = ranges.reduce((sum, { events }) => sum + events, 0);
  const located = locatePage(ranges, page.index * page.size, page.size);
  if (located === undefined) {
    return { kind: 'rows', rows: [], total };
  }
  const narrow = await narrowDown(scope, located);
  const slice = { offset: narrow.skip, limit: page.size };
  const rows = await scope.run(rowPageStatement(scope.plan, scope.events(narrow), narrow, slice, SELECTED, duckdbDialect));
  const logs = await readLogs(
    scope,
    rows.map(([, blobPointer]) => blobPointer as bigint),
  );
  return { kind: 'rows', rows: rows.map((row, index) => eventRow(row, logs?.[index] as string)), total };
}

/** The segments that are counted already are not read. */
async function countMatching(scope: SearchScope, counts: SegmentCounts | undefined): Promise<CountedRange[]> {
  const { plan, flushed } = scope;
  const { window } = plan;
  if (counts === undefined) {
    return await countBySlot(scope, window);
  }
  const bySegment = counts.of(plan);
  const [known, unknown] = partition(flushed, (part) => liesWithin(part, window) && bySegment.has(part.id));
  const slots = slotsOf(window, scope.newestMs);
  const statement = fileSlotCountStatement(plan, scope.eventsByFile(unknown), slots, duckdbDialect);
  const counted = unknown.length === 0 && scope.growingSegments.length === 0 ? [] : await scope.run(statement);
  const byFile = Map.groupBy(counted, ([file]) => file);
  for (const part of unknown.filter((one) => liesWithin(one, window))) {
    const inSegment = byFile.get(scope.fileOf(part)) ?? [];
    bySegment.set(
      part.id,
      inSegment.reduce((sum, [, , events]) => sum + Number(events), 0),
    );
  }
  const ranges = known.map((part) => rangeOfPart(part, bySegment.get(part.id) ?? 0)).filter(({ events }) => events > 0);
  return disjointRanges([...ranges, ...counted.map(([, slot, events]) => slotRange(slots, Number(slot), Number(events)))]);
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function rangeOfPart({ minTimestamp, maxTimestamp }: FlushedPart, events: number): CountedRange {
  return { fromMs: minTimestamp, toMs: maxTimestamp + 1, events };
}

/**
 * Without a filter the catalog knows how many events of the zone a segment holds, unless the window cuts through it, and of a cached zone
 * everything is known.
 */
async function countUnfiltered(scope: SearchScope): Promise<CountedRange[]> {
  const { window, zoneId } = scope.plan;
  const [tables, files] = partition(scope.flushed, (part) => 'times' in part);
  const [inside, cut] = partition(files, (part) => liesWithin(part, window));
  const known = [
    ...tables.flatMap((part) => ('times' in part ? rangesOfTimes(part.times, window) : [])),
    ...inside.map((part) => rangeOfPart(part, part.zoneRows.get(zoneId) ?? 0)),
  ];
  const counted = cut.length === 0 && scope.growingSegments.length === 0 ? [] : await countBySlot(scope, window, cut);
  return disjointRanges([...counted, ...known]);
}

async function narrowDown(scope: SearchScope, located: PageLocation): Promise<PageLocation> {
  const { page } = scope.plan;
  const isShort = located.events <= SORTED_AT_ONCE && scope.flushedIn(located).length <= READ_AT_ONCE;
  if (isShort || located.events <= page.size || widthMs(located) === 1) {
    return located;
  }
  const narrower = locatePage(await countBySlot(scope, located), located.skip, page.size);
  const isNarrower = narrower !== undefined && widthMs(narrower) < widthMs(located);
  return isNarrower ? await narrowDown(scope, narrower) : located;
}

function widthMs({ fromMs, toMs }: TimeWindow): number {
  return toMs - fromMs;
}

function eventRow([timestamp, , logId, ...texts]: readonly DuckDBValue[], packedLog: string): EventRow {
  const fields: Record<string, string> = {};
  for (const [place, name] of TEXT_FIELDS.entries()) {
    const value = texts[place];
    if (typeof value === 'string') {
      fields[name] = unmarkText(value);
    }
  }
  return { logId: unmarkText(logId as string), timestamp: Number(timestamp), logJson: unpackLog(packedLog, fields), fields };
}
