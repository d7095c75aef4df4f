import type { GroupDimension } from '../../../query/event-fields.ts';
import { everythingIn, type GroupsOutput, type SearchPlan, type TimeWindow, type ZoneSelection } from '../../../query/plan/search-plan.ts';
import type { EventGroup, GroupsResult, SearchResult } from '../../../query/plan/search-result.ts';
import { MAX_ACTIVE_RULES } from '../../../query/search-limits.ts';
import { totalsStatement } from '../../../sql/clickhouse/explore-statements.ts';
import { fewGroupsStatement, groupFactsStatement, groupKeysStatement } from '../../../sql/clickhouse/group-statements.ts';
import { type RowColumns, rowSliceStatement } from '../../../sql/clickhouse/row-statements.ts';
import { clickhouseDialect } from '../../../sql/dialect.ts';
import { activeRule, activeRulesStatement, activeZone, activeZonesStatement } from '../../../sql/explore-statements.ts';
import { type ActiveRule, type ActiveZone, PIECE_BYTES } from '../../event-store.ts';
import { isTooMuchAtOnce } from '../server/server-error.ts';
import { WITH_TOTAL } from '../server/settings.ts';
import { EventReader, type EventSource } from './event-reader.ts';
import { piecesOf } from './read-rows.ts';

/** Of more groups the facts are worked out only where they are on the page. */
const FEW_GROUPS = { max_rows_to_group_by: 2_000, group_by_overflow_mode: 'throw' } as const;

/** Longer lists of zones are told apart by their first ones alone. */
const NAMED_ZONES = 8;

/** Finds a page, and reads the first piece of its rows. Rejects with the reason of the signal. */
export async function searchEvents(plan: SearchPlan, source: EventSource, signal: AbortSignal | undefined): Promise<SearchResult> {
  const { zones, output } = plan;
  const reader = EventReader.forOne(source, zones, signal);
  if (output.kind === 'rows') {
    return await findRows(plan, reader);
  }
  return (await findFewGroups(plan, output, reader)) ?? (await findPage(plan, await EventReader.forSeveral(source, zones, signal)));
}

/** The same, with what the reader sees. */
export async function findPage(plan: SearchPlan, reader: EventReader): Promise<SearchResult> {
  const { output } = plan;
  if (output.kind === 'rows') {
    return await findRows(plan, reader);
  }
  return (await findFewGroups(plan, output, reader)) ?? (await findGroups(plan, output, reader));
}

async function findRows(plan: SearchPlan, reader: EventReader): Promise<SearchResult> {
  const { index, size } = plan.page;
  if (size === 0) {
    const [total] = await reader.row(totalsStatement(plan, null, null, reader.events));
    return { kind: 'rows', total: Number(total), rows: piecesOf(plan, reader, []) };
  }
  const slice = { skip: index * size, limit: size };
  const { rows, rowsBeforeLimit } = await reader.rows(rowSliceStatement(plan, reader.events, plan.window, slice, PIECE_BYTES), WITH_TOTAL);
  return { kind: 'rows', total: rowsBeforeLimit, rows: piecesOf(plan, reader, rows as unknown as readonly RowColumns[]) };
}

/** By one statement that reads the events once; undefined where there are more groups than it may work out facts for. */
async function findFewGroups(plan: SearchPlan, output: GroupsOutput, reader: EventReader): Promise<GroupsResult | undefined> {
  const grouping = nameOf(plan.zones, output.by);
  if (reader.source.manyGroups.use(grouping)) {
    return undefined;
  }
  try {
    const { rows, rowsBeforeLimit } = await reader.rows(fewGroupsStatement(plan, output, reader.events), { ...WITH_TOTAL, ...FEW_GROUPS });
    return { kind: 'groups', groups: rows.map((row) => eventGroup(output, row)), total: rowsBeforeLimit };
  } catch (error) {
    if (!isTooMuchAtOnce(error)) {
      throw error;
    }
    reader.source.manyGroups.add(grouping, true);
    return undefined;
  }
}

function nameOf(zones: ZoneSelection, by: readonly GroupDimension[]): string {
  return `${zones === 'all' ? zones : zones.slice(0, NAMED_ZONES).join()} ${by.join()}`;
}

async function findGroups(plan: SearchPlan, output: GroupsOutput, reader: EventReader): Promise<GroupsResult> {
  const page = await reader.rows(groupKeysStatement(plan, output, reader.events), WITH_TOTAL);
  const total = page.rowsBeforeLimit;
  const keys = page.rows.map((row) => row.slice(0, -1) as string[]);
  if (keys.length === 0) {
    return { kind: 'groups', groups: [], total };
  }
  const { rows } = await reader.rows(groupFactsStatement(plan, output, { keys, isWhole: keys.length === total }, reader.events));
  const groups = new Map(rows.map((row) => [keyText(row.slice(0, output.by.length)), eventGroup(output, row)]));
  return { kind: 'groups', groups: keys.map((key) => groups.get(keyText(key)) as EventGroup), total };
}

function keyText(key: readonly unknown[]): string {
  return JSON.stringify(key);
}

function eventGroup({ by, buckets }: GroupsOutput, row: readonly unknown[]): EventGroup {
  const key: Partial<Record<GroupDimension, string>> = {};
  for (const [nth, dimension] of by.entries()) {
    key[dimension] = row[nth] as string;
  }
  const [count, firstSeen, lastSeen, country, asn, blocked, challenged, logged, features, ruleIds, sparkline] = row.slice(by.length);
  return {
    key,
    count: Number(count),
    firstSeen: Number(firstSeen),
    lastSeen: Number(lastSeen),
    context: {
      country: country as string,
      asn: asn as string,
      blocked: Number(blocked),
      challenged: Number(challenged),
      logged: Number(logged),
      features: features as string,
      ruleIds: ruleIds as string,
    },
    ...(buckets > 0 ? { sparkline: (sparkline as string[]).map(Number) } : {}),
  };
}

/** The zones that have events in the window, by number of events descending, then by zone. Rejects as {@link searchEvents}. */
export async function activeZonesOf(
  window: TimeWindow,
  zones: ZoneSelection,
  source: EventSource,
  signal: AbortSignal | undefined,
): Promise<readonly ActiveZone[]> {
  const reader = EventReader.forOne(source, zones, signal);
  const { rows } = await reader.rows(activeZonesStatement(everythingIn(window, zones), reader.events, clickhouseDialect));
  return rows.map(activeZone);
}

/** The rules that have events in the window, by number of events descending, then by id. Rejects as {@link searchEvents}. */
export async function activeRulesOf(
  window: TimeWindow,
  zones: ZoneSelection,
  source: EventSource,
  signal: AbortSignal | undefined,
): Promise<readonly ActiveRule[]> {
  const reader = EventReader.forOne(source, zones, signal);
  const statement = activeRulesStatement(everythingIn(window, zones), MAX_ACTIVE_RULES, reader.events, clickhouseDialect);
  return (await reader.rows(statement)).rows.map(activeRule);
}
