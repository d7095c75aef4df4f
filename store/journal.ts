import type { SourcePosition } from './event-store.ts';

/** One batch on disk. `number` counts up by one from journal to journal, for ever. */
export interface Journal {
  readonly number: number;
  /** Of the file with its events, where it has one. */
  readonly path: string;
  readonly firstSequence: bigint;
  readonly eventCount: number;
  readonly expiredCount: number;
  readonly positions: readonly SourcePosition[];
  readonly sizeBytes: number;
  /** Unix milliseconds: when the batch was taken in. */
  readonly ingestedAtMs: number;
  /** True where none of its events is new. It has no files then, and a row of the catalog instead. */
  readonly isEmpty: boolean;
}
