/** Which times an event may have. */
export interface EventRules {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
}

/** A longer one is a dead letter. */
export const LARGEST_EVENT_BYTES = 1024 * 1024;

/** How far ahead of the clock here an event may be. */
export const CLOCK_TOLERANCE_MS = 10 * 60_000;
