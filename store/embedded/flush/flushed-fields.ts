import { join } from 'node:path';
import { type GrowingSource, journalRows } from '../../../sql/events-relation.ts';
import { dropTableStatement } from '../../../sql/journal-statements.ts';
import {
  flushingRows,
  flushingTableStatement,
  logRowsInSegmentsStatement,
  logRowsInTableStatement,
  sliceInOrder,
} from '../../../sql/segment-statements.ts';
import { runForNumbers, runStatement, type StatementRunner } from '../duckdb/duckdb-engine.ts';
import { removeFiles } from '../runtime/published-file.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import { HOUR_MS, planFlush } from '../segment/segment-plan.ts';
import { type RowsOfSlice, writeAsSegments } from './segment-rewrite.ts';

/**
 * Into so many segments the events are sorted straight from the journals, which are read for each of them. A table between takes longer to
 * make.
 */
const FEW_SEGMENTS = 2;

/** The events that are being flushed, in order, where they become more segments. One flush at a time writes segments. */
const FLUSHING_TABLE = 'flushing';

/** Unflushed events whose fields are to be written into segments. */
export interface FieldsOrder {
  readonly segmentsFolder: string;
  /** Begins the names of the segments: no two that succeed have the same. */
  readonly stem: string;
  /** At least one. */
  readonly sources: readonly GrowingSource[];
  /** How many events they have. */
  readonly events: number;
  /** The number of the blob file with their logs. */
  readonly blobFile: number;
  /** Of the first of their logs. */
  readonly firstSequence: bigint;
  /** Events of tables from this sequence on are not meant. */
  readonly endSequence: bigint;
}

export interface FlushedFields {
  readonly segments: readonly UnpublishedSegment[];
  /** Where the events' logs are among those from `firstSequence` on, in the order of the segments' rows. */
  readonly rows: Float64Array;
}

/** Writes the fields of unflushed events, in order, into segments, which do not count yet. When this rejects, nothing of them is left. */
export async function writeFlushedFields(order: FieldsOrder, runner: StatementRunner): Promise<FlushedFields> {
  const { segmentsFolder, stem, sources, blobFile, endSequence } = order;
  const events = journalRows(sources, [], endSequence);
  const rows = async (segments: number): Promise<RowsOfSlice> => {
    if (segments <= FEW_SEGMENTS) {
      return (slice, first) => sliceInOrder(events, slice, blobFile, first);
    }
    await runStatement(runner, flushingTableStatement(FLUSHING_TABLE, events));
    return () => flushingRows(FLUSHING_TABLE, blobFile);
  };
  try {
    const segments = await writeAsSegments({ stem, events, rows, partitionMs: HOUR_MS, plan: planFlush }, runner, segmentsFolder);
    try {
      return { segments, rows: await logRowsOf(segments, order, runner) };
    } catch (error) {
      await removeFiles(segmentsFolder, segments);
      throw error;
    }
  } finally {
    await runStatement(runner, dropTableStatement(FLUSHING_TABLE));
  }
}

async function logRowsOf(
  written: readonly UnpublishedSegment[],
  { segmentsFolder, firstSequence }: FieldsOrder,
  runner: StatementRunner,
): Promise<Float64Array> {
  const statement =
    written.length <= FEW_SEGMENTS
      ? logRowsInSegmentsStatement(
          written.map(({ file }) => join(segmentsFolder, file)),
          firstSequence,
        )
      : logRowsInTableStatement(FLUSHING_TABLE, firstSequence);
  const [rows = new Float64Array()] = await runForNumbers(runner, statement);
  return rows;
}
