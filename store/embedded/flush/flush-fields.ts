import { join } from 'node:path';
import { HOUR_MS } from '../../../query/durations.ts';
import { rowsOfFiles } from '../../../sql/columns.ts';
import { type GrowingSource, journalRows } from '../../../sql/events-relation.ts';
import { logRowsStatement, type SegmentSlice, sliceInOrder } from '../../../sql/segment-statements.ts';
import { WorkerPool } from '../../../work/worker-pool.ts';
import { isOutOfMemory, type StatementRunner } from '../duckdb/statement-runner.ts';
import { removeFiles } from '../runtime/file-output.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import { planFlush } from '../segment/segment-plan.ts';
import { FEW_EVENTS, isOfLargeVectors, refuseLargeVectors, writeAsSegments } from '../segment/segment-writer.ts';

/** Unflushed events whose fields a flush writes into segments. */
export interface FieldsTask {
  readonly segmentsFolder: string;
  /** Begins the names of the segments. No two tasks that succeed have the same. */
  readonly stem: string;
  /** The sources of the events, at least one. */
  readonly sources: readonly GrowingSource[];
  /** The number of events in the sources. */
  readonly events: number;
  /** The number of the blob file with the logs of the events. */
  readonly blobFile: number;
  /** The sequence of the first log. */
  readonly firstSequence: bigint;
  /** The end of the sequences, exclusive. Tables may have later events. */
  readonly endSequence: bigint;
  /** The sequences of the events, counted from that of the first log, where the sources are journals that have others, too. */
  readonly sequences?: Float64Array;
}

export interface FlushedFields {
  readonly segments: readonly UnpublishedSegment[];
  /** For each row of the segments, in order, the index of its log among those from `firstSequence` on. */
  readonly rows: Float64Array;
}

/** The files of the journals that the events of a task came in, in their order; undefined where one of them is not whole. */
export type FindJournals = () => Promise<readonly string[] | undefined>;

/**
 * Writes the fields of unflushed events into segments, one task at a time. When a task rejects, no file of it is left. A WebAssembly
 * kernel on a thread of its own writes the events of many journals: DuckDB takes more than twice the CPU time. DuckDB writes few events,
 * and those of a growing table, which is in its memory, unless rows with long texts would come together or do not fit into its memory: the
 * kernel alone ends row groups early, and sorts what it has in its own memory.
 */
export class FieldsWriter {
  readonly #runner: StatementRunner;
  readonly #pool: WorkerPool<FieldsTask, FlushedFields>;

  /** The runner is for what the thread does not write. */
  constructor(runner: StatementRunner) {
    this.#runner = runner;
    this.#pool = new WorkerPool<FieldsTask, FlushedFields>({
      module: new URL('./flush-journals.ts', import.meta.url),
      yields: true,
      inline: {
        fits: ({ events, sources, sequences }) =>
          sequences === undefined && (events < FEW_EVENTS || sources.some((source) => 'table' in source)),
        run: (task) => this.#writeHere(task),
      },
    });
  }

  async run(task: FieldsTask, findJournals: FindJournals): Promise<FlushedFields> {
    try {
      return await this.#pool.run(task);
    } catch (error) {
      if (!isOfLargeVectors(error) && !isOutOfMemory(error)) {
        throw error;
      }
    }
    const journals = await findJournals();
    if (journals === undefined) {
      return await writeFlushedFields(task, this.#runner);
    }
    const events = journalRows(task.sources, [], task.endSequence);
    const [sequences = new Float64Array()] = await this.#runner.runForNumbers(logRowsStatement(events, task.firstSequence));
    return await this.#pool.run({ ...task, sources: journals.map((path) => ({ path })), sequences });
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #writeHere(task: FieldsTask): Promise<FlushedFields> {
    const written = await writeFlushedFields(task, this.#runner);
    await refuseLargeVectors(written.segments, task.segmentsFolder, this.#runner);
    return written;
  }
}

/** Writes the fields of unflushed events, in SQL, into segments that are not published yet. When this rejects, no file is left. */
export async function writeFlushedFields(task: FieldsTask, runner: StatementRunner): Promise<FlushedFields> {
  const { segmentsFolder, stem, sources, blobFile, firstSequence, endSequence } = task;
  const events = journalRows(sources, [], endSequence);
  const rowsOf = (slice: SegmentSlice, first: number) => sliceInOrder(events, slice, blobFile, first);
  const segments = await writeAsSegments({ stem, events, rowsOf, partitionMs: HOUR_MS, plan: planFlush }, runner, segmentsFolder);
  try {
    const written = rowsOfFiles(segments.map(({ file }) => join(segmentsFolder, file)));
    const [rows = new Float64Array()] = await runner.runForNumbers(logRowsStatement(written, firstSequence));
    return { segments, rows };
  } catch (error) {
    await removeFiles(segmentsFolder, segments);
    throw error;
  }
}
