import type { StoreLogger } from '../event-store.ts';
import type { GroupByCacheLimits } from './cache/group-by-cache.ts';
import type { MaxKept } from './search/group-search.ts';
import type { ValueCountLimits } from './search/value-counts.ts';

/** The settings of an operator. */
export interface StoreOptions {
  readonly dataDir: string;
  /** The memory for events and answers, which `store/memory-shares.ts` divides. */
  readonly memoryLimitMb: number;
  readonly retentionMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly logger?: StoreLogger;
  /**
   * Is called where the store cannot tell what is on disk. It changes nothing more, and the process has to end: the next one finds out.
   * Without it the store refuses all changes.
   */
  readonly onFatal?: (error: Error) => void;
  /** The dead letters may take this much. Default: 1 GiB. */
  readonly deadLetterQuotaBytes?: number;
  /** Dead letters are removed after this time. Default: 7 days. */
  readonly deadLetterRetentionMs?: number;
}

/** Changes that tests and measurements make to reach every way through the store. */
export interface StoreTuning {
  /** Whether what searches found in segments is cached. Default: true. */
  readonly cachesCounts?: boolean;
  /** Limits of the group-by cache. Default: those that suit the memory limit. */
  readonly groupByCacheLimits?: GroupByCacheLimits;
  /** When group searches keep the matching events in memory. */
  readonly maxKept?: MaxKept;
  /** How many values of a field questions of the explorer keep. */
  readonly valueCountLimits?: ValueCountLimits;
  /** The dedup index holds this many events. Default: what suits the memory limit. */
  readonly maxDedupEvents?: number;
  /** How long the retention waits before it drops most of the events by itself. Default: an hour. */
  readonly retentionHoldMs?: number;
  /** How long a failed append tells `reasonsNotReady` how the next one ends, in milliseconds. Default: 30 seconds. */
  readonly failureHoldMs?: number;
  /** Time between two runs of the background jobs. Default: five seconds. */
  readonly backgroundJobsEveryMs?: number;
}
