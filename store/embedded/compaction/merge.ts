import { segmentRows } from '../../../sql/events-relation.ts';
import { ThreadEnded, WorkerPool } from '../../../work/worker-pool.ts';
import { CommitInDoubtError } from '../../sqlite-transaction.ts';
import { startEngine } from '../duckdb/duckdb-engine.ts';
import { isOutOfMemory, StatementRunner, statementsOnThisThread } from '../duckdb/statement-runner.ts';
import { removeFiles } from '../runtime/file-output.ts';
import { stemOfMerge } from '../segment/file-names.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import { type PartitionZone, planPartition } from '../segment/segment-plan.ts';
import { FEW_EVENTS, refuseLargeVectors, writeAsSegments } from '../segment/segment-writer.ts';
import { type PublishOptions, publishSegments } from '../snapshot/publish-segments.ts';
import { type Merge, totalRows } from './merge-choice.ts';

/** Segments to merge into as few as possible. */
export interface MergeTask {
  readonly segmentsFolder: string;
  /** Begins the names of the new segments. No two tasks that succeed have the same. */
  readonly stem: string;
  /** Where the segments are read. All of them lie within one time partition. */
  readonly paths: readonly string[];
  /** The number of events in them. */
  readonly events: number;
  /** The number of the time partition since the epoch. */
  readonly partition: number;
  readonly partitionMs: number;
}

/** Writes the new segments of a merge. When it rejects, no file is left. */
export type WriteMerge = (task: MergeTask) => Promise<UnpublishedSegment[]>;

/**
 * Replaces segments by merged ones, and returns true. The logs stay where they are. Returns false, and changes nothing, where one of the
 * segments is damaged, or expired meanwhile: the merged ones would have its events again. When this rejects, nothing has changed, unless
 * with CommitInDoubtError.
 */
export async function runMerge({ partition, partitionMs, segments }: Merge, write: WriteMerge, options: PublishOptions): Promise<boolean> {
  const { aliases, checks, versions, now } = options;
  const whole = await checks.check(segments, 'all');
  if (whole.length < segments.length) {
    return false;
  }
  const task: MergeTask = {
    segmentsFolder: aliases.segmentsFolder,
    stem: stemOfMerge(segments[0]?.id ?? 0, now()),
    paths: whole.map((segment) => aliases.segmentAlias(segment)),
    events: totalRows(segments),
    partition,
    partitionMs,
  };
  using _held = versions.acquire(segments);
  const written = await write(task);
  const live = new Set(versions.segments);
  if (!segments.every((segment) => live.has(segment))) {
    await removeFiles(aliases.segmentsFolder, written);
    return false;
  }
  try {
    publishSegments({ written, growingSegments: [], segments }, options);
    return true;
  } catch (error) {
    if (!(error instanceof CommitInDoubtError)) {
      await removeFiles(aliases.segmentsFolder, written);
    }
    throw error;
  }
}

/** The DuckDB of the merge thread. */
interface MergeEngineOptions {
  /** The memory limit of this DuckDB alone. */
  readonly memoryLimitMb: number;
  readonly spillFolder: string;
}

export interface MergeWriterOptions extends MergeEngineOptions {
  /** The store's DuckDB. One merge at a time uses it. */
  readonly runner: StatementRunner;
}

/**
 * Writes the segments of merges. In the background a thread of low priority with a DuckDB of its own writes them, because searches use the
 * threads of the store's DuckDB.
 */
export class MergeWriter {
  readonly #runner: StatementRunner;
  readonly #pool: WorkerPool<MergeTask, UnpublishedSegment[], MergeEngineOptions>;

  constructor({ runner, memoryLimitMb, spillFolder }: MergeWriterOptions) {
    this.#runner = runner;
    this.#pool = new WorkerPool<MergeTask, UnpublishedSegment[], MergeEngineOptions>({
      module: new URL('./merge.ts', import.meta.url),
      data: { memoryLimitMb, spillFolder },
      yields: true,
      inline: {
        fits: ({ events }) => events < FEW_EVENTS,
        run: (task, signal) => writeMerged(task, runner.withSignal(signal)),
      },
    });
  }

  /** Writes one task at a time. When this rejects, no file is left. */
  async writeInBackground(task: MergeTask): Promise<UnpublishedSegment[]> {
    try {
      return await this.#runner.nameFiles(this.#pool.run(task));
    } catch (error) {
      if (!isOutOfMemory(error instanceof ThreadEnded ? error.cause : error)) {
        throw error;
      }
      // The store's DuckDB has more memory.
      return await this.writeAtOnce(task);
    }
  }

  /** Writes on all cores, for a caller that waits. */
  writeAtOnce(task: MergeTask): Promise<UnpublishedSegment[]> {
    return this.#pool.runInline(task);
  }

  /** Makes the task under way reject, and all later ones. */
  giveUp(): void {
    this.#pool.stop();
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

/** The work of the thread of `MergeWriter`. */
export async function startWork(options: MergeEngineOptions, isStopped: () => boolean): Promise<WriteMerge> {
  const engine = await startEngine({ ...options, threads: 1 });
  const runner = new StatementRunner(statementsOnThisThread(await engine.connect(), isStopped));
  return (task) => writeMerged(task, runner);
}

/**
 * Writes the events of segments, in SQL, into segments that are not published yet. When this rejects, no file is left; it does so where
 * rows with long texts would come together (`isOfLargeVectors`).
 */
export async function writeMerged(
  { segmentsFolder, stem, paths, partition, partitionMs }: MergeTask,
  runner: StatementRunner,
): Promise<UnpublishedSegment[]> {
  const plan = (counts: readonly PartitionZone[]) => planPartition(partition, partitionMs, counts);
  const events = segmentRows(paths);
  const source = { stem, events, rowsOf: () => ({ rows: events, inOrder: false }), partitionMs, plan };
  const written = await writeAsSegments(source, runner, segmentsFolder);
  await refuseLargeVectors(written, segmentsFolder, runner);
  return written;
}
