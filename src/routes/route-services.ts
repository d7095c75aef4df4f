import type { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import type { BodyMemory } from '../http/body-memory.ts';
import type { Metrics } from '../http/metric-registry.ts';
import type { SearchAnswers } from '../http/search-answers.ts';
import type { ScheduledReads } from '../scheduling/scheduled-reads.ts';

/** What the routes of an app share. */
export interface RouteServices {
  readonly store: EventStore;
  readonly reads: ScheduledReads;
  readonly searches: SearchAnswers;
  readonly turns: MainThreadTurns;
  readonly metrics: Metrics;
  readonly mapping: MappingThreads;
  readonly bodies: BodyMemory;
  /** Unix ms UTC. */
  readonly now: () => number;
  /** Events older than this, in milliseconds, are counted and not stored. */
  readonly retentionMs: number;
  /** How long an answer of many events may take, and how long its client may take no byte of it, in milliseconds. */
  readonly exportDeadlineMs: number;
  readonly exportIdleMs: number;
}
