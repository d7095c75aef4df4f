import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { ExploreResult, SearchResult } from '../../query/plan/search-result.ts';

export const ENGINE_NAMES = ['shieldlog', 'clickhouse'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

/** What a process can open: a participant, or the floor that our searches are held to. */
export type HostedName = EngineName | 'floor';

export interface EngineOptions {
  /** A folder that only this engine uses. It finds the data of an earlier process there. */
  readonly dataDir: string;
  readonly memoryLimitMb: number;
  /** Whether the engine may cache results of searches. Default: false. */
  readonly remembers?: boolean;
}

export interface EventSource {
  /** NDJSON. */
  readonly file: string;
  /** Null: at full speed. */
  readonly eventsPerSecond: number | null;
}

/** A participant of the race, set up as its experts would. */
export interface Engine {
  /** The version of the database. */
  readonly version: string;
  /** Resolves when all events of the file are stored and searchable. */
  ingest(source: EventSource): Promise<void>;
  /** Resolves when nothing is left to be merged or compacted. */
  settle(): Promise<void>;
  search(plan: SearchPlan): Promise<SearchResult>;
  explore(plan: ExplorePlan): Promise<ExploreResult>;
  diskBytes(): Promise<number>;
  /** Serves operation 1 over HTTP on a free loopback port; resolves with its address. */
  listen(): Promise<string>;
  close(): Promise<void>;
}
