import { type Dimension, TEXT_FIELDS } from '../../query/event-fields.ts';
import type { GroupsOutput, SearchPlan } from '../../query/plan/search-plan.ts';
import type { EventGroup, EventRow, SearchResult } from '../../query/plan/search-result.ts';
import { inOnePiece } from './clickhouse-explore.ts';
import { type ClickhouseTable, countStatement, groupDetailStatement, groupPageStatement, rowsStatement } from './clickhouse-statements.ts';

type Column = string | number;

/** The part of JSONCompact that is read. */
export interface ClickhouseAnswer {
  readonly data: readonly (readonly unknown[])[];
  readonly rows_before_limit_at_least?: number;
}

export interface ClickhouseSearching {
  readonly ask: (statement: string) => Promise<ClickhouseAnswer>;
  readonly table: ClickhouseTable;
}

/** Searches as a ClickHouse expert would, with the statements of `clickhouse-statements.ts`. */
export async function searchClickhouse(plan: SearchPlan, searching: ClickhouseSearching): Promise<SearchResult> {
  const { output } = plan;
  if (output.kind === 'groups') {
    return await searchGroups(plan, output, searching);
  }
  const { data } = await searching.ask(countStatement(plan, searching.table));
  return { kind: 'rows', total: Number(data[0]?.[0]), rows: inOnePiece(await findRows(plan, searching)) };
}

/** The rows of a page. */
export async function findRows(plan: SearchPlan, { ask, table }: ClickhouseSearching): Promise<readonly EventRow[]> {
  const selected = ['shieldZoneId', 'logId', 'timestamp', 'log', ...TEXT_FIELDS.map(table.text)];
  return (await ask(rowsStatement(plan, selected, table))).data.map((row) => eventRow(row as readonly Column[]));
}

async function searchGroups(plan: SearchPlan, output: GroupsOutput, { ask, table }: ClickhouseSearching): Promise<SearchResult> {
  const page = await ask(groupPageStatement(plan, output, table));
  const keys = page.data.map((row) => row.slice(0, output.by.length) as string[]);
  const total = page.rows_before_limit_at_least ?? 0;
  if (keys.length === 0) {
    return { kind: 'groups', total, groups: [] };
  }
  const details = await ask(groupDetailStatement(plan, output, keys, table));
  const byKey = new Map(details.data.map((row) => [JSON.stringify(row.slice(0, output.by.length)), row.slice(output.by.length)]));
  return { kind: 'groups', total, groups: keys.map((key) => eventGroup(output, key, byKey.get(JSON.stringify(key)) ?? [])) };
}

/** A row of the answer. A text that the event lacks is empty in its column. */
function eventRow([zoneId, logId, timestamp, log, ...texts]: readonly Column[]) {
  const present = TEXT_FIELDS.map((name, index) => [name, texts[index]] as const).filter(([, value]) => value !== '');
  return {
    zoneId: Number(zoneId),
    logId: String(logId),
    timestamp: Number(timestamp),
    log: Buffer.from(String(log)),
    fields: Object.fromEntries(present) as Record<string, string>,
  };
}

type Counts = Readonly<Record<string, number>>;

/** A group of the answer; `detail` are its facts in the order of `groupDetailStatement`. */
export function eventGroup({ by, buckets }: GroupsOutput, key: readonly string[], detail: readonly unknown[]): EventGroup {
  const [count, firstSeen, lastSeen, countries, asns, actions, features, ruleIds, bucketCounts] = detail as [
    number,
    number,
    number,
    Counts,
    Counts,
    Counts,
    string[],
    string[],
    Counts,
  ];
  const sparkline = Array.from({ length: buckets }, (_, bucket) => bucketCounts[bucket] ?? 0);
  return {
    key: Object.fromEntries(by.map((dimension, index) => [dimension, key[index] ?? ''])) as Partial<Record<Dimension, string>>,
    count,
    firstSeen,
    lastSeen,
    context: {
      country: mostFrequent(countries),
      asn: mostFrequent(asns),
      blocked: actions['blocked'] ?? 0,
      challenged: actions['challenged'] ?? 0,
      logged: actions['logged'] ?? 0,
      features: features.toSorted().join(','),
      ruleIds: ruleIds.toSorted().join(','),
    },
    ...(buckets > 0 ? { sparkline } : {}),
  };
}

/** The most frequent value; the smallest of equally frequent ones. */
function mostFrequent(counts: Counts): string {
  const [first] = Object.entries(counts).toSorted(([a, counted], [b, others]) => others - counted || (a < b ? -1 : 1));
  return first?.[0] ?? '';
}
