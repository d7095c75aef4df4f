import type { DuckDBValue } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../query/event-fields.ts';
import type { TimeWindow } from '../query/search-plan.ts';
import type { EventRow, SearchResult } from '../query/search-result.ts';
import { column } from '../sql/columns.ts';
import { duckdbDialect } from '../sql/duckdb-dialect.ts';
import { joinSql, type SqlFragment } from '../sql/fragment.ts';
import { markText, unmarkText } from '../sql/marked-text.ts';
import { rowPageStatement, slotCountStatement } from '../sql/row-statements.ts';
import type { SearchScope } from './search-scope.ts';
import type { Segment } from './segment.ts';
import { divideIntoSlots, locatePage, type PageLocation, type SlotCount, slotOf, type TimeSlots } from './time-slots.ts';

const SLOTS = 1024;

/** A stretch of time with no more events than this is sorted as it is; a longer one is divided again. */
const SORTED_AT_ONCE = 20_000;

const SELECTED = joinSql(
  [column('timestamp'), column('log'), ...(['logId', ...TEXT_FIELDS] as const).map((name) => markText(column(name)))],
  ', ',
);

/**
 * One page of rows and the number of all of them. The events are first counted by time slot, which reads no more than the filtered columns;
 * then only the slots that hold the page are sorted, so that a deep page costs what the first one costs.
 */
export async function searchRows(scope: SearchScope): Promise<SearchResult> {
  const { page, window, where } = scope.plan;
  const slots = divideIntoSlots(window, SLOTS);
  const counts = where.kind === 'everything' ? await countUnfiltered(scope, slots) : await countSlots(scope, slots, scope.events());
  const total = counts.reduce((sum, { events }) => sum + events, 0);
  const located = locatePage(slots, counts, page.index * page.size, page.size);
  if (located === undefined) {
    return { kind: 'rows', rows: [], total };
  }
  const { window: narrow, skip } = await narrowDown(scope, located);
  const slice = { offset: skip, limit: page.size };
  const rows = await scope.run(rowPageStatement(scope.plan, scope.events(narrow), narrow, slice, SELECTED, duckdbDialect));
  return { kind: 'rows', rows: rows.map(eventRow), total };
}

async function countSlots(scope: SearchScope, slots: TimeSlots, events: SqlFragment): Promise<SlotCount[]> {
  const counted = await scope.run(slotCountStatement(scope.plan, events, slots.window, slots.slotMs, duckdbDialect));
  return counted.map(([slot, matching]) => ({ first: Number(slot), last: Number(slot), events: Number(matching) }));
}

/** Without a filter the catalog knows how many events of the zone a segment holds, unless the window cuts through it. */
async function countUnfiltered(scope: SearchScope, slots: TimeSlots): Promise<SlotCount[]> {
  const inside = scope.segments.filter((segment) => lies(segment, slots.window));
  const cut = scope.segments.filter((segment) => !lies(segment, slots.window));
  const counted = await countSlots(scope, slots, scope.events(slots.window, cut));
  const known = inside.map((segment) => ({
    first: slotOf(slots, segment.minTimestamp),
    last: slotOf(slots, segment.maxTimestamp),
    events: segment.zoneRows.get(scope.plan.zoneId) ?? 0,
  }));
  return disjoint([...counted, ...known]);
}

function lies(segment: Segment, window: TimeWindow): boolean {
  return segment.minTimestamp >= window.fromMs && segment.maxTimestamp < window.toMs;
}

/** Puts stretches that share a slot together, newest first. */
function disjoint(counts: readonly SlotCount[]): SlotCount[] {
  const merged: SlotCount[] = [];
  for (const next of [...counts].sort((a, b) => b.last - a.last)) {
    const previous = merged.at(-1);
    if (previous !== undefined && next.last >= previous.first) {
      merged[merged.length - 1] = {
        first: Math.min(previous.first, next.first),
        last: previous.last,
        events: previous.events + next.events,
      };
    } else {
      merged.push(next);
    }
  }
  return merged;
}

async function narrowDown(scope: SearchScope, located: PageLocation): Promise<PageLocation> {
  const slots = divideIntoSlots(located.window, SLOTS);
  if (located.events <= SORTED_AT_ONCE || slots.count <= 1) {
    return located;
  }
  const counts = await countSlots(scope, slots, scope.events(located.window));
  const narrower = locatePage(slots, counts, located.skip, scope.plan.page.size);
  const isNarrower = narrower !== undefined && widthMs(narrower.window) < widthMs(located.window);
  return isNarrower ? await narrowDown(scope, narrower) : located;
}

function widthMs({ fromMs, toMs }: TimeWindow): number {
  return toMs - fromMs;
}

function eventRow([timestamp, log, logId, ...texts]: readonly DuckDBValue[]): EventRow {
  const fields: Record<string, string> = {};
  for (const [place, name] of TEXT_FIELDS.entries()) {
    const value = texts[place];
    if (typeof value === 'string') {
      fields[name] = unmarkText(value);
    }
  }
  return { logId: unmarkText(logId as string), timestamp: Number(timestamp), logJson: log as string, fields };
}
