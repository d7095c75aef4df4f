/** The limits of the live tail. Those of its conditions on texts are those of a search. */

/** Limits of what matching costs, in characters that it looks through. A character takes some nanoseconds at worst. */
export const TAIL_WORK = {
  /** A tail leaves out an event that may cost more. */
  perEvent: 1024 * 1024,
  /** For all tails together, in a second. Each tail has an equal share. */
  perSecond: 64 * 1024 * 1024,
  /** An idle tail saves up the share of at most so many seconds. */
  burstSeconds: 2,
  /** The conditions of a tail may look through each column of an event at most so often. */
  scans: 100,
} as const;

/** Limits that the program may be started with others of. */
export interface TailLimits {
  /** How often a client gets a heartbeat. */
  readonly heartbeatMs: number;
  /** Further clients are refused. */
  readonly maxWatchers: number;
  /** Unread bytes that are kept for one client. One with more gets no events until it has read them. */
  readonly maxBufferedBytes: number;
  /** The characters that matching may look through in a second, for all clients together. */
  readonly workPerSecond: number;
}

export const TAIL_LIMITS: TailLimits = {
  heartbeatMs: 15_000,
  maxWatchers: 64,
  maxBufferedBytes: 1024 * 1024,
  workPerSecond: TAIL_WORK.perSecond,
};

/** A client that has read nothing between so many heartbeats is cut off: another client could have its slot, and it can resume. */
export const MAX_UNREAD_HEARTBEATS = 4;
