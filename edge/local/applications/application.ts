import type { ProgramMinute } from '../program-view.ts';

/** A container application: what is known of it, and what it did. */
export interface Application {
  readonly id: string;
  readonly region: string;
  readonly image: string;
  readonly imageDisplay: string;
  readonly targetLatencyMs: number;
  readonly monthlyCost: number;
  readonly memoryLimitBytes: number;
  /** Minutes that began in `[fromMs, toMs)`, oldest first; those that nothing is known of are left out. */
  minutes(fromMs: number, toMs: number): readonly ProgramMinute[];
}

/** How long ago the history begins, whatever is asked for. */
export const HISTORY_MS = 7 * 86_400_000;
