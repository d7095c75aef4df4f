import type { SourceOffset } from '../../event-store.ts';

/** One batch on disk. `number` counts up by one from journal to journal, for ever. */
export interface Journal {
  readonly number: number;
  /** Of the file with its events, where it has one. */
  readonly path: string;
  readonly firstSequence: bigint;
  readonly eventCount: number;
  readonly expiredCount: number;
  readonly sourceOffsets: readonly SourceOffset[];
  readonly sizeBytes: number;
  /** Unix milliseconds: when the batch was taken in. */
  readonly ingestedAtMs: number;
  /** False where none of its events is new: then a row of the catalog stands for it. */
  readonly hasFiles: boolean;
}
