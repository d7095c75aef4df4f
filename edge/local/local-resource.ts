import type { DatabaseSync } from 'node:sqlite';
import type { FastifyInstance } from 'fastify';
import type { GuardianCounter } from '../operations/shield-zones.ts';

/** The counters of API Guardian for a shield zone and a day, from the stored events. */
export interface GuardianDay {
  /** UTC, `2026-01-31`. */
  readonly day: string;
  readonly counts: Readonly<Record<GuardianCounter, number>>;
}

/** The past 28 days of a shield zone, oldest first, including today. A day without events has zeros. */
export type GuardianCounts = (zoneId: number) => Promise<readonly GuardianDay[]>;

/** One minute of the program. */
export interface ProgramMinute {
  /** The minute's start, Unix ms UTC. */
  readonly startMs: number;
  /** Per cent of one core. */
  readonly cpuPercent: number;
  /** Resident bytes at the minute's end. */
  readonly memoryBytes: number;
  readonly requests: number;
  /** Mean time to an answer; null where there was none. */
  readonly latencyMs: number | null;
  /** Bytes of answers sent. */
  readonly sentBytes: number;
  /** The file system of DATA_DIR at the minute's end. */
  readonly volumeUsedBytes: number;
  readonly volumeCapacityBytes: number;
}

/** The measurements of the running program. */
export interface ProgramView {
  /** Unix ms UTC. */
  readonly startedAtMs: number;
  /** The machine's memory. */
  readonly memoryLimitBytes: number;
  /** Finished minutes, oldest first, and then the current one. */
  minutes(): readonly ProgramMinute[];
}

/** The answer of a shield operation that succeeded. `note` tells what the caller would not expect. */
export function shieldSuccess<T>(data: T, note: string | null = null): { readonly error: object; readonly data: T } {
  return { error: { success: true, message: note, errorKey: null }, data };
}

export interface EdgeLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Arguments that every resource of the local control plane gets. */
export interface LocalContext {
  /** The control plane's state; write inside `inPlaneTransaction`. */
  readonly db: DatabaseSync;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: EdgeLogger;
  readonly program: ProgramView;
  readonly guardianCounts: GuardianCounts;
  readonly dataDir: string;
}

/**
 * A kind of thing that the local control plane keeps. Its routes are those of the table of operations: input is checked by their rows
 * before a handler runs, and errors are answered in the row's shape.
 */
export interface LocalResource {
  readonly name: string;
  /** SQL statements. The first n of them make version n of the tables. A released one is never changed; new ones are added. */
  readonly migrations: readonly string[];
  /** Fills new tables, in the transaction that made them. */
  seed?(context: LocalContext): void;
  routes(app: FastifyInstance, context: LocalContext): void;
}
