/** Further rejections are counted only, unless they are not kept. */
export const LONGEST_REJECTED_LIST = 1000;

/** An event that was rejected, and where the input has it. */
export interface RejectedEvent {
  readonly index: number;
  readonly line: number;
  readonly reason: string;
  /** Only where it is not kept as a dead letter, because those that are there use up their quota. */
  readonly kept?: false;
}

/** What became of an input. */
export interface IntakeReport {
  /** Events that are durable and searchable, the ones that were there already among them. */
  readonly accepted: number;
  /**
   * How many of the accepted events were stored already, by an earlier request or earlier in this one; null where the store finds them
   * later.
   */
  readonly duplicates: number | null;
  /** Events older than the retention. */
  readonly expired: number;
  /**
   * The first of the events that were rejected, and all that are not kept, in order; `index` counts events from 0, `line` those of the
   * decompressed input from 1. The others are dead letters.
   */
  readonly rejected: readonly RejectedEvent[];
  readonly rejectedCount: number;
}
