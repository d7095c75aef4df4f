import type { SearchPlan } from '../../query/search-plan.ts';
import type { SearchResult } from '../../query/search-result.ts';

export const ENGINE_NAMES = ['shieldlog', 'clickhouse'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

export interface EngineOptions {
  /** A folder of the engine's own; what an earlier process left there is there again. */
  readonly dataDir: string;
  readonly memoryLimitMb: number;
  /** Whether the engine may remember results of earlier searches. Default: false. */
  readonly remembers?: boolean;
}

export interface EventSource {
  /** NDJSON. */
  readonly file: string;
  /** As fast as it goes if null. */
  readonly eventsPerSecond: number | null;
}

/** What takes part in the race: each in the way its experts would set it up. */
export interface Engine {
  /** Of the database itself. */
  readonly version: string;
  /** Resolves when all events of the file are stored and searchable. */
  ingest(source: EventSource): Promise<void>;
  /** Resolves when nothing is left to be merged or compacted. */
  settle(): Promise<void>;
  search(plan: SearchPlan): Promise<SearchResult>;
  /** Resolves when nothing is done any more that an answered search set going. */
  rest(): Promise<void>;
  diskBytes(): Promise<number>;
  /** Serves operation 1 over HTTP on a free loopback port; resolves with its address. */
  listen(): Promise<string>;
  close(): Promise<void>;
}
