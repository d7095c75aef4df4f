/** Further rejections are counted only. */
export const LONGEST_REJECTED_LIST = 1000;

/** What became of an input. */
export interface IntakeReport {
  /** Events that are durable and searchable, the ones that were there already among them. */
  readonly accepted: number;
  /** Events older than the retention. */
  readonly expired: number;
  /** The first of the events that were rejected, in order; `index` counts events from 0. All of them are dead letters. */
  readonly rejected: readonly { readonly index: number; readonly reason: string }[];
  readonly rejectedCount: number;
}
