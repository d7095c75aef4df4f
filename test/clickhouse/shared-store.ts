import { onTestFinished } from 'vitest';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { onCluster } from '../../sql/clickhouse/cluster.ts';
import type { ClickhouseStore } from '../../store/clickhouse/clickhouse-store.ts';
import { type ClickhouseStoreOptions, type ClickhouseTuning, openClickhouseStore } from '../../store/clickhouse/open-store.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import type { ClickhouseAddress } from '../../store/clickhouse/server/connection.ts';
import { CLUSTER_SETTINGS } from '../../store/clickhouse/server/settings.ts';
import type { FeedPosition } from '../../store/event-store.ts';
import { explored, exportedRows, rowsOf } from '../fixtures/answered-rows.ts';
import { NOW } from '../fixtures/present.ts';
import { RETENTION_MS } from '../fixtures/temporary-store.ts';
import { rowsPlan } from '../store/embedded/stored-events.ts';
import { CLUSTER } from './cluster/cluster-config.ts';
import { breakableNode } from './cluster/nodes.ts';
import { type BreakableServer, breakableServer, clickhouseUrl, clusterUrl, testDatabase } from './engine.ts';

/** A database that several stores share, each of which stands for a process. */
export interface SharedStore {
  readonly address: ClickhouseAddress;
  /** Opens a further store in it, which is closed with the test; `url` is that of another server of it, or several by commas. */
  open(options?: Partial<ClickhouseStoreOptions>, url?: string, tuning?: ClickhouseTuning): Promise<ClickhouseStore>;
  /** Runs a statement beside the stores. */
  run(statement: string): Promise<void>;
  /** The rows of a statement. */
  rows(statement: string): Promise<readonly (readonly unknown[])[]>;
  /** Merges the parts of each day into one. */
  merge(): Promise<void>;
}

/** The names of what a store may be on: one server, or a cluster. */
export const PLACES = ['one server', 'a cluster'] as const;

export type Place = (typeof PLACES)[number];

/** A server of the place that a test may break. */
export function breakableAt(place: Place): Promise<BreakableServer> {
  return place === 'a cluster' ? breakableNode() : breakableServer();
}

/** What stores do by themselves happens when a test asks for it, and nothing of their start after it, however slow the machine is. */
const QUIET = { insertEveryMs: 0, arrivalsEveryMs: 5, sweepEveryMs: null, setupWaitMs: 300_000 };

/** A store of a test on the server of the run, or on a cluster; `server` is the URL of one that may be broken before it. */
export async function sharedStore(
  server?: string,
  place: Place = 'one server',
  unbroken = place === 'a cluster' ? clusterUrl() : clickhouseUrl(),
): Promise<SharedStore> {
  const url = server ?? unbroken;
  const cluster = place === 'a cluster' ? CLUSTER : null;
  const { name } = await testDatabase(url, unbroken, cluster);
  const nodes = onCluster(cluster === null ? null : { name: cluster, database: name });
  const address = { urls: [url], user: 'default', password: '', database: name };
  const settings = cluster === null ? {} : CLUSTER_SETTINGS;
  const client = new ClickhouseClient({ ...address, urls: [unbroken] }, { settings });
  onTestFinished(() => client.close());
  const run = (text: string) => client.run({ text, params: [] });
  return {
    address,
    run,
    rows: async (text) => (await client.read({ text, params: [] })).rows,
    merge: () => run(`OPTIMIZE TABLE ${name}.events_local${nodes} FINAL`),
    open: async (options = {}, other = url, tuning = {}) => {
      const urls = other.split(',');
      const chosen = { address: { ...address, urls }, cluster, retentionMs: RETENTION_MS, now: () => NOW, ...options };
      const store = await openClickhouseStore(chosen, { ...QUIET, ...tuning });
      onTestFinished(() => store.close());
      return store;
    },
  };
}

/** Everything that a store answers of its events, by the ids of these. */
export interface Everything {
  readonly total: number;
  readonly page: readonly string[];
  readonly groups: readonly (readonly [country: string, count: number])[];
  readonly facet: readonly (readonly [value: string, count: number])[];
  readonly histogram: number;
  readonly exported: readonly string[];
  readonly feed: readonly string[];
  readonly zones: readonly (readonly [zone: number, events: number])[];
}

const ALL_PLAN: SearchPlan = rowsPlan({ zones: 'all' });

/** Asks for everything in every way. */
export async function everythingIn(store: ClickhouseStore): Promise<Everything> {
  const groups = await store.search({ ...ALL_PLAN, output: { kind: 'groups', by: ['country'], buckets: 0 } });
  const question: ExplorePlan = {
    search: { ...ALL_PLAN, window: { fromMs: NOW - RETENTION_MS, toMs: NOW + 1 } },
    histogram: { buckets: 3, by: null },
    facets: [{ field: 'country', limit: 10, order: 'count' }],
    selection: null,
  };
  const { page, histogram, facets } = await explored(await store.explore(question));
  return {
    total: page.total,
    page: (await rowsOf(await store.search(ALL_PLAN))).map(({ logId }) => logId),
    groups: groups.kind === 'groups' ? groups.groups.map(({ key, count }) => [key.country ?? '', count] as const) : [],
    facet: facets?.[0]?.values.map(({ value, count }) => [value, count] as const) ?? [],
    histogram: histogram?.series[0]?.total ?? 0,
    exported: (await exportedRows(store, ALL_PLAN)).map(({ logId }) => logId),
    feed: (await readFeed(store)).map(({ logId }) => logId),
    zones: (await store.activeZones(ALL_PLAN.window, 'all')).map(({ zoneId, events }) => [zoneId, events] as const),
  };
}

export interface ReadEvent {
  readonly logId: string;
  readonly sequence: bigint;
  readonly log: unknown;
}

/** Reads the feed to its end, page by page, as clients do by cursors. */
export async function readFeed(store: ClickhouseStore, after?: FeedPosition, limit = 3): Promise<readonly ReadEvent[]> {
  const events: ReadEvent[] = [];
  let position = after ?? (await store.positions.oldest());
  for (let more = true; more; ) {
    const page = await store.readFeed({ zones: 'all', after: position, limit });
    for (const { sequence, bytes, start, end } of page.lines) {
      const { logId, log } = JSON.parse(bytes.toString('utf8', start, end));
      events.push({ logId, sequence, log });
    }
    const decoded = await store.positions.decode(store.positions.encode(page.end));
    position = decoded as FeedPosition;
    more = page.more;
  }
  return events;
}
