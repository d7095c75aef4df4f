import { join } from 'node:path';
import { VECTOR_COLUMN_BYTES } from '../../../sql/segment-layout.ts';
import {
  largestVectorStatement,
  partitionZoneCountStatement,
  type SegmentRelation,
  type SegmentSlice,
  writeSegmentStatement,
} from '../../../sql/segment-statements.ts';
import type { SqlFragment } from '../../../sql/statement.ts';
import { syncFolder } from '../../data-folder.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import { removeFiles } from '../runtime/file-output.ts';
import { segmentFileName } from './file-names.ts';
import { NewFile } from './new-file.ts';
import type { UnpublishedSegment } from './segment.ts';
import { blocksOf, packBlocks } from './segment-blocks.ts';
import { type PartitionZone, partitionZone, type SegmentPlan } from './segment-plan.ts';

/** Fewer events are written on the calling thread: another thread takes longer to start. */
export const FEW_EVENTS = 20_000;

/**
 * New segments of a folder, which count once the catalog has them. Where they are disposed before they are finished, no file is left.
 * Their checksums are of what is read back.
 */
export class NewSegments implements AsyncDisposable {
  readonly #folder: string;
  readonly #stem: string;
  readonly #written: UnpublishedSegment[] = [];
  #rows = 0;
  #areFinished = false;

  /** `stem` begins the names of the files. No two that are finished have the same. */
  constructor(folder: string, stem: string) {
    this.#folder = folder;
    this.#stem = stem;
  }

  /** The rows of the segments that are written. */
  get rows(): number {
    return this.#rows;
  }

  /** The file of the next segment. */
  begin(): NewFile {
    return new NewFile(this.#folder, this.#nextName);
  }

  /** Keeps the file of a planned segment, which has been written. */
  async add({ content }: SegmentPlan, file: NewFile): Promise<void> {
    const blocks = packBlocks(blocksOf(file.temporaryPath));
    const bytes = await file.keep();
    this.#written.push({ ...content, file: this.#nextName, bytes, blocks });
    this.#rows += content.rows;
  }

  async finish(): Promise<UnpublishedSegment[]> {
    await syncFolder(this.#folder);
    this.#areFinished = true;
    return this.#written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#areFinished) {
      await removeFiles(this.#folder, this.#written);
    }
  }

  get #nextName(): string {
    return segmentFileName(this.#stem, this.#written.length);
  }
}

/** Events that DuckDB writes into segments. */
export interface SegmentSource {
  /** Begins the names of the new files. No two sources that succeed have the same. */
  readonly stem: string;
  readonly events: SqlFragment;
  /** At least the events of a slice, as rows of a segment. `first` counts the rows of the slices before it. */
  readonly rowsOf: (slice: SegmentSlice, first: number) => SegmentRelation;
  /** The length of the time partitions whose events `plan` gets counted. */
  readonly partitionMs: number;
  readonly plan: (counts: readonly PartitionZone[]) => SegmentPlan[];
}

/** Writes the events, in SQL, into segments that are not published yet. When this rejects, no file is left. */
export async function writeAsSegments(
  { stem, events, rowsOf, partitionMs, plan }: SegmentSource,
  runner: StatementRunner,
  segmentsFolder: string,
): Promise<UnpublishedSegment[]> {
  const counts = (await runner.run(partitionZoneCountStatement(events, partitionMs))).map(partitionZone);
  await using segments = new NewSegments(segmentsFolder, stem);
  for (const planned of plan(counts)) {
    await using file = segments.begin();
    const { slice } = planned;
    await runner.run(writeSegmentStatement(rowsOf(slice, segments.rows), slice, file.temporaryPath));
    await segments.add(planned, file);
  }
  return await segments.finish();
}

/** Stands in the message, because the class of an error does not come out of a thread. */
const LARGE_VECTOR = 'have too many bytes of a column in a vector';

/**
 * Rejects where rows that are read together have too many bytes of a column in segments that DuckDB wrote, which ends no row group before
 * it has as many rows as a vector. Their files are removed then.
 */
export async function refuseLargeVectors(
  written: readonly UnpublishedSegment[],
  segmentsFolder: string,
  runner: StatementRunner,
): Promise<void> {
  try {
    for (const { file } of written) {
      const [[bytes] = []] = await runner.runForNumbers(largestVectorStatement(join(segmentsFolder, file)));
      if ((bytes ?? 0) > VECTOR_COLUMN_BYTES) {
        throw new Error(`the segment ${file} would ${LARGE_VECTOR}: ${bytes} instead of at most ${VECTOR_COLUMN_BYTES}`);
      }
    }
  } catch (error) {
    await removeFiles(segmentsFolder, written);
    throw error;
  }
}

/** Whether an error is that of `refuseLargeVectors`, also from a thread. */
export function isOfLargeVectors(error: unknown): boolean {
  return error instanceof Error && error.message.includes(LARGE_VECTOR);
}
