import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBValue } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { GroupsOutput, SearchPlan } from '../../query/plan/search-plan.ts';
import type { EventGroup, EventRow, ExploreResult, SearchResult } from '../../query/plan/search-result.ts';
import { type SqlFragment, trusted } from '../../sql/statement.ts';
import { rememberFooters, startEngine } from '../../store/embedded/duckdb/duckdb-engine.ts';
import { StatementRunner } from '../../store/embedded/duckdb/statement-runner.ts';
import { isBlobFile } from '../../store/embedded/segment/file-names.ts';
import {
  allGroupsStatement,
  countStatement,
  differenceRank,
  eventsOf,
  facetsStatement,
  groupFactsStatement,
  groupPageStatement,
  histogramStatement,
  rowsStatement,
} from '../floor/floor-statements.ts';
import { type CountedBucket, histogramOf, inOnePiece, setOf } from './clickhouse-explore.ts';
import { eventGroup } from './clickhouse-search.ts';
import type { Engine, EngineOptions } from './engine.ts';

/** Few enough groups for the facts of all of them to be a way to answer. */
const FEW_GROUPS = 2_000;

/**
 * The floor of the race: answers from the segments of a store that is open elsewhere and changes nothing, by statements of
 * `floor-statements.ts` on an engine with the store's settings. Rows have no log. Where there are several ways, the first question tries
 * each, and later ones take the fastest.
 */
export async function openFloor({ dataDir, memoryLimitMb }: EngineOptions): Promise<Engine> {
  const folder = join(dataDir, 'segments');
  const paths = (await readdir(folder)).filter((name) => name.endsWith('.parquet') && !isBlobFile(name)).map((name) => join(folder, name));
  const instance = await startEngine({ memoryLimitMb, spillFolder: join(dataDir, 'floor-spill') });
  const connection = await instance.connect();
  await rememberFooters(connection);
  const asking = { runner: new StatementRunner(connection), events: eventsOf(paths) };
  const fastest = new Map<string, Way>();
  return {
    version: 'duckdb',
    search: async (plan) => {
      const { output } = plan;
      return output.kind === 'rows'
        ? await findRows(plan, asking)
        : await fastestWay(plan, fastest, () => waysToGroup(plan, output, asking));
    },
    explore: (plan) => explore(plan, asking),
    close: async () => {
      connection.closeSync();
      instance.closeSync();
    },
    ingest: () => Promise.reject(new Error('the floor takes in nothing')),
    settle: async () => undefined,
    diskBytes: async () => 0,
    listen: () => Promise.reject(new Error('the floor is asked in its process only')),
  };
}

interface Asking {
  readonly runner: StatementRunner;
  readonly events: SqlFragment;
}

type Way = () => Promise<SearchResult>;

/** Answers in the fastest way, which the first question finds out. The second way is for few groups only. */
async function fastestWay(plan: SearchPlan, fastest: Map<string, Way>, waysOf: () => readonly [Way, Way]): Promise<SearchResult> {
  const name = JSON.stringify(plan, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  const known = fastest.get(name);
  if (known !== undefined) {
    return await known();
  }
  const [usual, forFew] = waysOf();
  const answer = await usual();
  const suiting = answer.total > FEW_GROUPS ? [usual] : [usual, forFew];
  const timed: { readonly way: Way; readonly ms: number }[] = [];
  for (const way of suiting) {
    timed.push({ way, ms: await fastestOf(way) });
  }
  fastest.set(name, timed.reduce((best, one) => (one.ms < best.ms ? one : best)).way);
  return answer;
}

const TRIES = 3;

async function fastestOf(way: Way): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < TRIES; run += 1) {
    const start = performance.now();
    await way();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

async function findRows(plan: SearchPlan, { runner, events }: Asking): Promise<SearchResult> {
  const [[total] = []] = await runner.run(countStatement(plan, events));
  return { kind: 'rows', total: Number(total), rows: inOnePiece(await readRows(plan, { runner, events })) };
}

async function readRows(plan: SearchPlan, { runner, events }: Asking): Promise<EventRow[]> {
  const found = await runner.run(rowsStatement(plan, ['timestamp', 'logId', 'shieldZoneId', ...TEXT_FIELDS], events));
  return found.map(([json]) => {
    const [timestamp, logId = '', zoneId, ...texts] = JSON.parse(String(json)) as string[];
    const present = TEXT_FIELDS.map((name, index) => [name, texts[index] ?? null] as const).filter(([, value]) => value !== null);
    const fields = Object.fromEntries(present) as Record<string, string>;
    return { zoneId: Number(zoneId), logId, timestamp: Number(timestamp), log: NO_LOG, fields };
  });
}

const NO_LOG = Buffer.from('{}');

function waysToGroup(plan: SearchPlan, output: GroupsOutput, { runner, events }: Asking): [Way, Way] {
  const groupOf = (row: readonly DuckDBValue[]): EventGroup => {
    const key = row.slice(0, output.by.length) as string[];
    const [count, first, last, countries, asns, blocked, challenged, logged, features, ruleIds, buckets] = row.slice(output.by.length);
    const parsed = (json: DuckDBValue | undefined, none: string) => JSON.parse(String(json ?? none));
    const actions = { blocked: Number(blocked), challenged: Number(challenged), logged: Number(logged) };
    const [byCountry, byAsn] = [parsed(countries, '{}'), parsed(asns, '{}')];
    const lists = [parsed(features, '[]'), parsed(ruleIds, '[]')];
    return eventGroup(output, key, [
      Number(count),
      Number(first),
      Number(last),
      byCountry,
      byAsn,
      actions,
      ...lists,
      parsed(buckets, '{}'),
    ]);
  };
  const inTwoPhases = async (): Promise<SearchResult> => {
    const page = await runner.run(groupPageStatement(plan, output, events));
    const keys = page.map((row) => row.slice(1, -1) as string[]);
    const facts = keys.length === 0 ? [] : await runner.run(groupFactsStatement(plan, output, keys, events));
    const byKey = new Map(facts.map((row) => [JSON.stringify(row.slice(0, output.by.length)), row]));
    const groups = keys.map((key) => groupOf(byKey.get(JSON.stringify(key)) as DuckDBValue[]));
    return { kind: 'groups', total: Number(page[0]?.[0] ?? 0), groups };
  };
  const allAtOnce = async (): Promise<SearchResult> => {
    const all = await runner.run(allGroupsStatement(plan, output, events));
    const { index, size } = plan.page;
    return { kind: 'groups', total: all.length, groups: all.slice(index * size, (index + 1) * size).map(groupOf) };
  };
  return [inTwoPhases, allAtOnce];
}

async function explore({ search, histogram, facets, selection }: ExplorePlan, { runner, events }: Asking): Promise<ExploreResult> {
  const request = histogram ?? { buckets: 1, by: null };
  const counted = (await runner.run(histogramStatement(search, request, selection, events))) as unknown as CountedBucket[];
  const total = counted.reduce((sum, [, , all]) => sum + all, 0);
  const selected = counted.reduce((sum, [, , , some]) => sum + some, 0);
  const fields = facets.map(({ field }) => field);
  const [{ order, limit } = { order: 'count', limit: 1 }] = facets;
  const rank = order === 'count' ? trusted('0') : differenceRank(selected, total - selected);
  const found = await runner.run(facetsStatement(search, { fields, limit, rank }, selection, events));
  const byField = new Map(found.map(([mask, distinct, first]) => [fields[setOf(Number(mask), fields.length)], { distinct, first }]));
  const rows = search.page.size === 0 ? [] : await readRows(search, { runner, events });
  return {
    page: { kind: 'rows', total, rows: inOnePiece(rows) },
    histogram: histogramOf({ histogram }, counted),
    facets: fields.map((field) => {
      const { distinct, first } = byField.get(field) as { distinct: DuckDBValue; first: DuckDBValue };
      const listed = JSON.parse(String(first)) as { fewer: number; value: string; selected: number }[];
      const values = listed.map((one) => ({
        value: one.value,
        count: -one.fewer,
        selected: selection === null ? null : one.selected,
        spellings: 1,
      }));
      return { field, distinct: Number(distinct), values };
    }),
    selectedTotal: selection === null ? null : selected,
    combinations: null,
  };
}
